/** Identical gateways in processes of their own, on one PostgreSQL and one Redis, as a fleet runs in production. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';
import type { Json, Reply } from './client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from './gateway.js';
import type { YamlObject } from './gateway-files.js';
import { type FreshDatabase, freshDatabase } from './postgres.js';
import { startRedis, type TestRedis } from './redis.js';
import { type ScriptedUpstream, startUpstream } from './scripted-upstream.js';

export interface ReplicasOptions {
  count?: number;
  config?: YamlObject;
  /** Made of the address of the scripted upstream; one model at the provider `acme` by default. */
  catalogue?: (upstreamUrl: string) => YamlObject;
  /** A PostgreSQL of the test's own, to be killed; else a database of the shared one. */
  databaseUrl?: string;
  /** The nodes of a cluster in the place of one Redis. The test stops them. */
  redisUrls?: readonly string[];
  /** Of another version, which is built. */
  checkout?: string;
}

export interface Replicas {
  readonly all: readonly SpawnedGateway[];
  readonly a: SpawnedGateway;
  readonly b: SpawnedGateway;
  readonly redis: TestRedis;
  readonly databaseUrl: string;
  readonly upstream: ScriptedUpstream;
  /** Everything ends, also where one part cannot be stopped as it should. */
  stop(): Promise<void>;
}

export async function startReplicas(options: ReplicasOptions = {}): Promise<Replicas> {
  const started: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    const ends = await Promise.allSettled(started.splice(0).map((end) => end()));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  };
  try {
    const redis = await startRedis();
    const upstream = await startUpstream();
    const database = options.databaseUrl === undefined ? await freshDatabase() : null;
    const replicas: SpawnedGateway[] = [];
    // The gateways first: they settle what they have while the others are still there.
    started.push(async () => {
      await Promise.allSettled(replicas.map((replica) => replica.stop()));
      await Promise.all([redis.stop(), upstream.stop(), database?.drop()]);
    });
    const databaseUrl = (options.databaseUrl ?? database?.databaseUrl)!;
    const spawn = () => spawnReplica(options, { redis, upstream, database });
    for (const replica of await Promise.all(Array.from({ length: options.count ?? 2 }, spawn))) replicas.push(replica);
    return { all: replicas, a: replicas[0]!, b: replicas[1]!, redis, upstream, stop, databaseUrl };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

interface Parts {
  redis: TestRedis;
  upstream: ScriptedUpstream;
  database: FreshDatabase | null;
}

function spawnReplica(options: ReplicasOptions, { redis, upstream, database }: Parts): Promise<SpawnedGateway> {
  const { config = {}, catalogue = (url: string) => catalogueOf({ acme: url }) } = options;
  const database_url = options.databaseUrl ?? database?.databaseUrl;
  return spawnGateway({
    ...(options.checkout !== undefined && { checkout: options.checkout }),
    // No database of its own: the one of all.
    embedded: true,
    catalogue: catalogue(upstream.url),
    config: {
      ...config,
      storage: { ...(config.storage as object), database_url, redis_url: options.redisUrls ?? redis.url },
    },
  });
}

export type LeanReply = Pick<Reply, 'status' | 'headers' | 'text'>;

/** Sends many requests over kept connections and does as little as it can with the answers, so that it is not the bound itself. */
export class LeanCaller {
  private readonly pool: Pool;

  constructor(url: string, connections = 32) {
    this.pool = new Pool(url, { connections, headersTimeout: 0, bodyTimeout: 0 });
  }

  async chat(key: string, body: Json, more: Record<string, string> = {}): Promise<LeanReply> {
    const {
      statusCode,
      headers,
      body: answer,
    } = await this.pool.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });
    return { status: statusCode, headers, text: await answer.text() };
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }
}

/** One kept connection on which many requests are sent in one go, without waiting for answers: as many as a gateway can be asked at once. */
export class BurstCaller {
  private rest = '';
  private wanted = 0;
  private answers: string[] = [];
  private over: ((answers: string[]) => void) | null = null;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => this.read(text));
    socket.on('error', () => {}).on('close', () => this.over?.(this.answers));
  }

  static async open(url: string): Promise<BurstCaller> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new BurstCaller(socket);
  }

  /** The answers in order, heads and all; fewer where the connection was closed. */
  chats(key: string, body: Json, count: number): Promise<string[]> {
    const text = JSON.stringify(body);
    const length = Buffer.byteLength(text);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json`;
    this.answers = [];
    this.wanted = count;
    return new Promise((resolve) => {
      this.over = resolve;
      this.socket.write(`${head}\r\ncontent-length: ${length}\r\n\r\n${text}`.repeat(count));
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private read(text: string): void {
    this.rest += text;
    for (;;) {
      const headEnd = this.rest.indexOf('\r\n\r\n') + 4;
      if (headEnd < 4) return;
      const length = Number(/content-length: (\d+)/i.exec(this.rest.slice(0, headEnd))?.[1]);
      if (this.rest.length < headEnd + length) return;
      this.answers.push(this.rest.slice(0, headEnd + length));
      this.rest = this.rest.slice(headEnd + length);
      if (this.answers.length === this.wanted) this.over?.(this.answers);
    }
  }
}

/** Runs `act` for each of so many numbers, `atOnce` of them at a time. After a failure nothing of it goes on, so that it can be repeated. */
export async function inParallel(count: number, atOnce: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    try {
      while (next < count) await act(next++);
    } catch (error) {
      next = count;
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(count, atOnce) }, lane));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * Repeats a round that failed while a replica took Redis for absent: on a busy machine an answer may take longer than a request waits
 * for it. Limits are then each replica's own and known keys are read from the store, as they should be; what a round is about is
 * promised only while Redis answers.
 */
export async function whileShared<T>({ all }: Replicas, round: (attempt: number) => Promise<T>): Promise<T> {
  const absences = () => all.reduce((sum, { output }) => (output.stderr.match(outOfReach)?.length ?? 0) + sum, 0);
  for (let attempt = 1; ; attempt++) {
    for (const replica of all) while ((await readiness(replica)).degraded.length > 0);
    const before = absences();
    try {
      return await round(attempt);
    } catch (error) {
      if (absences() === before || attempt === attemptsMax) throw error;
      console.log(`Redis was taken for absent meanwhile, so this is done again: ${String(error).slice(0, 200)}`);
    }
  }
}

const outOfReach = /shared state is out of reach|going on without them/g;
const attemptsMax = 5;

/** What a replica says of its parts at /readyz. */
export async function readiness(replica: SpawnedGateway): Promise<{ status: number; degraded: string[] }> {
  const { status, json } = await replica.call('GET', '/readyz', undefined, { key: null });
  return { status, degraded: (json.degraded ?? []) as string[] };
}
