/**
 * An upstream on loopback that does exactly what a test says, down to the byte, and remembers what was done to it. It speaks
 * HTTP/1.1 on a raw socket, so that it can also break HTTP.
 */
import { createServer, type Socket } from 'node:net';
import { completion } from './openai-shapes.js';
import { RequestReader } from './request-reader.js';
import { registerSecret } from './secrets.js';
import { type Bytes, chunked, json } from './upstream-scripts.js';

export * from './openai-shapes.js';
export * from './upstream-scripts.js';

export interface UpstreamCallLog {
  /** Counts from 1 over the upstream's life. */
  readonly id: number;
  readonly connectionId: number;
  method: string;
  path: string;
  /** Names in lower case; repeated ones joined by `, `. */
  headers: Record<string, string>;
  rawHead: string;
  body: Buffer;
  /** The parsed body; undefined where it is no JSON, or not all here yet. Parsed when it is first asked for: bodies may have megabytes. */
  readonly json: unknown;
  /** When the head was read (`performance.now()`). */
  headAt: number;
  /** When the whole request was read; null while it was not. */
  requestAt: number | null;
  bytesWritten: number;
  /** The script said all it had to say. */
  finished: boolean;
  finishedAt: number | null;
  /** The caller closed the line before the script had finished. */
  aborted: boolean;
  abortedAt: number | null;
  closedAt: number | null;
}

export interface Exchange {
  readonly call: UpstreamCallLog;
  readonly socket: Socket;
  /** Resolves when the connection is gone, whoever ended it. */
  readonly closed: Promise<void>;
  /** Resolves when the system has taken the bytes, or the line is gone. */
  write(bytes: Bytes): Promise<void>;
  /** The same as one chunk of the chunked coding. */
  writeChunk(bytes: Bytes): Promise<void>;
  /** Resolves after the time, or when the line is gone. */
  sleep(ms: number): Promise<void>;
  /** The answer is complete, and the connection takes the next request. */
  done(): void;
  /** Ends the connection from this side. */
  close(how: 'fin' | 'reset'): void;
}

export interface Script {
  (exchange: Exchange): Promise<void> | void;
  /** Run as soon as the head was read, without waiting for the body. */
  onHead?: boolean;
}

export interface ScriptedUpstream {
  /** `http://127.0.0.1:<port>`; without a path. */
  readonly url: string;
  readonly port: number;
  readonly calls: UpstreamCallLog[];
  /** Connections accepted, and those open now. */
  readonly connections: { accepted: number; open: number };
  /** What answers when nothing is queued; at first an ordinary completion. */
  reply(script: Script): void;
  /** Answers the next requests, one each, before anything else does. */
  enqueue(...scripts: Script[]): void;
  /** Chooses by request; wins over `reply`, and an undefined falls back to it. */
  onRequest(choose: (call: UpstreamCallLog) => Script | undefined): void;
  /** Resolves when as many calls have arrived in all. */
  waitForCalls(count: number, timeoutMs?: number): Promise<UpstreamCallLog[]>;
  /** Resolves when the condition holds; checked at every event of this upstream. */
  waitFor(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Forgets calls and scripts; connections stay. */
  reset(): void;
  stop(): Promise<void>;
}

class Upstream {
  readonly calls: UpstreamCallLog[] = [];
  readonly connections = { accepted: 0, open: 0 };
  readonly sockets = new Set<Socket>();
  private queue: Script[] = [];
  private fallback: Script = json(completion());
  private choose: (call: UpstreamCallLog) => Script | undefined = () => undefined;
  private readonly watchers = new Set<() => void>();
  private callCount = 0;

  reply(script: Script): void {
    this.fallback = script;
  }

  enqueue(...scripts: Script[]): void {
    this.queue.push(...scripts);
  }

  onRequest(choose: (call: UpstreamCallLog) => Script | undefined): void {
    this.choose = choose;
  }

  reset(): void {
    this.calls.length = 0;
    this.queue = [];
    this.fallback = json(completion());
    this.choose = () => undefined;
  }

  changed(): void {
    for (const watcher of this.watchers) watcher();
  }

