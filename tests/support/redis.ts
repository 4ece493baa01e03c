/** A real Redis for tests, to be frozen, killed and restarted; never skipped, because there is always one to run (redis-binary.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { type RedisBinary, redisBinary } from './redis-binary.js';

export interface TestRedis {
  readonly url: string;
  /** Which Redis it is; `foreign` is the one of REDIS_URL, with which nothing but its normal use is allowed. */
  readonly kind: RedisBinary['kind'] | 'foreign';
  readonly pid: number | null;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL: gone with all it knew. */
  kill(): Promise<void>;
  /** SIGSTOP: its connections stay open and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** On the same address, empty. */
  restart(): Promise<void>;
}

export interface TestRedisOptions {
  /** For tests that only use it: the Redis of REDIS_URL will do. They need a namespace of their own. */
  shared?: boolean;
  /** Insists on one kind, as LODESTONE_TEST_REDIS does for a whole run. */
  kind?: RedisBinary['kind'];
  /** More arguments of the server; not for Valkey as WebAssembly. */
  args?: readonly string[];
}

const startMs = 60_000;

export async function startRedis({ shared = false, kind, args = [] }: TestRedisOptions = {}): Promise<TestRedis> {
  const foreign = process.env.REDIS_URL;
  if (shared && foreign) return foreignRedis(foreign);
  const binary = await redisBinary(kind);
  const redis = new OwnRedis(binary, await freePort(), args);
  try {
    await redis.start();
    return redis;
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

function foreignRedis(url: string): TestRedis {
  const notOurs = () => {
    throw new Error('The Redis of REDIS_URL belongs to somebody else: start one without { shared: true }.');
  };
  return {
    url,
    kind: 'foreign',
    pid: null,
    stop: async () => {},
    kill: notOurs,
    freeze: notOurs,
    thaw: notOurs,
    restart: notOurs,
  };
}

class OwnRedis implements TestRedis {
  readonly url: string;
  readonly kind: RedisBinary['kind'];
  private readonly folder = mkdtempSync(join(tmpdir(), 'lodestone-redis-'));
  private child: ChildProcess | null = null;
  private output = '';

  constructor(
    private readonly binary: RedisBinary,
    private readonly port: number,
    private readonly moreArgs: readonly string[],
  ) {
    this.kind = binary.kind;
    this.url = `redis://127.0.0.1:${port}`;
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { command, args, env } = this.binary;
    const child = spawn(command, [...args(this.port, this.folder), ...this.moreArgs], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => this.note(text));
    const gone = (reason: unknown) => {
      this.note(reason);
      if (this.child === child) this.child = null;
    };
    child.once('error', gone);
    child.once('exit', gone);
    this.child = child;
    this.prefer(child.pid);
    process.once('exit', this.end);
    for (const untilMs = Date.now() + startMs; !(await this.answers()); await pause(10)) {
      if (this.child === null || Date.now() > untilMs) {
        throw new Error(`Redis (${this.binary.kind}) did not start: ${this.output}`);
      }
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    const { child } = this;
    process.off('exit', this.end);
    if (!child) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    this.end();
    await gone;
  }

  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  private readonly end = (): void => {
    this.child?.kill('SIGKILL');
  };

  /** Requests wait 40 ms for Redis: on a machine that is busy with other suites it has to come first. Only root may ask for that. */
  private prefer(pid: number | undefined): void {
    try {
      if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_HIGH);
    } catch {
      // Then it takes its turn like everybody.
    }
  }

  private note(text: unknown): void {
    this.output = (this.output + String(text)).slice(-2_000);
  }

  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1');
      const answer = (yes: boolean) => {
        socket.destroy();
        resolve(yes);
      };
      socket.setTimeout(500, () => answer(false));
      socket.once('error', () => answer(false));
      socket.once('data', (data) => answer(data.toString().startsWith('+PONG')));
      socket.write('PING\r\n');
    });
  }
}
