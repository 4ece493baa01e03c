import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { compiled } from '../../../tests/support/compiled.js';
import { placeCluster } from '../../../tests/support/postgres.js';
import { silentLogger } from '../../base/logger.js';
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

  /** Where the making of the cluster is not what is tested. */
  function startOnReadyCluster(dataDir = join(dir, 'data')): Promise<Embedded> {
    placeCluster(inject('newCluster'), dataDir);
    return start(dataDir);
  }

  it('starts on a copy that was brought back with the owner and the modes of whoever copied it', async () => {
    const first = await startOnReadyCluster();
    await ask(first, 'create table kept as select 1 as v');
    await first.stop();
    running = [];
    expect(spawnSync('cp', ['-r', join(dir, 'data'), join(dir, 'copy')]).status).toBe(0);
    chmodSync(join(dir, 'copy/postgres'), 0o755);
    expect(await ask(await start(join(dir, 'copy')), 'select v from kept')).toBe(1);
  });

  it.runIf(process.getuid?.() === 0)('says whose a copy is that it may not use, and what to do', async () => {
    placeCluster(inject('newCluster'), join(dir, 'data'));
    chownSync(join(dir, 'data/postgres'), 1234, 1234);
    await expect(start()).rejects.toThrow(
      /data\/postgres belongs to the user 1234, .* To give it to them: chown -R \d+:\d+ .*data\/postgres/,
    );
  });

  /** One cluster that is made here, in a directory that others could enter before; making one takes a second of processor time. */
  describe('on its first start', () => {
    let folder: string;
    let dataDir: string;
    let server: Embedded;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'lodestone-embedded-'));
      chmodSync(folder, 0o755);
      dataDir = join(folder, 'data');
      mkdirSync(dataDir, { mode: 0o755 });
      server = await startEmbedded({ dataDir, logger });
    }, 60_000);
    afterAll(async () => {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('serves on a unix socket only, with fsync on', async () => {
      expect(await ask(server, `select current_setting('listen_addresses') as v`)).toBe('');
      expect(await ask(server, `select current_setting('fsync') as v`)).toBe('on');
    });

    it('runs at a lower priority than the gateway, and still commits to disk before it answers', async () => {
      expect(getPriority(serverPid(dataDir))).toBe(Math.min(19, getPriority() + 5));
      expect(await ask(server, `select current_setting('synchronous_commit') as v`)).toBe('on');
    });

    it('makes the data directory private, also one that others could enter before, and lets in its own user only', async () => {
      expect(openToOthers(dataDir)).toEqual([]);
      const rules = `select string_agg(distinct type || ' ' || auth_method, ',') as v from pg_hba_file_rules`;
      expect(await ask(server, rules)).toBe('local peer');
    });

    it('refuses a second start on the same data directory, naming it and the pid that holds it', async () => {
      const refused = startEmbedded({ dataDir, logger });
      await expect(refused).rejects.toThrow(`The data directory ${dataDir} is in use`);
      await expect(refused).rejects.toThrow(`pid ${process.pid}`);
    });

    it.runIf(process.getuid?.() === 0)('runs for root as a user of its own, whose processes it does not let in', () => {
      const { uid } = statSync(join(dataDir, 'postgres'));
      expect([0, 65534]).not.toContain(uid);
      expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${uid}:`);
      const byWorkingDirectory = `/proc/${serverPid(dataDir)}/cwd`;
      expect(connectAs(uid, byWorkingDirectory)).toContain('Peer authentication failed');
      expect(connectAs(65534, byWorkingDirectory)).toMatch(/EACCES|Peer authentication failed/);
      expect(connectAs(65534, server.connection.host)).toContain('EACCES');
    });

    it('keeps its data over a restart', async () => {
      await ask(server, 'create table kept as select 1 as v');
      await server.stop();
      expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
      server = await startEmbedded({ dataDir, logger });
      expect(await ask(server, 'select v from kept')).toBe(1);
    });
  });

  it('starts in a directory whose path is too long for a socket, in a private short one', async () => {
    const embedded = await startOnReadyCluster(join(dir, 'a'.repeat(60), 'b'.repeat(60)));
    expect(embedded.connection.host.length).toBeLessThan(80);
    expect(statSync(embedded.connection.host).mode & 0o077).toBe(0);
    expect(await ask(embedded, 'select 1 as v')).toBe(1);
    await embedded.stop();
    running = [];
    expect(existsSync(embedded.connection.host)).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)('starts for root below a directory that only root may enter', async () => {
    mkdirSync(join(dir, 'private'), { mode: 0o700 });
    const embedded = await startOnReadyCluster(join(dir, 'private/data'));
    expect(await ask(embedded, 'select 1 as v')).toBe(1);
  });

  it('refuses a data directory that all users share', async () => {
    chmodSync(dir, 0o1777);
    await expect(startEmbedded({ dataDir: dir, logger })).rejects.toThrow(/shared.*storage\.data_dir/);
    expect(statSync(dir).mode & 0o7777).toBe(0o1777);
  });

  it('takes over a data directory of an older version, which let in everybody and ran as nobody for root', async () => {
    const cluster = join(dir, 'data/postgres');
    const first = await startOnReadyCluster();
    await ask(first, 'create table kept as select 5 as v');
    await first.stop();
    running = [];
    writeFileSync(join(cluster, 'pg_hba.conf'), 'local all all trust\n');
    if (process.getuid?.() === 0) spawnSync('chown', ['-R', '65534:65534', cluster]);
    chmodSync(join(dir, 'data'), 0o755);
    const embedded = await start();
    expect(await ask(embedded, 'select v from kept')).toBe(5);
    expect(await ask(embedded, 'select auth_method as v from pg_hba_file_rules')).toBe('peer');
    expect(openToOthers(join(dir, 'data'))).toEqual([]);
  });

  it('starts again after the server was killed, and tells so', async () => {
    const embedded = await startOnReadyCluster();
    const told = new Promise<void>((resolve) => embedded.onExit(resolve));
    await ask(embedded, 'create table kept as select 7 as v');
    process.kill(serverPid(join(dir, 'data')), 'SIGKILL');
    await told;
    await vi.waitFor(async () => expect(await ask(embedded, 'select v from kept')).toBe(7), { timeout: 60_000 });
  });

  it('names the platform and the setting to use where there is no package for it', () => {
    expect(() => locateBinaries({}, 'sunos-sparc')).toThrow(/sunos-sparc.*storage\.database_url/);
  });

  describe('under a process of its own', () => {
    let code: string;
    let child: ChildProcess | undefined;
    beforeAll(() => {
      code = compiled('storage/embedded/embedded', 'base/logger');
      writeFileSync(
        join(code, 'child.mjs'),
        `import { startEmbedded } from './storage/embedded/embedded.js';
         import { silentLogger } from './base/logger.js';
         await startEmbedded({ dataDir: process.argv[2], logger: silentLogger });
         console.log('started');
         setInterval(() => {}, 1000);`,
      );
    });
    afterAll(() => rmSync(code, { recursive: true, force: true }));
    afterEach(() => child?.kill('SIGKILL'));

    async function startChild(dataDir: string): Promise<ChildProcess> {
      placeCluster(inject('newCluster'), dataDir);
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

/** The paths that users other than the owner may read, write or enter. */
function openToOthers(path: string): string[] {
  const stat = lstatSync(path);
  const found = (stat.mode & 0o077) === 0 ? [] : [`${path} ${(stat.mode & 0o777).toString(8)}`];
  if (!stat.isDirectory()) return found;
  return [...found, ...readdirSync(path).flatMap((name) => openToOthers(join(path, name)))];
}

/** What a process of this user gets when it connects as the database’s owner. */
function connectAs(uid: number, host: string): string {
  const code = `import(process.argv[1]).then(({ default: { Client } }) => {
    const client = new Client({ host: process.argv[2], port: 5432, user: 'postgres', database: 'postgres' });
    return client.connect().then(() => client.end());
  }).then(() => console.log('connected'), (error) => console.log(error.message));`;
  const args = ['-e', code, createRequire(import.meta.url).resolve('pg'), host];
  return spawnSync(process.execPath, args, { uid, gid: uid, cwd: '/', encoding: 'utf8' }).stdout;
}

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