  waitFor(condition: () => boolean, timeoutMs = 60_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.watchers.delete(check);
        reject(new Error(`The upstream did not see it within ${timeoutMs} ms; it has had ${this.calls.length} calls.`));
      }, timeoutMs);
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.watchers.delete(check);
        resolve();
      };
      this.watchers.add(check);
      check();
    });
  }

  async waitForCalls(count: number, timeoutMs?: number): Promise<UpstreamCallLog[]> {
    await this.waitFor(() => this.calls.filter((call) => call.requestAt !== null).length >= count, timeoutMs);
    return this.calls;
  }

  accept(socket: Socket): void {
    const connectionId = ++this.connections.accepted;
    this.connections.open++;
    this.sockets.add(socket);
    socket.setNoDelay(true);
    let current: UpstreamCallLog | undefined;
    const gone = () => {
      if (!current || current.finished || current.aborted) return;
      current.aborted = true;
      current.abortedAt = performance.now();
      this.changed();
    };
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        gone();
        if (current) current.closedAt = performance.now();
        this.connections.open--;
        this.sockets.delete(socket);
        this.changed();
        resolve();
      });
    });
    socket.on('end', gone);
    socket.on('error', gone);
    let script: Script | undefined;
    const reader = new RequestReader({
      onHead: (head) => {
        current = newCall(++this.callCount, connectionId, head);
        this.calls.push(current);
        script = this.queue.shift();
        if (script?.onHead) void script(exchangeOf(current, socket, closed, this));
        this.changed();
      },
      onBody: (body) => {
        const call = current!;
        call.body = body;
        call.requestAt = performance.now();
        script ??= this.choose(call) ?? this.fallback;
        if (!script.onHead) void script(exchangeOf(call, socket, closed, this));
        this.changed();
      },
    });
    socket.on('data', (bytes) => reader.push(bytes));
  }
}

type Head = Pick<UpstreamCallLog, 'method' | 'path' | 'headers' | 'rawHead'>;

function newCall(id: number, connectionId: number, head: Head): UpstreamCallLog {
  let read: { json: unknown } | undefined;
  return {
    id,
    connectionId,
    ...head,
    body: Buffer.alloc(0),
    get json() {
      if (this.requestAt === null) return undefined;
      read ??= { json: parsed(this.body) };
      return read.json;
    },
    headAt: performance.now(),
    requestAt: null,
    bytesWritten: 0,
    finished: false,
    finishedAt: null,
    aborted: false,
    abortedAt: null,
    closedAt: null,
  };
}

function exchangeOf(call: UpstreamCallLog, socket: Socket, closed: Promise<void>, upstream: Upstream): Exchange {
  const finish = () => {
    if (call.finished || call.aborted) return;
    call.finished = true;
    call.finishedAt = performance.now();
    upstream.changed();
  };
  const write = async (bytes: Bytes) => {
    if (socket.destroyed || !socket.writable) return;
    call.bytesWritten += Buffer.byteLength(bytes as string);
    const taken = new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    upstream.changed();
    await Promise.race([taken, closed]);
  };
  return {
    call,
    socket,
    closed,
    write,
    writeChunk: (bytes) => write(chunked(bytes)),
    sleep: (ms) => pause(ms, closed),
    done: finish,
    close(how) {
      finish();
      if (how === 'reset') socket.resetAndDestroy();
      else socket.end();
    },
  };
}

async function pause(ms: number, closed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, closed]);
  clearTimeout(timer);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export async function startUpstream(): Promise<ScriptedUpstream> {
  const upstream = new Upstream();
  const server = createServer((socket) => upstream.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  registerSecret('the address of an upstream', `127.0.0.1:${port}`);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls: upstream.calls,
    connections: upstream.connections,
    reply: (script) => upstream.reply(script),
    enqueue: (...scripts) => upstream.enqueue(...scripts),
    onRequest: (choose) => upstream.onRequest(choose),
    waitForCalls: (count, timeoutMs) => upstream.waitForCalls(count, timeoutMs),
    waitFor: (condition, timeoutMs) => upstream.waitFor(condition, timeoutMs),
    reset: () => upstream.reset(),
    async stop() {
      for (const socket of upstream.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
