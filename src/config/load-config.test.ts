// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from './config.js';
import { ConfigFault } from './config-fault.js';
import type { Environment } from './load-config.js';
import { loadConfig } from './load-config.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-config-'));
const file = join(directory, 'lodestone.yaml');
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => rmSync(file, { force: true }));

function load(yaml: string, env: Environment = {}): Config {
  writeFileSync(file, yaml);
  return loadConfig({ env, cwd: directory });
}

function faultsOf(yaml: string, env: Environment = {}): readonly string[] {
  try {
    load(yaml, env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigFault);
    for (const fault of (error as ConfigFault).faults) expect((error as Error).message).toContain(fault);
    return (error as ConfigFault).faults;
  }
  return [];
}

describe('defaults', () => {
  it('needs no file and no variable', () => {
    expect(loadConfig({ env: {}, cwd: directory })).toMatchObject({
      file: null,
      server: {
        host: '127.0.0.1',
        port: 8787,
        baseUrl: null,
        dashboardUrl: null,
        docsUrl: null,
        trustedProxies: [],
        clientIpHeader: 'x-forwarded-for',
        countryHeader: null,
        countryDatabase: null,
        drainMs: 30_000,
        bodyMemoryMaxBytes: 536_870_912,
      },
      storage: { dataDir: join(directory, 'data'), databaseUrl: null, redisUrl: null },
      workers: 1,
      demo: true,
      registration: 'open',
      welcomeCreditPico: 1_000_000_000_000n,
      adminToken: null,
      catalogue: ['builtin'],
      limits: { ipRequestsPerMinute: 1200, keyRequestsPerMinute: 600, keyTokensPerMinute: 1_000_000 },
      timeouts: {
        firstByteStreamingMs: 30_000,
        firstByteStreamingAfterTimeoutMs: 15_000,
        firstByteNonStreamingMs: 150_000,
        streamIdleMs: 90_000,
        overallMs: 300_000,
      },
      breaker: { failures: 5, windowMs: 30_000, cooldownMs: 30_000 },
      territories: { sanctioned: 'builtin' },
      providers: {},
      payments: { processor: 'none' },
      notices: { lowBalancePico: 1_000_000_000_000n, webhook: null, intervalMs: 30_000 },
    });
  });

  it.each(['', '# only a comment\n', 'server:\nlimits: null\nworkers: null\nproviders:\n  acme: null\n'])(
    'gives an empty file, and null in any field, the defaults: %j',
    (yaml) => {
      const { file: found, providers, ...rest } = load(yaml);
      const {
        file: none,
        providers: empty,
        ...defaults
      } = loadConfig({ env: {}, cwd: join(directory, '..', 'absent') });
      expect({ found, none, empty }).toEqual({ found: file, none: null, empty: {} });
      expect(providers.acme ?? {}).toEqual({});
      expect({ ...rest, storage: null }).toEqual({ ...defaults, storage: null });
    },
  );
});

