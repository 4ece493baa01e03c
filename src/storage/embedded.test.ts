import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiled } from '../../tests/support/compiled.js';
import { silentLogger } from '../base/logger.js';
import { type Embedded, startEmbedded } from './embedded.js';
import { locateBinaries } from './embedded-binaries.js';

const logger = silentLogger;

describe('the embedded PostgreSQL', () => {
  let dir: string;
  let running: Embedded[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lodestone-embedded-'));
    chmodSync(dir, 0o755);
  });
  afterEach(async () => {
    for (const embedded of running) await embedded.stop();
    running = [];
    rmSync(dir, { recursive: true, force: true });
  });

  async function start(dataDir = join(dir, 'data')): Promise<Embedded> {
    const embedded = await startEmbedded({ dataDir, logger });
    running.push(embedded);
    return embedded;
  }

  it('serves on a unix socket only, with fsync on, and keeps its data over a restart', async () => {
    const first = await start();
    expect(await ask(first, `select current_setting('listen_addresses') as v`)).toBe('');
    expect(await ask(first, `select current_setting('fsync') as v`)).toBe('on');
    await ask(first, 'create table kept as select 1 as v');
    await first.stop();
    running = [];
    expect(existsSync(join(dir, 'data/postgres/postmaster.pid'))).toBe(false);
    expect(await ask(await start(), 'select v from kept')).toBe(1);
  });

  it('refuses a second start on the same data directory, naming it and the pid that holds it', async () => {
    await start();
    const refused = startEmbedded({ dataDir: join(dir, 'data'), logger });
    await expect(refused).rejects.toThrow(`The data directory ${join(dir, 'data')} is in use`);
    await expect(refused).rejects.toThrow(`pid ${process.pid}`);
  });

  it('starts in a directory whose path is too long for a socket, in a private short one', async () => {
    const embedded = await start(join(dir, 'a'.repeat(60), 'b'.repeat(60)));
    expect(embedded.connection.host.length).toBeLessThan(80);
    expect(statSync(embedded.connection.host).mode & 0o077).toBe(0);
    expect(await ask(embedded, 'select 1 as v')).toBe(1);
    await embedded.stop();
    running = [];
    expect(existsSync(embedded.connection.host)).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)('starts for root below a directory that only root may enter', async () => {
    mkdirSync(join(dir, 'private'), { mode: 0o700 });
    const embedded = await start(join(dir, 'private/data'));
    expect(await ask(embedded, 'select 1 as v')).toBe(1);
  });

  it('starts again after the server was killed, and tells so', async () => {
    const embedded = await start();
    const told = new Promise<void>((resolve) => embedded.onExit(resolve));
    await ask(embedded, 'create table kept as select 7 as v');
    process.kill(serverPid(join(dir, 'data')), 'SIGKILL');
    await told;
    await vi.waitFor(async () => expect(await ask(embedded, 'select v from kept')).toBe(7), { timeout: 10_000 });
  });

  it('names the platform and the setting to use where there is no package for it', () => {
    expect(() => locateBinaries({}, 'sunos-sparc')).toThrow(/sunos-sparc.*storage\.database_url/);
  });

  describe('under a process of its own', () => {
    let code: string;
    let child: ChildProcess | undefined;
    beforeAll(() => {
      code = compiled('storage/embedded', 'base/logger');
      writeFileSync(
        join(code, 'child.mjs'),
        `import { startEmbedded } from './storage/embedded.js';
         import { silentLogger } from './base/logger.js';
         await startEmbedded({ dataDir: process.argv[2], logger: silentLogger });
         console.log('started');
         setInterval(() => {}, 1000);`,
      );
    });
    afterAll(() => rmSync(code, { recursive: true, force: true }));
    afterEach(() => child?.kill('SIGKILL'));

    async function startChild(dataDir: string): Promise<ChildProcess> {
      child = spawn(process.execPath, [join(code, 'child.mjs'), dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout!, 'data');
      return child;
    }

    it('stops cleanly when its parent is killed, and the next start waits for that', async () => {
      const dataDir = join(dir, 'data');
      const parent = await startChild(dataDir);
      const server = serverPid(dataDir);
      parent.kill('SIGKILL');
      await once(parent, 'exit');
      const embedded = await start(dataDir);
      expect(serverPid(dataDir)).not.toBe(server);
      expect(() => process.kill(server, 0)).toThrow('ESRCH');
      expect(await ask(embedded, 'select 1 as v')).toBe(1);
    });

    it('is refused while the other process lives', async () => {
      const parent = await startChild(join(dir, 'data'));
      await expect(start()).rejects.toThrow(`pid ${parent.pid}`);
    });
  });
});

function serverPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
}

async function ask(embedded: Embedded, query: string): Promise<unknown> {
  const client = new pg.Client({ ...embedded.connection, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(query)).rows[0]?.v;
  } finally {
    await client.end();
  }
}
