// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../../../tests/support/self-signed.js';
import { main } from '../cli.js';
import { findingsOf } from '../commands/doctor.js';
import { type Host, thisHost } from './host.js';

const catalogue = (baseUrl: string) => `providers:
  - { id: acme, base_url: "${baseUrl}", api_key_env: ACME_KEY }
  - { id: placed, base_url: "https://\${PLACED_NAME}.example/v1", api_key_env: PLACED_KEY }
models:
  - { creator: acme, model: one, routes: [{ provider: acme, locode: global, price: { input: 1, output: 1 } }] }
`;

/** Nothing is wrong with it. Files are real. */
const healthy: Host = {
  ...{ nodeVersion: '24.1.0', memoryBytes: () => 8e9, openFilesMax: () => 65_536, freeBytes: () => 1e11 },
  ...{ fileAt: thisHost.fileAt, mayWrite: () => true, listen: async () => null, resolve: async () => null },
  ...{ connect: async () => null, reach: async () => ({ trouble: null, skewMs: 40 }), isGateway: async () => false },
  postgres: async () => ({ trouble: null, version: 18, mayCreate: true, isStandby: false, owner: null }),
  redis: async () => ({ trouble: null, version: 8, isReplica: false, evicts: 'allkeys-lru', forbids: null }),
};

let cwd: string;
const servers: { close(): unknown }[] = [];
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-doctor-'));
  mkdirSync(join(cwd, 'data'), { mode: 0o700 });
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));
afterAll(() => {
  for (const server of servers) server.close();
});

const stores = 'storage: { database_url: "postgres://u:p@db.example/l", redis_url: "redis://redis.example" }\n';

interface Planted {
  yaml?: string;
  env?: Record<string, string>;
  host?: Partial<Host>;
  baseUrl?: string;
}

async function findings({ yaml = '', env = {}, host = {}, baseUrl = 'https://api.acme.example/v1' }: Planted) {
  writeFileSync(join(cwd, 'catalogue.yaml'), catalogue(baseUrl));
  writeFileSync(join(cwd, 'lodestone.yaml'), `catalogue: [catalogue.yaml]\n${yaml}`, { mode: 0o644 });
  const io = { out: () => {}, err: () => {}, env: { ACME_KEY: 'sk-acme', ...env }, cwd };
  return findingsOf(undefined, io, { ...healthy, ...host });
}

const fault = (code: string) => async () => code;
const postgres = (more: object) => ({
  postgres: async () => ({ trouble: null, version: 18, mayCreate: true, isStandby: false, owner: null, ...more }),
});
const redis = (more: object) => ({
  redis: async () => ({ trouble: null, version: 8, isReplica: false, evicts: 'allkeys-lru', forbids: null, ...more }),
});
const reach = (trouble: string | null, skewMs: number | null = null) => ({ reach: async () => ({ trouble, skewMs }) });

describe('a healthy host', () => {
  it.each<[string, Planted]>([
    ['with the embedded store', {}],
    ['with PostgreSQL and Redis', { yaml: stores }],
    ['with a secret of the environment', { yaml: 'providers: { acme: { api_key: "${ACME_KEY}" } }\n' }],
    ['with a running gateway on its port', { host: { listen: fault('EADDRINUSE'), isGateway: async () => true } }],
    ['behind a proxy', { env: { HTTPS_PROXY: 'http://proxy.example:3128' }, host: { resolve: fault('ENOTFOUND') } }],
    ['with a provider that tells no time', { host: reach(null) }],
  ])('has no finding: %s', async (_, planted) => {
    expect(await findings(planted)).toEqual([]);
  });
});

