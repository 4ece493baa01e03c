import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { BodyMemory } from '../../limits/body-memory.js';
import { unknownTerritory } from '../../territory/territory.js';
import { Conversations } from './conversations.js';
import { SocketSession } from './session.js';
import type { SocketTurn } from './socket-turn.js';

class FakeSocket extends EventEmitter {
  writableLength = 0;
  writableNeedDrain = false;
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
  code: number | null = null;
  terminated = false;
  paused = false;
  send(message: Buffer): void {
    this.sent.push(JSON.parse(String(message)));
  }
  ping(): void {
    this.pings++;
  }
  pause(): void {
    this.paused = true;
  }
  close(code: number): void {
    this.code = code;
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

beforeEach(() => {
  memory = new BodyMemory({ bytesMax: 40_000, stallMs: 60 });
  ws = new FakeWs();
  socket = new FakeSocket();
  turns = [];
  closed = 0;
  session = new SocketSession({
    ...{ ws: ws as unknown as WebSocket, socket: socket as unknown as Socket, bodyMemory: memory, times },
    origin: { address: '192.0.2.1', territory: unknownTerritory },
    authorization: undefined,
    header: () => undefined,
    owner: 'a',
    conversations: new Conversations(),
    serve: (turn) => void turns.push(turn),
    closed: () => void closed++,
  });
});
afterEach(() => memory.close());

const receive = (bytes = message) => {
  socket.emit('data', bytes);
  ws.emit('message', bytes, false);
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
    socket.emit('data', Buffer.alloc(6));
    ws.emit('pong');
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

  it('whose client does not read is served no further, and ended where it lets answers pile up', () => {
    socket.writableNeedDrain = true;
    receive();
    expect(turns).toHaveLength(0);
    socket.writableNeedDrain = false;
    socket.emit('drain');
    expect(turns).toHaveLength(1);
    ws.emit('ping');
    expect(ws.terminated).toBe(false);
    socket.writableLength = 17 * 1024 * 1024;
    ws.emit('ping');
    expect(ws.terminated).toBe(true);
    ws.terminated = false;
    ws.emit('message', message, true);
    expect(ws.terminated).toBe(true);
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
  it('counts as a body until it is complete', () => {
    socket.emit('data', Buffer.alloc(1_000));
    expect(memory.heldBytes).toBeGreaterThan(1_000);
    ws.emit('message', message, false);
    expect(memory.heldBytes).toBe(0);
    receive();
    expect(memory.heldBytes).toBeGreaterThan(0);
  });

  it('is refused where there is no room for it, and nothing more is read', () => {
    socket.emit('data', Buffer.alloc(9_000));
    socket.emit('data', Buffer.alloc(9_000));
    expect(ws.sent).toMatchObject([{ type: 'error', status: 503 }]);
    expect([ws.code, ws.paused, memory.heldBytes]).toEqual([1013, true, 0]);
  });

  it('is refused where it does not go on', async () => {
    socket.emit('data', Buffer.alloc(200));
    await expect.poll(() => ws.code, { timeout: 20_000 }).toBe(1013);
    expect(ws.sent).toMatchObject([{ type: 'error', status: 408 }]);
  });
});
