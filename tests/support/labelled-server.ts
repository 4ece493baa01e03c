/** An HTTP server whose answers to chats say who read the request: `fast` without node:http, `node` with it. */
import { expect } from 'vitest';
import { type GatewayError, gatewayError } from '../../src/errors/gateway-error.js';
import type { ChatHandler, SocketChatHandler } from '../../src/http/deps.js';
import { serverLimits } from '../../src/http/server/connections.js';
import { createServer, type LodestoneServer } from '../../src/http/server/server.js';
import type { SocketCaller } from '../../src/http/server/socket-caller.js';
import { BodyMemory } from '../../src/limits/body-memory.js';
import { AnswerBytes } from '../../src/pipeline/caller.js';
import { AnswerReader } from '../faults/generator/answer-reader.js';
import { httpFixture } from './http-fixture.js';
import { RawConnection, requestBytes } from './raw-http.js';

export const connectionsMax = 10;
/** So short that a test can wait for them. */
export const shortTimes = { headersTimeout: 400, requestTimeout: 800, keepAliveTimeout: 500, unreadMs: 300 };
/** A busy machine, on which client and server stand still together, does not use them up. */
const longTimes = { headersTimeout: 60_000, requestTimeout: 60_000, keepAliveTimeout: 60_000, unreadMs: 60_000 };

export class LabelledServer {
  /** Of the requests that were read without node:http. */
  callers: SocketCaller[] = [];
  /** Answers to these requests wait for it. */
  wait: Promise<unknown> = Promise.resolve();
  /** What these requests wait for before their body is read; null = nothing. */
  admission: Promise<unknown> | null = null;
  /** The answer to these requests; null = the label and the length of the body. */
  answer: string | null = null;
  /** These requests are answered with a stream, the first part before the wait. */
  streams = false;
  readonly memory = new BodyMemory({ bytesMax: 8_000_000 });
  private running!: LodestoneServer;
  private url = '';
  private readonly opened: RawConnection[] = [];

  constructor(private readonly times = longTimes) {}

  async start(): Promise<void> {
    const parts = { chat: this.onNode, socketChat: this.onSocket, bodyMemory: this.memory };
    const { deps } = await httpFixture(parts);
    const { unreadMs: _, ...times } = this.times;
    const options = { ...serverLimits.options, ...times, connectionsCheckingInterval: 20 };
    this.running = await createServer(deps, { options, connectionsMax });
    this.url = `http://127.0.0.1:${await this.running.listen(0, '127.0.0.1')}`;
  }

  async open(): Promise<RawConnection> {
    const connection = await RawConnection.open(this.url);
    this.opened.push(connection);
    return connection;
  }

  /** Lets the answers wait until the function that it returns is called. */
  hold(): () => void {
    let go = () => {};
    this.wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    return go;
  }

  openCount = () => new Promise<number>((resolve) => this.running.server.getConnections((_, count) => resolve(count)));

  reset(): void {
    for (const connection of this.opened.splice(0)) connection.close();
    this.callers = [];
    this.wait = Promise.resolve();
    this.answer = null;
    this.admission = null;
  }

  async stop(graceMs?: number): Promise<void> {
    await this.running.close(graceMs);
    this.memory.close();
  }

  private readonly onSocket: SocketChatHandler = async (caller) => {
    this.callers.push(caller);
    caller.unreadMs = this.times.unreadMs;
    try {
      if (caller.authorization === undefined) throw gatewayError('authorization_missing');
      if (this.admission) await this.admission;
      const body = await caller.readBody(this.memory.open('a'));
      if (this.streams) {
        caller.openStream([]);
        caller.write('begun, ');
      }
      await this.wait;
      if (this.streams) caller.endStream('over');
      else caller.answer([], new AnswerBytes(this.answer ?? `"fast ${body.length}"`, 'latin1'));
    } catch (error) {
      if (caller.gone) caller.abandon();
      else caller.refuse(error as GatewayError, 'req-1', {});
    } finally {
      caller.releaseBody();
    }
  };

  private readonly onNode: ChatHandler = (req, res) => {
    let length = 0;
    req.on('data', (piece: Buffer) => (length += piece.length)).on('end', () => res.end(`"node ${length}"`));
  };
}

export const chatPath = '/v1/chat/completions';
const key = { authorization: 'Bearer x' };

export function chatBytes(body: string, headers: Record<string, string> = key): Buffer {
  return requestBytes('POST', chatPath, headers, body);
}

/** The answers so far, as soon as there are `count`: the body of a 200, the status of others. */
export async function answersOn(connection: RawConnection, count: number): Promise<string[]> {
  const read = () => {
    const reader = new AnswerReader([]);
    reader.push(connection.received);
    expect(reader.fault).toBeNull();
    return reader.answers.map(({ status, body }) => (status === 200 ? body.toString() : String(status)));
  };
  await connection.readUntil(() => read().length >= count);
  return read();
}
