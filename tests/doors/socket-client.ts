/** A client of the Responses WebSocket for tests: sends messages, and gives the events of each response. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, expect } from 'vitest';
import { WebSocket } from 'ws';
import { type Script, sse, streamOf, usage } from '../support/scripted-upstream.js';
import type { DoorBench } from './door-gateway.js';

// biome-ignore lint/suspicious/noExplicitAny: events of any shape
export type SocketEvent = any;

const waitMs = 60_000;
const handshake = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const ends = new Set(['response.completed', 'response.incomplete', 'error']);

export class SocketClient {
  /** Every event that came, in order. */
  readonly events: SocketEvent[] = [];
  /** Resolves to the code and reason of the close. */
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly waiting: (() => void)[] = [];
  private read = 0;

  private constructor(readonly ws: WebSocket) {
    this.closed = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        for (const wake of this.waiting.splice(0)) wake();
      });
    });
    ws.on('error', () => {});
    ws.on('message', (data, isBinary) => {
      if (isBinary) throw new Error('a binary message came');
      this.events.push(JSON.parse(String(data)));
      for (const wake of this.waiting.splice(0)) wake();
    });
  }

  static async open(url: string, headers: Record<string, string>, path = '/v1/responses'): Promise<SocketClient> {
    const client = new SocketClient(new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers }));
    await once(client.ws, 'open');
    return client;
  }

  /** The answer to a handshake that is refused. */
  static async refused(url: string, headers: Record<string, string>, path = '/v1/responses') {
    const asked = request(`${url}${path}`, { headers: { ...handshake, ...headers } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode, json: JSON.parse(text) as SocketEvent, headers: answer.headers };
  }

  send(message: object | string): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Sends a `response.create`, and waits for the end of its response. */
  ask(body: object): Promise<SocketEvent[]> {
    this.send({ type: 'response.create', ...body });
    return this.turn();
  }

  /** The events up to the end of the next response. */
  async turn(): Promise<SocketEvent[]> {
    const from = this.read;
    const last = () => this.events.findIndex(({ type }, at) => at >= from && ends.has(type));
    await this.until(() => last() !== -1);
    this.read = last() + 1;
    return this.events.slice(from, this.read);
  }

  /** Waits for an event that has come or comes. */
  async until(isThere: () => boolean): Promise<void> {
    const deadline = Date.now() + waitMs;
    while (!isThere()) {
      if (this.ws.readyState === WebSocket.CLOSED)
        throw new Error(`closed after ${JSON.stringify(this.events.at(-1))}`);
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new Error(`nothing came after ${JSON.stringify(this.events.at(-1))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  async close(): Promise<void> {
    this.ws.close();
    await this.closed;
  }
}

/** Opens connections with the key of the gateway's own account, and closes them after each test. */
export function useSockets(bench: DoorBench) {
  const clients: SocketClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return {
    async open(key?: string): Promise<SocketClient> {
      const token = key ?? (await bench.gateway.account()).key;
      const client = await SocketClient.open(bench.gateway.url, { authorization: `Bearer ${token}` });
      clients.push(client);
      return client;
    },
  };
}

/** A stream of chat completions that costs 10 input and 4 output tokens. */
export function plainStream(texts: readonly string[], options?: object): Script {
  return sse(streamOf(texts, { usage: usage(10, 4) }), options);
}

/** The error that ended a response, in both of its forms. */
export function failure(events: readonly SocketEvent[]): SocketEvent {
  const error = events.at(-1);
  expect(error).toMatchObject({ type: 'error', error: { message: error.message, code: error.code } });
  return error;
}
