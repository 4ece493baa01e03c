/** Sends bytes on a socket as they are and reads what comes back, for everything that a well-behaved client cannot do. */
import { connect, type Socket } from 'node:net';
import { searchError } from './secrets.js';

export interface RawResponse {
  status: number;
  /** Names in lower case; the last of a repeated one. */
  headers: Record<string, string>;
  /** The body, out of its chunked coding. */
  body: string;
  json: unknown;
  /** Everything that was received, also further responses. */
  raw: Buffer;
  closedByPeer: boolean;
}

export interface RawOptions {
  /** Stop when nothing has come for this long, whatever has come; without it, soon after a whole answer. */
  idleMs?: number;
  /** Close our writing side after the bytes. */
  end?: boolean;
}

/** How long an answer may take on a machine that is busy with other suites. */
const answerMs = 60_000;
const quietTurns = 4;
/** Bytes that come together are looked at together: to look at each piece would copy all that came before it, again and again. */
const gatherMs = 2;
/** What a condition reads may be something else than the bytes. */
const checkMs = 50;
/** A close that was announced is worth waiting for; where a body is thrown away before it, it may take long. */
const closingTurns = 60;

export class RawConnection {
  private pieces: Buffer[] = [];
  closedByPeer = false;
  private lastAt = performance.now();
  private readonly waiting = new Set<() => void>();

  private constructor(readonly socket: Socket) {
    const tell = () => {
      for (const wake of this.waiting) wake();
    };
    const closed = () => {
      this.closedByPeer = true;
      tell();
    };
    socket.on('data', (bytes) => {
      this.pieces.push(bytes);
      this.lastAt = performance.now();
      tell();
    });
    socket.on('error', closed);
    socket.on('end', closed);
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawConnection(socket)));
    });
  }

  get received(): Buffer {
    if (this.pieces.length !== 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0]!;
  }

  /** Resolves soon after something came or the peer closed, at the latest after the time. A timer every few milliseconds would cost more. */
  private news(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      let timer = setTimeout(done, Math.max(withinMs, 1));
      const wake = () => {
        if (this.closedByPeer) return done();
        this.waiting.delete(wake);
        clearTimeout(timer);
        timer = setTimeout(done, gatherMs);
        return undefined;
      };
      this.waiting.add(wake);
    });
  }

  write(bytes: string | Uint8Array): Promise<void> {
    if (this.socket.destroyed || this.closedByPeer) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off('close', done);
        resolve();
      };
      this.socket.once('close', done);
      this.socket.write(bytes, done);
    });
  }

  /** Until the peer closes or falls silent. */
  async readUntilIdle(idleMs = 300): Promise<RawResponse> {
    this.lastAt = performance.now();
    while (!this.closedByPeer && performance.now() - this.lastAt < idleMs) {
      await this.news(idleMs - (performance.now() - this.lastAt));
    }
    return responseOf(this.received, this.closedByPeer);
  }

  /**
   * Until the peer closes, or nothing more follows a whole answer. That is told by turns of the loop and not by the clock: what is
   * on its way on a busy machine is read in one of them.
   */
  async readAnswer(method: string): Promise<RawResponse> {
    const until = performance.now() + answerMs;
    for (let turns = 0, seen = 0, whole = false; !this.closedByPeer && performance.now() < until; ) {
      await this.news(whole ? 5 : checkMs);
      const { received } = this;
      if (received.length !== seen) whole = isWhole(received, method);
      turns = received.length === seen && whole ? turns + 1 : 0;
      seen = received.length;
      if (turns === (saysClose(received) ? closingTurns : quietTurns)) break;
    }
    return responseOf(this.received, this.closedByPeer);
  }

  /** Until the condition holds for the bytes so far, the peer closes, or the time is over. */
  async readUntil(condition: (received: Buffer) => boolean, timeoutMs = 30_000): Promise<RawResponse> {
    const until = performance.now() + timeoutMs;
    while (!this.closedByPeer && performance.now() < until && !condition(this.received)) {
      await this.news(Math.min(checkMs, until - performance.now()));
    }
    return responseOf(this.received, this.closedByPeer);
  }

  /** RST, as a vanished caller's system sends it. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Opens a connection, sends the bytes, reads until close, the end of an answer or silence, closes. */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { idleMs, end = false }: RawOptions = {},
): Promise<RawResponse> {
  const connection = await RawConnection.open(url);
  await connection.write(bytes);
  if (end) connection.socket.end();
  const method = Buffer.from(bytes.slice(0, 5)).toString('latin1').split(' ', 1)[0] ?? '';
  const response = idleMs === undefined ? await connection.readAnswer(method) : await connection.readUntilIdle(idleMs);
  connection.close();
  return response;
}

/** The bytes of a request with a JSON body and a right content-length. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body = ''): Buffer {
  const fields = { host: 'lodestone.test', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

function responseOf(raw: Buffer, closedByPeer: boolean): RawResponse {
  const headEnd = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = raw.subarray(0, Math.max(headEnd, 0)).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const body = headEnd < 0 ? '' : bodyOf(raw.subarray(headEnd + 4), headers);
  const status = Number(statusLine.split(' ')[1] ?? 0);
  if (status >= 400) searchError('a raw answer', raw.toString('latin1'));
  return { status, headers, body, json: jsonOf(body), raw, closedByPeer };
}

const saysClose = (raw: Buffer): boolean =>
  /^connection: close\r$/im.test(raw.toString('latin1', 0, raw.indexOf('\r\n\r\n') + 2));

/** Whether the first answer in the bytes has come to its end. */
function isWhole(raw: Buffer, method: string): boolean {
  const headEnd = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, Math.max(headEnd, 0));
  if (headEnd < 0 || /^HTTP\/1\.1 1/.test(head)) return false;
  if (method === 'HEAD' || /^HTTP\/1\.1 [23]04/.test(head)) return true;
  if (/^transfer-encoding: chunked\r?$/im.test(head)) return raw.subarray(-5).equals(lastChunk);
  return raw.length >= headEnd + 4 + Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1] ?? Infinity);
}

const lastChunk = Buffer.from('0\r\n\r\n');

function bodyOf(bytes: Buffer, headers: Record<string, string>): string {
  if (headers['content-length'] !== undefined) return bytes.subarray(0, Number(headers['content-length'])).toString();
  if (!/chunked/i.test(headers['transfer-encoding'] ?? '')) return bytes.toString();
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (lineEnd < 0 || !(size > 0)) break;
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces).toString();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
