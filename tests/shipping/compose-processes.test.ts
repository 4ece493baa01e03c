/** The services of compose.yaml as plain processes: their command lines, environment, volumes and health checks. There is no container engine. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { dockerStages, execForm, only, root, type Yaml, yamlOf } from './shipped-files.js';

const { services }: Yaml = yamlOf('compose.yaml')[0];
const folder = mkdtempSync(join(tmpdir(), 'lodestone-compose-'));
const isHere = (program: string) => spawnSync(program, ['--version']).status === 0;
const running: ChildProcess[] = [];
let port: number;
beforeAll(async () => {
  port = await freePort();
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function start(command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said.text += text));
  return { child, said };
}

async function until(isTrue: () => boolean, what: () => string): Promise<void> {
  for (const end = Date.now() + 60_000; !isTrue(); await pause(100)) if (Date.now() > end) throw new Error(what());
}

/** `["CMD", program, …]` with the program and the port of this machine. */
const healthOf = (name: string, program: string, ...more: string[]) => {
  const [kind, , ...args] = services[name].healthcheck.test as string[];
  expect(kind).toBe('CMD');
  return () => spawnSync(program, [...more, ...args], { encoding: 'utf8' });
};

describe('the services as processes', () => {
  // Valkey's programs are Redis' with the same options.
  it.skipIf(!isHere('redis-server') || !isHere('redis-cli'))(
    'valkey starts with its command line, keeps nothing, evicts, and is healthy',
    async () => {
      const [program, ...args] = services.valkey.command as string[];
      expect(program).toBe('valkey-server');
      const { said } = start('redis-server', [...args, '--port', String(port), '--bind', '127.0.0.1']);
      const check = healthOf('valkey', 'redis-cli', '-p', String(port));
      await until(
        () => check().status === 0,
        () => said.text,
      );
      expect(check().stdout).toBe('PONG\n');
      const config = (name: string) =>
        execFileSync('redis-cli', ['-p', String(port), 'config', 'get', name], { encoding: 'utf8' }).split('\n')[1];
      expect(['maxmemory-policy', 'maxmemory', 'save', 'appendonly'].map(config)).toEqual([
        ...['allkeys-lru', String(256 * 1024 ** 2), '', 'no'],
      ]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.skipIf(!isHere('pg_isready'))(
    'the health check of PostgreSQL tells a server that answers from one that is away',
    () => {
      const { host, port: at } = inject('postgres');
      expect(healthOf('postgres', 'pg_isready', '--host', host, '--port', String(at))().status).toBe(0);
      expect(healthOf('postgres', 'pg_isready', '--host', host, '--port', '1')().status).not.toBe(0);
    },
  );

  describe.skipIf(!isHere('redis-server'))('two replicas of the gateway on one volume of journals', () => {
    let database: FreshDatabase;
    const image = dockerStages()[2]!;
    const [, ...health] = execForm(only(image, 'HEALTHCHECK').replace(/^.*?CMD /s, ''));
    const data = join(folder, 'journal');
    beforeAll(async () => {
      database = await freshDatabase();
      mkdirSync(data);
    });
    afterAll(() => database?.drop());

    function startReplica(at: number) {
      const own: Record<string, string> = {
        ...{ POSTGRES_PASSWORD: 'p', LODESTONE_ADMIN_TOKEN: 'an-admin-token-of-the-operator' },
      };
      const fill = (_: string, name: string, _sign: string, otherwise?: string) => own[name] || otherwise || '';
      const variable = /\$\{(\w+)(?::([-?])([^}]*))?\}/g;
      const given = Object.entries<string>(services.lodestone.environment).map(([name, text]) => [
        ...[name, text.replace(variable, fill)],
      ]);
      const [config] = (services.lodestone.volumes as string[]).map((volume) => volume.split(':')[0]!);
      const env = {
        ...{ PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...Object.fromEntries(given) },
        ...{ LODESTONE_DATABASE_URL: database.databaseUrl, LODESTONE_REDIS_URL: `redis://127.0.0.1:${port}` },
        ...{ HOST: '127.0.0.1', PORT: String(at), LODESTONE_CONFIG: join(folder, 'lodestone.yaml') },
      };
      // The configuration is mounted beside the data, whose folder is relative to it.
      execFileSync('cp', [join(root, config!), join(folder, 'lodestone.yaml')]);
      return start(process.execPath, [join(root, 'bin/lodestone'), 'serve'], env);
    }

    it('become healthy by the check of the image, share the volume, and end with 0 at SIGTERM', async () => {
      const ports = [await freePort(), await freePort()];
      const replicas = ports.map(startReplica);
      for (const [index, at] of ports.entries()) {
        const check = () => spawnSync(process.execPath, health, { env: { PATH: process.env.PATH, PORT: String(at) } });
        await until(
          () => check().status === 0,
          () => replicas[index]!.said.text,
        );
        await expect.poll(async () => (await fetch(`http://127.0.0.1:${at}/readyz`)).status).toBe(200);
      }
      const journals = readdirSync(join(folder, 'data')).filter((name) => name.startsWith('journal'));
      expect(journals.length).toBeGreaterThanOrEqual(2);
      for (const { child } of replicas) child.kill('SIGTERM');
      for (const { child, said } of replicas) {
        if (child.exitCode === null) await once(child, 'exit');
        expect([child.exitCode, said.text.includes('Error:')]).toEqual([0, false]);
      }
      const away = spawnSync(process.execPath, health, { env: { PATH: process.env.PATH, PORT: String(ports[0]) } });
      expect(away.status, 'the check fails without a gateway').not.toBe(0);
    });
  });
});
