/** Runs the PostgreSQL server program: `initdb`, start under a watchdog, wait until ready, stop. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/logger.js';
import { admitOwnUserOnly, giveTo, pathFor, takeOver } from './embedded-access.js';
import { nobody, type ServerUser } from './embedded-binaries.js';
import { serverNiceness } from './embedded-priority.js';

export interface ServerPlace {
  /** The directory with `bin`, `lib` and `share`. */
  native: string;
  user: ServerUser;
  /** The database cluster. */
  cluster: string;
  socketDir: string;
  port: number;
  connectionsMax: number;
}

export interface ServerRun {
  /** Settles when the program has ended, for whatever reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null; lastLines: string }>;
  stop(): Promise<void>;
}

const startMs = 60_000;
const stopMs = 20_000;

/**
 * Runs the server and shuts it down (fast) at the end of standard input, so that it stops cleanly with its parent even where
 * that is killed. It also ends when the server does, so that the parent notices a crash.
 */
const watchdog = `exec 3<&0
nice -n ${serverNiceness} "$@" 3<&- </dev/null & server=$!
( cat <&3 >/dev/null; kill -INT $server ) 2>/dev/null & watch=$!
exec 3<&-
wait $server; status=$?
kill $watch 2>/dev/null
exit $status`;

/** Small for a gateway's store: fsync on, few processes, no TCP port, and no statement text in the log. */
const settings = [
  'listen_addresses=',
  'fsync=on',
  'shared_buffers=16MB',
  'max_wal_size=256MB',
  'min_wal_size=32MB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_logical_replication_workers=0',
  'max_parallel_workers_per_gather=0',
  'io_method=sync',
  'huge_pages=off',
  // Commits flush the WAL themselves and the data is small, so the helpers of the server need not wake up five times a second.
  'wal_writer_delay=5s',
  'bgwriter_delay=2s',
  'autovacuum=on',
  'autovacuum_max_workers=1',
  'jit=off',
  'update_process_title=off',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'log_min_error_statement=panic',
  'unix_socket_permissions=0700',
];

const readyText = 'ready to accept connections';

/** PostgreSQL reads PG… variables and the locale, so it does not get the gateway's environment. */
const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' });

/** Makes the cluster in another directory and moves it into place, so that an interrupted start leaves no half of one. */
export function initialise({ native, user, cluster }: ServerPlace): void {
  if (existsSync(join(cluster, 'PG_VERSION'))) return;
  const unfinished = `${cluster}.init`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  // `initdb` needs a user with a name, which the server's user does not have.
  const maker = user.uid === undefined ? user : nobody;
  giveTo(maker, unfinished);
  const options = ['-U', 'postgres', '-A', 'reject', '-E', 'UTF8', '--locale=C', '--no-instructions'];
  const made = spawnSync(join(native, 'bin', 'initdb'), ['-D', pathFor(maker, unfinished), ...options], {
    ...maker,
    cwd: unfinished,
    env: environment(),
    encoding: 'utf8',
  });
  if (made.status !== 0)
    throw new Error(
      `The embedded store could not be made in ${cluster}: ${made.stderr || made.error}\nTo do without it, set storage.database_url.`,
    );
  takeOver(user, unfinished);
  renameSync(unfinished, cluster);
}

/**
 * No other server may run on the cluster. Resolves when the server accepts connections; rejects with the server's last output
 * where it does not start.
 */
export async function launch(place: ServerPlace, logger: Logger): Promise<ServerRun> {
  const { native, user, cluster, socketDir, port, connectionsMax } = place;
  const allSettings = [...settings, `max_connections=${connectionsMax}`];
  takeOver(user, cluster);
  admitOwnUserOnly(user, cluster);
  const clusterPath = pathFor(user, cluster);
  const socketPath = socketDir === cluster ? clusterPath : socketDir;
  const command = [join(native, 'bin', 'postgres'), '-D', clusterPath, '-k', socketPath, '-p', String(port)];
  const child = spawn(
    '/bin/sh',
    ['-c', watchdog, 'sh', ...command, ...allSettings.flatMap((setting) => ['-c', setting])],
    {
      ...user,
      cwd: cluster,
      env: environment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      // A process group of its own: Ctrl-C in a terminal must reach only Lodestone, which then drains and stops the server.
      detached: true,
    },
  );
  child.stdin?.on('error', () => {});
  const lines: string[] = [];
  const ready = followLog(child, lines, logger);
  const ended = new Promise<{ code: number | null; signal: string | null; lastLines: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, lastLines: String(error) }));
    child.once('exit', (code, signal) => resolve({ code, signal, lastLines: lines.join('\n') }));
  });
  const run: ServerRun = { ended, stop: () => end(child, ended) };
  const outcome = await Promise.race([ready, ended, elapsed(startMs)]);
  if (outcome === 'ready') return run;
  await run.stop();
  throw new Error(
    `The embedded PostgreSQL did not start: ${lines.join('\n') || (await ended).lastLines || 'it said nothing.'}`,
  );
}

function followLog(child: ChildProcess, lines: string[], logger: Logger): Promise<'ready'> {
  return new Promise((resolve) => {
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (lines.push(line) > 20) lines.shift();
        logger[/ (FATAL|PANIC):/.test(line) ? 'warn' : 'debug']({ line }, 'embedded PostgreSQL');
        if (line.includes(readyText)) resolve('ready');
      }
    });
  });
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.stdin?.end();
  if ((await Promise.race([ended, elapsed(stopMs)])) !== 'elapsed') return;
  try {
    // Kills the whole group, the watchdog and the server, which then recovers at its next start.
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
  await ended;
}

function elapsed(ms: number): Promise<'elapsed'> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'elapsed').unref());
}