describe('each planted fault is found, alone, and its remedy is named', () => {
  it.each<[string, Planted, string, string]>([
    ['a field that does not exist', { yaml: 'sever: {}\n' }, 'unknown field', 'Correct the configuration'],
    ['a wrong value', { yaml: 'server: { port: x }\n' }, 'lodestone.yaml:2:17', 'Correct the configuration'],
    ['an absent variable', { yaml: 'admin_token: "${NONE}"\n' }, '${NONE}', 'Correct the configuration'],
    ['a secret file that is not there', { yaml: 'admin_token_file: none\n' }, 'ENOENT', 'Correct the configuration'],
    ['workers without Redis', { yaml: 'workers: 2\n' }, 'storage.redis_url', 'Correct the configuration'],
    ['a faulty catalogue', { baseUrl: 'ftp://x' }, 'catalogue.yaml:2', 'Correct the catalogue'],
    ['an old Node', { host: { nodeVersion: '20.18.3' } }, 'Node is 20.18.3', 'Install Node 20.19'],
    ['little memory', { host: { memoryBytes: () => 2 ** 28 } }, '256 MiB of memory', '512 MiB'],
    ['few open files', { host: { openFilesMax: () => 1024 } }, '1024 files', 'LimitNOFILE'],
    ['a full disk', { host: { freeBytes: () => 1e8 } }, '95 MiB left', 'Free some'],
    ['a data directory of another user', { host: { mayWrite: () => false } }, 'cannot be written', 'chown'],
    ['a data directory that is a file', { yaml: 'storage: { data_dir: catalogue.yaml }\n' }, 'is a file', 'data_dir'],
    [
      'a secret in a readable file',
      { yaml: 'admin_token: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\n' },
      'read the secret',
      'chmod 600',
    ],
    ['a port in use', { host: { listen: fault('EADDRINUSE') } }, '127.0.0.1:8787', 'server.port'],
    ['a port for root alone', { host: { listen: fault('EACCES') } }, 'EACCES', '1024 or more'],
    ['an address of another machine', { host: { listen: fault('EADDRNOTAVAIL') } }, 'EADDRNOTAVAIL', 'server.host'],
    ['no provider', { env: { ACME_KEY: '' } }, 'only the sandbox', 'OPENAI_API_KEY'],
    ['a key without an address', { env: { PLACED_KEY: 'sk' } }, 'placed has a key and no address', 'PLACED_NAME'],
    ['a name that does not resolve', { host: { resolve: fault('ENOTFOUND') } }, 'api.acme.example', 'name service'],
    ['a provider behind a firewall', { host: reach('ETIMEDOUT') }, 'cannot be reached (ETIMEDOUT)', 'firewall'],
    [
      'a certificate that is not trusted',
      { host: reach('SELF_SIGNED_CERT_IN_CHAIN') },
      'TLS with',
      'NODE_EXTRA_CA_CERTS',
    ],
    ['a clock that is behind', { host: reach(null, 200_000) }, '200 s behind', 'timedatectl'],
    ['a clock that is ahead', { host: reach(null, -90_000) }, '90 s ahead', 'timedatectl'],
    [
      'a proxy that is away',
      { env: { HTTPS_PROXY: 'http://proxy.example:1' }, host: { connect: fault('ECONNREFUSED') } },
      'HTTPS_PROXY cannot be reached',
      'NO_PROXY',
    ],
    [
      'a proxy that is no address',
      { env: { HTTPS_PROXY: 'socks5://x' } },
      'environment: HTTPS_PROXY',
      'http:// or https://',
    ],
    ['PostgreSQL away', { yaml: stores, host: postgres({ trouble: 'ECONNREFUSED' }) }, 'db.example', 'Start it'],
    ['a wrong password of PostgreSQL', { yaml: stores, host: postgres({ trouble: '28P01' }) }, '28P01', 'password'],
    [
      'a database that is not there',
      { yaml: stores, host: postgres({ trouble: '3D000' }) },
      '3D000',
      'Make the database',
    ],
    ['an old PostgreSQL', { yaml: stores, host: postgres({ version: 12 }) }, 'version 12', 'Upgrade'],
    [
      'a user without rights',
      { yaml: stores, host: postgres({ mayCreate: false }) },
      'may not make tables',
      'grant create',
    ],
    ['a standby of PostgreSQL', { yaml: stores, host: postgres({ isStandby: true }) }, 'is a standby', 'primary'],
    ['tables of another user', { yaml: stores, host: postgres({ owner: 'o' }) }, 'belong to o', 'Connect as o'],
    ['a Redis user without rights', { yaml: stores, host: redis({ forbids: 'NOPERM' }) }, 'NOPERM', 'ACL SETUSER'],
    ['Redis away', { yaml: stores, host: redis({ trouble: 'ECONNREFUSED' }) }, 'redis.example', 'Start it'],
    [
      'Redis with a password',
      { yaml: stores, host: redis({ trouble: 'NOAUTH Authentication required.' }) },
      'NOAUTH',
      'password',
    ],
    ['an old Redis', { yaml: stores, host: redis({ version: 6 }) }, 'version 6', 'Upgrade'],
    ['a replica of Redis', { yaml: stores, host: redis({ isReplica: true }) }, 'is a replica', 'primary'],
    [
      'a Redis that refuses when full',
      { yaml: stores, host: redis({ evicts: 'noeviction' }) },
      'noeviction',
      'allkeys-lru',
    ],
  ])('%s', async (_, planted, what, remedy) => {
    const found = await findings(planted);
    expect(found).toHaveLength(1);
    expect(found[0]!.what).toContain(what);
    expect(found[0]!.remedy).toContain(remedy);
  });

  it('files of the data directory that others can read, and a directory that is open', async () => {
    writeFileSync(join(cwd, 'data/admin-token'), 'x');
    chmodSync(join(cwd, 'data/admin-token'), 0o644);
    chmodSync(join(cwd, 'data'), 0o755);
    expect((await findings({})).map(({ remedy }) => remedy)).toEqual([
      `Run "chmod 700 ${join(cwd, 'data')}".`,
      `Run "chmod 600 ${join(cwd, 'data/admin-token')}".`,
    ]);
    chmodSync(join(cwd, 'data'), 0o1777);
    rmSync(join(cwd, 'data/admin-token'));
    expect(await findings({})).toMatchObject([{ what: expect.stringContaining('shared by all users') }]);
  });
});