describe('the fields', () => {
  it('reads every field, with paths relative to the file', () => {
    const config = load(
      [
        'server: { host: 0.0.0.0, port: 0, base_url: "https://ai.example/", trusted_proxies: [10.0.0.0/8, "fd00::/8", 192.0.2.1], country_header: CF-IPCountry, country_database: geo/own.mmdb, drain: 250ms, body_memory_max: 64MiB }',
        'storage: { data_dir: ../state, database_url: "postgres://u:p@db/x", redis_url: "redis://r:6379" }',
        'workers: 4',
        'admin_token: a-token-of-24-characters',
        'catalogue: [builtin, mine.yaml, /etc/lodestone/more.yaml]',
        'timeouts: { overall: 5m0s, stream_idle: 1m30s }',
        'breaker: { failures: 2, window: 1s, cooldown: 1h }',
        'territories: { sanctioned: [cu, UA-43] }',
        'payments: { processor: stripe, secret_key: sk_1, webhook_secret: whsec_1 }',
      ].join('\n'),
    );
    expect(config.server).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      baseUrl: 'https://ai.example',
      trustedProxies: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32'],
      countryHeader: 'cf-ipcountry',
      countryDatabase: join(directory, 'geo/own.mmdb'),
      drainMs: 250,
      bodyMemoryMaxBytes: 67_108_864,
    });
    expect(config.storage.dataDir).toBe(join(directory, '..', 'state'));
    expect(config.catalogue).toEqual(['builtin', join(directory, 'mine.yaml'), '/etc/lodestone/more.yaml']);
    expect(config.timeouts).toMatchObject({ overallMs: 300_000, streamIdleMs: 90_000 });
    expect(config.breaker).toEqual({ failures: 2, windowMs: 1000, cooldownMs: 3_600_000 });
    expect(config.territories.sanctioned).toEqual(['CU', 'UA-43']);
    expect(config.payments.processor).toBe('stripe');
    expect(config.demo, 'off with a database_url').toBe(false);
  });

  it('lets HOST, PORT and the LODESTONE_ variables win over the file, and ignores empty ones', () => {
    const config = load(
      'server: { host: ::1, port: 1 }\nadmin_token: one-token-of-the-file-itself\nstorage: { redis_url: "redis://a" }',
      {
        HOST: '127.0.0.2',
        PORT: '9000',
        LODESTONE_DATABASE_URL: 'postgresql:///x?host=/run',
        LODESTONE_REDIS_URL: '',
        LODESTONE_ADMIN_TOKEN: 'another-of-the-environment\n',
      },
    );
    expect(config.server).toMatchObject({ host: '127.0.0.2', port: 9000 });
    expect(config.storage).toMatchObject({ databaseUrl: 'postgresql:///x?host=/run', redisUrl: 'redis://a' });
    expect(config.adminToken).toBe('another-of-the-environment');
  });

  it('finds its file by argument, then LODESTONE_CONFIG, then ./lodestone.yaml', () => {
    writeFileSync(file, 'workers: 1');
    const other = join(directory, 'other.yaml');
    writeFileSync(other, 'demo: false');
    expect(loadConfig({ env: {}, cwd: directory }).file).toBe(file);
    expect(loadConfig({ env: { LODESTONE_CONFIG: 'other.yaml' }, cwd: directory }).file).toBe(other);
    expect(loadConfig({ file, env: { LODESTONE_CONFIG: 'other.yaml' }, cwd: directory }).file).toBe(file);
    expect(() => loadConfig({ file: 'none.yaml', env: {}, cwd: directory })).toThrow(
      'none.yaml:1:1: file: cannot be read (ENOENT)',
    );
  });
});

describe('${NAME} is read from the environment', () => {
  it('in plain, quoted and flow values, also where YAML would take the brace for a mapping', () => {
    const { providers } = load(
      'providers:\n  a: { api_key: ${KEY} }\n  b:\n    api_key: "x-${KEY}"\n    base_url: http://${NAME}/v1/',
      { KEY: 'k1', NAME: 'b.example' },
    );
    expect({ ...providers }).toEqual({ a: { apiKey: 'k1' }, b: { apiKey: 'x-k1', baseUrl: 'http://b.example/v1' } });
  });

  it('keeps whatever characters the variable has, and never parses them as YAML', () => {
    const config = load('providers:\n  a: { api_key: ${KEY} }\nserver: { port: ${P} }\ndemo: ${D}', {
      KEY: "k-{:}#'",
      P: '81',
      D: 'false',
    });
    expect(config.providers.a).toEqual({ apiKey: "k-{:}#'" });
    expect(config.server.port).toBe(81);
    expect(config.demo).toBe(false);
  });

  it('means "not configured" for an absent or empty provider credential', () => {
    const { providers } = load(
      'providers:\n  a: { api_key: ${NONE} }\n  b: { api_key: ${EMPTY} }\n  c: { api_key: null }',
      {
        EMPTY: '',
      },
    );
    expect({ ...providers }).toEqual({ a: { apiKey: null }, b: { apiKey: null }, c: {} });
  });

  it('is a fault that names the variable anywhere else', () => {
    expect(faultsOf('admin_token: ${NONE}\nproviders:\n  a:\n    base_url: http://${GONE}/')).toEqual([
      'lodestone.yaml:1:14: admin_token: found ${NONE}, expected a variable that the environment has',
      'lodestone.yaml:4:15: providers.a.base_url: found ${GONE}, expected a variable that the environment has',
    ]);
  });
});

