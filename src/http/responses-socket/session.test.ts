import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { identityOf } from '../../../tests/support/limited-identity.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { BodyMemory } from '../../limits/body-memory.js';
import { unknownTerritory } from '../../territory/territory.js';
import { Conversations } from './conversations.js';
import { FrameTurns } from './frame-reader.js';
import { SocketSession } from './session.js';
import type { SocketTurn } from './socket-turn.js';

class FakeSocket extends EventEmitter {
  writableLength = 0;
  writableNeedDrain = false;
  readableLength = 0;
  paused = false;
  /** Called when the client has taken what was written. */
  taken: (() => void)[] = [];
  private unread = Buffer.alloc(0);
  /** Bytes come from the client. */
  receive(bytes: Uint8Array): void {
    this.unread = Buffer.concat([this.unread, bytes]);
    this.readableLength = this.unread.length;
    this.emit('readable');
  }
  read(size = this.unread.length): void {
    const bytes = this.unread.subarray(0, size);
    this.unread = this.unread.subarray(size);
    this.readableLength = this.unread.length;
    if (bytes.length > 0) this.emit('data', bytes);
  }
  write(_: string, taken: () => void): void {
    this.taken.push(taken);
  }
  pause(): void {
    this.paused = true;
  }
  timeoutMs = 0;
  reset = false;
  cork(): void {}
  uncork(): void {}
  setTimeout(ms: number): void {
    this.timeoutMs = ms;
  }
  resetAndDestroy(): void {
    this.reset = true;
  }
}

class FakeWs extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  sent: { type: string; code?: string }[] = [];
  pings = 0;
  pongs: string[] = [];
  pongTaken: (() => void) | null = null;
  code: number | null = null;
  reason = '';
  terminated = false;
  send(message: Buffer): void {
    this.sent.push(JSON.parse(String(message)));
  }
  ping(): void {
    this.pings++;
  }
  pong(data: Buffer, _: boolean, taken: () => void): void {
    this.pongs.push(String(data));
    this.pongTaken = taken;
  }
  close(code: number, reason: string): void {
    this.code = code;
    this.reason = reason;
    this.readyState = 2;
  }
  terminate(): void {
    this.terminated = true;
  }
}

const times = { lifetimeMs: 1_000, idleMs: 600, pingMs: 100, unreadMs: 50 };
const message = Buffer.from('{"type":"response.create","input":"x"}');
let memory: BodyMemory;
let ws: FakeWs;
let socket: FakeSocket;
let session: SocketSession;
let turns: SocketTurn[];
let closed: number;
let counted: number[];
let countRefusal: GatewayError | null;

beforeEach(() => {
  memory = new BodyMemory({ bytesMax: 40_000, stallMs: 60 });
  ws = new FakeWs();
  socket = new FakeSocket();
  turns = [];
  closed = 0;
  counted = [];
  countRefusal = null;
  session = new SocketSession({
    ...{ ws: ws as unknown as WebSocket, socket: socket as unknown as Socket, bodyMemory: memory, times },
    origin: { address: '192.0.2.1', territory: unknownTerritory },
    authorization: undefined,
    header: () => undefined,
    identity: identityOf('key'),
    countFrames: async (frames) => {
      counted.push(frames);
      return countRefusal;
    },
    conversations: new Conversations(),
    turns: new FrameTurns(),
    serve: (turn) => void turns.push(turn),
    closed: () => void closed++,
  });
});
afterEach(() => memory.close());

/** A masked frame with a mask of zeros. */
const frame = (first: number, text: string | Buffer = '') => {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
};
const receive = (bytes = message) => {
  socket.once('data', () => ws.emit('message', bytes, false));
  socket.receive(frame(0x81, bytes));
};
const now = () => performance.now();

