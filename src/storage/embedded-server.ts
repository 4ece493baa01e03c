/** One run of the PostgreSQL server program: `initdb`, start under a watchdog, wait until ready, stop. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/logger.js';
import type { ServerUser } from './embedded-binaries.js';

export interface ServerPlace {
  /** Holds `bin`, `lib`, `share`. */
  native: string;
  user: ServerUser;
  /** The database cluster. */
  cluster: string;
  socketDir: string;
  port: number;
  connectionsMax: number;
}

export interface ServerRun {
  /** Settles when the program has ended, whatever the reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null; lastLines: string }>;
  stop(): Promise<void>;
}

const startMs = 60_000;
const stopMs = 20_000;

/**
 * Runs the server and ends it (fast shutdown) at the end of standard input, so that it stops cleanly with its parent even
 * when that is killed. It also ends when the server does, so that the parent hears of a crash.
 */
const watchdog = `exec 3<&0
"$@" 3<&- </dev/null & server=$!
( cat <&3 >/dev/null; kill -INT $server ) 2>/dev/null & watch=$!
exec 3<&-
wait $server; status=$?
kill $watch 2>/dev/null
exit $status`;

/** Small for a gateway's store: fsync on, few processes, no TCP port, and no statement text in the log. */
const settings = [
  'listen_addresses=',
  'fsync=on',
  'shared_buffers=32MB',
  'max_wal_size=256MB',
  'min_wal_size=32MB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_logical_replication_workers=0',
  'max_parallel_workers_per_gather=0',
  'io_method=sync',
  'huge_pages=off',
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

/** PostgreSQL reads PG… variables and the locale; the gateway's own must not leak into it. */
const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' });

/** Makes the cluster in a side directory and moves it into place whole, so that a start cut short leaves no half of one. */
export function initialise({ native, user, cluster }: ServerPlace): void {
  if (existsSync(join(cluster, 'PG_VERSION'))) return;
  const unfinished = `${cluster}.init`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  giveTo(user, unfinished);
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions'];
  const made = spawnSync(join(native, 'bin', 'initdb'), ['-D', pathFor(user, unfinished), ...options], {
    ...user,
    cwd: unfinished,
    env: environment(),
    encoding: 'utf8',
  });
  if (made.status !== 0)
    throw new Error(
      `The embedded store could not be made in ${cluster}: ${made.stderr || made.error}\nTo do without it, set storage.database_url.`,
    );
  renameSync(unfinished, cluster);
}

export function giveTo(user: ServerUser, directory: string): void {
  chmodSync(directory, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid);
}

/** Asked of the system rather than worked out from modes, which are not all that decides it. */
export function canEnter(user: ServerUser, directory: string): boolean {
  const entered = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], { ...user, cwd: '/', stdio: 'ignore' });
  return entered.status === 0;
}

/**
 * The path by which the server's user reaches a directory. Below a private home (root's own, say) it cannot walk there by
 * name, but it is started inside, and Linux lets a process name its own working directory.
 */
function pathFor(user: ServerUser, directory: string): string {
  if (canEnter(user, directory)) return directory;
  if (process.platform === 'linux') return '/proc/self/cwd';
  throw new Error(
    `The user that PostgreSQL runs as cannot enter ${directory}. Set storage.data_dir to a directory outside a private one.`,
  );
}

/** Resolves when the server accepts connections; rejects with the server's own last words where it does not come up. */
export async function launch(place: ServerPlace, logger: Logger): Promise<ServerRun> {
  const { native, user, cluster, socketDir, port, connectionsMax } = place;
  const allSettings = [...settings, `max_connections=${connectionsMax}`];
  const command = [join(native, 'bin', 'postgres'), '-D', pathFor(user, cluster), '-k', socketDir, '-p', String(port)];
  const child = spawn(
    '/bin/sh',
    ['-c', watchdog, 'sh', ...command, ...allSettings.flatMap((setting) => ['-c', setting])],
    {
      ...user,
      cwd: cluster,
      env: environment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      // A group of its own: Ctrl-C in a terminal must reach Lodestone alone, which then drains and stops the server.
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
    // The whole group: the watchdog and the server, which then recovers at its next start.
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
  await ended;
}

function elapsed(ms: number): Promise<'elapsed'> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'elapsed').unref());
}
