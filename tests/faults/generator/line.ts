/** A connection that sends bytes as they are and reads what comes back, with a timeout for every wait. */
import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './answer-reader.js';

export class Line {
  ended = false;
  private reader = new AnswerReader([]);
  private wake: (() => void) | null = null;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (bytes) => {
      this.reader.push(bytes);
      this.wake?.();
    });
    const end = () => {
      this.ended = true;
      this.wake?.();
    };
    // A reset is an end, too: what was read before it is what counts.
    socket.on('error', end).on('end', end).on('close', end);
  }

  static open(url: string): Promise<Line> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Line(socket));
      });
    });
  }

  get answers(): readonly Answer[] {
    return this.reader.answers;
  }

  get fault(): string | null {
    if (this.reader.fault !== null) return this.reader.fault;
    return this.ended && this.reader.unfinished ? 'the connection ended in an answer' : null;
  }

  /** Forgets the answers so far; the next ones are to these methods. */
  begin(methods: readonly string[]): void {
    this.reader = new AnswerReader(methods);
  }

  async send(bytes: Buffer, pieceBytes = bytes.length): Promise<void> {
    for (let at = 0; at < bytes.length && !this.ended; at += pieceBytes) {
      this.socket.write(bytes.subarray(at, at + pieceBytes));
      if (pieceBytes < bytes.length) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Until `done` holds, the peer has ended, or nothing has come for so long; true where `done` holds. */
  async wait(done: () => boolean, quietMs: number): Promise<boolean> {
    while (!done() && !this.ended) {
      let timer: NodeJS.Timeout | undefined;
      const woken = await new Promise<boolean>((resolve) => {
        this.wake = () => resolve(true);
        timer = setTimeout(() => resolve(false), quietMs);
      });
      clearTimeout(timer);
      this.wake = null;
      if (!woken) break;
    }
    return done();
  }

  /** Nothing more will be sent; the gateway takes that for the caller's leave. */
  finish(): void {
    this.socket.end();
  }

  leave(how: 'reset' | 'close'): void {
    if (how === 'reset') this.socket.resetAndDestroy();
    else this.socket.destroy();
  }
}