describe('a connection', () => {
  it('is closed after its lifetime with the error of the API, at once where it is idle', () => {
    session.sweep(now() + 1_001);
    expect(ws.sent).toMatchObject([{ type: 'error', code: 'websocket_connection_limit_reached' }]);
    expect(ws.code).toBe(1001);
  });

  it('is closed after its lifetime when the running response has ended', () => {
    receive();
    session.sweep(now() + 1_001);
    expect(ws.code).toBeNull();
    turns[0]!.endStream('event: response.in_progress\ndata: {"type":"response.in_progress"}\n\n');
    expect(ws.sent.map(({ type }) => type)).toEqual(['response.in_progress', 'error']);
    expect(ws.code).toBe(1001);
  });

  it('is closed where it is idle for long, and not while a response runs', () => {
    receive();
    session.sweep(now() + 700);
    expect(ws.code).toBeNull();
    turns[0]!.endStream('');
    session.sweep(now() + 700);
    expect(ws.code).toBe(1001);
  });

  it('is pinged, and ended where no answer comes, except while the client reads', () => {
    session.sweep(now() + 100);
    expect(ws.pings).toBe(1);
    socket.receive(frame(0x8a));
    session.sweep(now() + 201);
    expect([ws.pings, ws.terminated]).toEqual([2, false]);
    socket.writableLength = 1;
    session.sweep(now() + 302);
    expect(ws.terminated).toBe(false);
    socket.writableLength = 0;
    session.sweep(now() + 403);
    expect(ws.terminated).toBe(true);
  });

  it('is reset where an ended response is not read', () => {
    receive();
    socket.writableLength = 10;
    turns[0]!.endStream('');
    expect(socket.timeoutMs).toBe(times.unreadMs);
    socket.emit('timeout');
    expect(socket.reset).toBe(true);
  });

  it('is busy while a response runs, and drains when it has ended', () => {
    expect(session.isBusy).toBe(false);
    receive();
    receive();
    expect(session.isBusy).toBe(true);
    session.closeUnlessAnswering();
    expect(ws.code).toBeNull();
    turns[0]!.endStream('');
    expect(ws.code).toBe(1001);
    expect(turns).toHaveLength(1);
    ws.emit('close');
    expect([closed, memory.heldBytes]).toEqual([1, 0]);
  });

  it('whose client does not read is served no further until it has', () => {
    socket.writableLength = 1;
    receive();
    receive();
    expect([turns.length, socket.taken.length]).toEqual([0, 1]);
    socket.writableLength = 0;
    socket.taken[0]!();
    expect(turns).toHaveLength(1);
  });

  it('has one pong waiting, with the data of the newest ping', () => {
    for (const data of ['1', '2', '3']) ws.emit('ping', Buffer.from(data));
    expect(ws.pongs).toEqual(['1']);
    ws.pongTaken!();
    ws.pongTaken!();
    expect(ws.pongs).toEqual(['1', '3']);
    ws.emit('ping', Buffer.from('4'));
    expect(ws.pongs).toEqual(['1', '3', '4']);
  });

  it('that closes tells the running response, once', () => {
    receive();
    let left = 0;
    turns[0]!.onGone = () => void left++;
    ws.emit('close');
    turns[0]!.abandon();
    expect([left, turns[0]!.gone]).toEqual([1, true]);
  });
});

describe('a message that is arriving', () => {
  const begun = (bytes: number) => frame(0x81, Buffer.alloc(20_000)).subarray(0, bytes);

  it('counts as a body until it is complete', () => {
    socket.receive(begun(1_000));
    expect(memory.heldBytes).toBeGreaterThan(1_000);
    ws.emit('message', message, false);
    session.framesHandled(false);
    expect(memory.heldBytes).toBe(0);
    receive();
    expect(memory.heldBytes).toBeGreaterThan(0);
  });

  it('is refused where there is no room for it, and nothing more is read', () => {
    socket.receive(begun(9_000));
    socket.receive(Buffer.alloc(9_000));
    expect(ws.sent).toMatchObject([{ type: 'error', status: 503 }]);
    expect([ws.code, socket.paused, memory.heldBytes]).toEqual([1013, true, 0]);
    socket.receive(Buffer.alloc(1));
    expect(socket.readableLength).toBe(1);
  });

  it('is refused where it does not go on, also where it began together with the end of another', async () => {
    socket.once('data', () => ws.emit('message', message, false));
    socket.receive(Buffer.concat([frame(0x81, message), begun(3)]));
    await expect.poll(() => ws.code, { timeout: 20_000 }).toBe(1013);
    expect(ws.sent).toMatchObject([{ type: 'error', status: 408 }]);
  });

  it('is not one where only control frames come, however many at once', () => {
    socket.receive(Buffer.concat(Array.from({ length: 50 }, () => frame(0x89, 'x'))));
    expect(memory.heldBytes).toBe(0);
  });
});

describe('frames that are no requests', () => {
  const pings = (count: number) => Buffer.alloc(count * 6, frame(0x89));

  it('are counted with the key, and close the connection where there are no requests left', async () => {
    countRefusal = gatewayError('ip_rate_limited', { limit: 1, seconds: 1 });
    socket.receive(pings(170));
    await expect
      .poll(() => [ws.code, ws.reason])
      .toEqual([1008, 'Frames beyond 120 a minute count as requests, and the address has none left.']);
    expect(counted).toEqual([50]);
  });

  it('are closed out with the first binary one', async () => {
    socket.receive(frame(2, 'x'));
    await expect.poll(() => [ws.code, ws.reason]).toEqual([1003, 'A binary message came. Messages are texts of JSON.']);
  });
});