describe('faults know their line and name their field', () => {
  it.each([
    [
      'unknown field',
      'demo: true\nserver:\n  prot: 1',
      ':3:3: server.prot: unknown field, expected one of: host, port, base_url',
    ],
    [
      'unknown top field, null too',
      'workers: 1\nfoo: null',
      ':2:1: foo: unknown field, expected one of: server, storage',
    ],
    ['wrong type', 'server: [1]', ':1:1: server: found a list, expected a mapping with the fields host'],
    ['file is no mapping', '- a', ':1:1: file: found a list, expected a mapping with the fields server'],
    ['port', 'server:\n  port: 65536', ':2:9: server.port: found 65536, expected an integer from 0 to 65535'],
    ['port text', 'server: { port: http }', ':1:17: server.port: found "http", expected an integer'],
    ['fraction', 'workers: 1.5', ':1:10: workers: found 1.5, expected an integer'],
    [
      'duration zero',
      'timeouts:\n  overall: 0s',
      ':2:12: timeouts.overall: found "0s", expected a duration above zero',
    ],
    ['duration number', 'timeouts:\n\n  overall: 30', ':3:12: timeouts.overall: found 30, expected a duration'],
    ['size text', 'server: { body_memory_max: 512MB }', 'found "512MB", expected a size above zero, such as 512MiB'],
    ['size zero', 'server: { body_memory_max: 0 }', 'found 0, expected a size above zero'],
    ['duration text', 'server: { drain: soon }', 'server.drain: found "soon", expected a duration'],
    [
      'negative limit',
      'limits: { key_tokens_per_minute: -1 }',
      'limits.key_tokens_per_minute: found -1, expected an integer of at least 1',
    ],
    [
      'cidr',
      'server:\n  trusted_proxies:\n    - 10.0.0.0/8\n    - 10.0.0.0/33',
      ':4:7: server.trusted_proxies[1]: found "10.0.0.0/33"',
    ],
    ['cidr host', 'server: { trusted_proxies: [proxy.example] }', 'server.trusted_proxies[0]: found "proxy.example"'],
    [
      'address',
      'server: { base_url: ftp://x }',
      'server.base_url: found "ftp://x", expected an http:// or https:// address',
    ],
    ['address with credentials', 'server: { base_url: "https://u:p@x" }', 'server.base_url: found'],
    [
      'territory',
      'territories: { sanctioned: [Cuba] }',
      'territories.sanctioned[0]: found "Cuba", expected an ISO 3166',
    ],
    [
      'territories',
      'territories: { sanctioned: none }',
      'territories.sanctioned: found "none", expected a list of ISO 3166 codes, or `builtin`',
    ],
    ['demo', 'demo: maybe', 'demo: found "maybe", expected true or false'],
    ['registration', 'registration: maybe', 'registration: found "maybe", expected one of: open, closed'],
    [
      'welcome_credit_usd',
      'welcome_credit_usd: "-1"',
      'welcome_credit_usd: found "-1", expected an amount of USD as text, such as "1.00"',
    ],
    [
      'provider id',
      'providers:\n  Acme: { api_key: x }',
      ':2:3: providers.Acme: found a mapping, expected a provider id',
    ],
    [
      'provider id auto',
      'providers: { auto: { api_key: x } }',
      'providers.auto: found a mapping, expected a provider id',
    ],
    [
      'provider field',
      'providers:\n  acme:\n    apikey: x',
      ':3:5: providers.acme.apikey: unknown field, expected one of: api_key, base_url',
    ],
    ['catalogue', 'catalogue: builtin', 'catalogue: found "builtin", expected a list of catalogue files'],
    ['workers without redis', 'demo: true\nworkers: 2', ':2:10: workers: found 2, expected 1, or a storage.redis_url'],
    ['syntax', 'server:\n  port: [1', 'lodestone.yaml:'],
    ['duplicate key', 'demo: true\ndemo: false', ':2:1: YAML: Map keys must be unique'],
    ['tab', 'server:\n\tport: 1', ':2:1: YAML:'],
    ['alias without anchor', 'server: *nothing', 'YAML: Unresolved alias'],
    ['prototype', '__proto__: { a: 1 }', '__proto__: unknown field'],
  ])('%s', (_, yaml, expected) => {
    const faults = faultsOf(yaml);
    expect(faults.join('\n')).toContain(expected);
    for (const fault of faults) expect(fault).toMatch(/^lodestone\.yaml:\d+:\d+: [^ ]+: /);
  });

  it('lists every fault of file and environment at once', () => {
    const faults = faultsOf('wrokers: 1\nserver: { port: -1 }\nlimits: { ip_requests_per_minute: x }', {
      PORT: 'eighty',
    });
    expect(faults).toHaveLength(4);
    expect(faults.at(-1)).toBe('environment: PORT: found "eighty", expected an integer from 0 to 65535');
  });

  it('accepts more workers with a shared Redis, also one named by the environment', () =>
    expect(load('workers: 2', { LODESTONE_REDIS_URL: 'redis://r' }).workers).toBe(2));

  it('never quotes a secret', () => {
    const faults = faultsOf('admin_token: "hunter2 hunter2"\nstorage: { database_url: "mysql://u:hunter2@db" }', {
      LODESTONE_REDIS_URL: 'http://hunter2',
      LODESTONE_ADMIN_TOKEN: 'hunter2 ä',
    });
    expect([faults.length, faults.join().includes('hunter2')]).toEqual([4, false]);
    expect(faultsOf('server: { base_url: ${ADDRESS} }', { ADDRESS: 'hunter2' }).join()).toContain('found "${ADDRESS}"');
  });

  it('quotes no more than a line of a long value', () =>
    expect(faultsOf(`demo: ${'x'.repeat(5000)}`)[0]!.length).toBeLessThan(200));
});
