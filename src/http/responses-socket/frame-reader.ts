/**
 * Reads a WebSocket in small steps. `ws` handles all frames of a piece of bytes at once, and 64 KiB hold 10,000 of them. So it is given
 * little at a time, a turn of the event loop has room for a number of frames of all sockets, and each socket may send a number of frames
 * a minute that are no requests. Those beyond count as requests; until it is known whether there are any left, nothing is read.
 */
import type { Socket } from 'node:net';
import { FrameCounter } from './frame-counter.js';

/** The bytes that are given to `ws` at once, unless they are of one frame. 170 frames fit in. */
const stepBytes = 1024;
/** The frames of all sockets in a turn of the event loop, but for the last step. */
const framesPerTurn = 256;
/** A client answers two pings of ours in a minute, and may send one of its own each second. */
export const freeFramesPerMinute = 120;
const minuteMs = 60_000;

export interface FrameOwner {
  /** False once the connection is being closed. */
  readonly isOpen: boolean;
  /** Bytes have come, before `ws` has them; so many of them belong to messages. */
  bytesCame(messageBytes: number): void;
  /** A binary message has begun. */
  binaryCame(): void;
  /** `ws` has handled all that was given to it. */
  framesHandled(isInMessage: boolean): void;
  /** Counts frames as requests, and closes the connection where there are none left. Never rejects. */
  countAsRequests(frames: number): Promise<void>;
}

export class FrameReader {
  private readonly counter = new FrameCounter();
  private freeLeft = freeFramesPerMinute;
  private renewedAtMs = performance.now();
  private awaitsCount = false;
  private stopped = false;

  constructor(
    private readonly socket: Socket,
    private readonly owner: FrameOwner,
    private readonly turns: FrameTurns,
  ) {
    // With a listener for `readable`, `data` comes with each `read` and at no other time.
    socket
      .prependListener('data', (bytes: Buffer) => this.count(bytes))
      .on('readable', () => this.read())
      // `ws` would handle at once what is left.
      .prependListener('close', () => void socket.read());
  }

  /** Nothing more is read. */
  stop(): void {
    this.stopped = true;
    this.socket.pause();
  }

  /** Called from time to time. */
  sweep(nowMs: number): void {
    if (nowMs - this.renewedAtMs < minuteMs) return;
    this.renewedAtMs = nowMs;
    this.freeLeft = freeFramesPerMinute;
  }

  read(): void {
    const { socket, counter, owner } = this;
    while (!this.stopped && !this.awaitsCount) {
      const there = socket.readableLength;
      if (there === 0) {
        // Asks for more, and finds the end.
        socket.read();
        return;
      }
      if (this.turns.isFull) {
        this.turns.wait(this);
        break;
      }
      socket.read(Math.min(there, Math.max(stepBytes, counter.payloadLeft)));
      owner.framesHandled(counter.isInMessage);
    }
    // Each `read` also makes the socket receive more, however much it holds.
    socket.pause();
  }

  private count(bytes: Buffer): void {
    const { counter, owner } = this;
    counter.count(bytes);
    this.turns.use(counter.frames);
    owner.bytesCame(counter.messageBytes);
    if (counter.hasBinary) owner.binaryCame();
    // Messages to a connection that is being closed are no requests either.
    const frames = owner.isOpen ? counter.extraFrames : counter.frames;
    const extra = frames - this.freeLeft;
    this.freeLeft = Math.max(0, -extra);
    if (extra <= 0) return;
    if (owner.isOpen) void this.countAsRequests(extra);
    else this.stop();
  }

  private async countAsRequests(frames: number): Promise<void> {
    this.awaitsCount = true;
    await this.owner.countAsRequests(frames);
    this.awaitsCount = false;
    // A few more are read after a close, to find the client's own.
    if (!this.owner.isOpen) this.freeLeft = freeFramesPerMinute;
    this.turns.wait(this);
  }
}

/** Shares the turns of the event loop among all sockets, in the order in which they came to wait. While few frames come, none waits. */
export class FrameTurns {
  private left = framesPerTurn;
  private readonly waiting = new Set<FrameReader>();
  private isPlanned = false;

  get isFull(): boolean {
    return this.left <= 0;
  }

  use(frames: number): void {
    this.left -= frames;
  }

  wait(reader: FrameReader): void {
    this.waiting.add(reader);
    this.plan();
  }

  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.isPlanned = false;
    this.left = framesPerTurn;
    for (const reader of this.waiting) {
      if (this.isFull) break;
      this.waiting.delete(reader);
      reader.read();
    }
    if (this.waiting.size > 0) this.plan();
  }
}