describe('this machine', () => {
  const listening = async (server: Server): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  it('is looked at in earnest: a port, a name, a certificate, a clock, a server that is away', async () => {
    const plain = await listening(createServer());
    expect(await thisHost.listen('127.0.0.1', plain)).toBe('EADDRINUSE');
    expect(await thisHost.listen('203.0.113.7', 0)).toBe('EADDRNOTAVAIL');
    expect(await thisHost.connect('127.0.0.1', plain)).toBeNull();
    expect(await thisHost.resolve('localhost')).toBeNull();
    const tls = await listening(createTls({ ...selfSigned(['localhost']) }));
    expect((await thisHost.reach(`https://127.0.0.1:${tls}/v1`)).trouble).toMatch(/SELF_SIGNED|CERT/);
    const late = createPlain((_, answer) => {
      answer.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString()).end();
    });
    const { trouble, skewMs } = await thisHost.reach(`http://127.0.0.1:${await listening(late)}/v1`);
    expect([trouble, Math.round(skewMs! / 60_000)]).toEqual([null, 60]);
    expect(await thisHost.isGateway(`http://127.0.0.1:${plain}1`)).toBe(false);
    expect((await thisHost.postgres('postgres://u:p@127.0.0.1:1/x')).trouble).toBe('ECONNREFUSED');
    expect((await thisHost.redis('redis://127.0.0.1:1')).trouble).not.toBeNull();
    expect(thisHost.fileAt(cwd)).toMatchObject({ isDirectory: true });
    expect(thisHost.freeBytes(cwd)).toBeGreaterThan(0);
    expect(thisHost.openFilesMax()).toBeGreaterThan(0);
  });

  it('a fault is printed with its remedy, and the exit code is 1', async () => {
    writeFileSync(join(cwd, 'lodestone.yaml'), 'sever: {}\n');
    const out: string[] = [];
    const io = { out: (line: string) => void out.push(line), err: () => {}, env: {}, cwd };
    expect(await main(['doctor'], io)).toBe(1);
    expect(out.join()).toMatch(
      /lodestone.yaml:1:1: sever: unknown field.*\n {2}Correct the configuration at this place\./,
    );
  });
});
