/**
 * Walks along the frames of a WebSocket and counts them. It reads their heads only; `ws` reads the frames and finds what is wrong with them.
 * Long frames it also unmasks in place, while they arrive: `ws` would do so with all of a frame at once, which holds everybody up.
 */

/** A part of a message that is shorter counts. Clients that send messages in parts use some of 16 KiB and more. */
const partBytesMin = 1024;
/** A frame of so many bytes is unmasked here. */
const longBytesMin = 64 * 1024;
const binaryOpcode = 2;
/** The first opcode of a control frame: close, ping, pong. */
const controlOpcode = 8;

export class FrameCounter {
  /** Of the bytes that were counted last: the frames that began in them. */
  frames = 0;
  /** Those of them that are neither the end of a message, which is a request, nor a large part of one. */
  extraFrames = 0;
  /** The bytes of them that belong to messages. */
  messageBytes = 0;
  /** Whether a binary message has begun at any time. */
  hasBinary = false;
  /** What is left of the frame that has begun. */
  payloadLeft = 0;
  private opcode = 0;
  private isFinal = false;
  private length = 0;
  /** How many bytes of a head are there, how many of its length and how many of it in all are missing. */
  private headBytes = 0;
  private lengthLeft = 0;
  private headLeft = 0;
  private messageHasBegun = false;
  private readonly mask = new Uint8Array(4);

  /** Whether a message has begun and not ended. */
  get isInMessage(): boolean {
    return this.messageHasBegun || (this.headBytes > 0 && this.opcode < controlOpcode);
  }

  count(bytes: Uint8Array): void {
    this.frames = 0;
    this.extraFrames = 0;
    this.messageBytes = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.payloadLeft === 0) {
        this.takeHead(bytes, at++);
        if (this.opcode < controlOpcode) this.messageBytes++;
        continue;
      }
      const used = Math.min(this.payloadLeft, bytes.length - at);
      if (this.length >= longBytesMin) this.unmask(bytes, at, at + used);
      at += used;
      this.payloadLeft -= used;
      if (this.opcode < controlOpcode) this.messageBytes += used;
      if (this.payloadLeft === 0) this.endFrame();
    }
  }

  private takeHead(bytes: Uint8Array, at: number): void {
    const byte = bytes[at]!;
    if (this.headBytes++ === 0) {
      this.opcode = byte & 15;
      this.isFinal = byte >= 128;
      return;
    }
    if (this.headBytes === 2) {
      const short = byte & 127;
      this.lengthLeft = short === 127 ? 8 : short === 126 ? 2 : 0;
      this.length = this.lengthLeft > 0 ? 0 : short;
      // The mask comes last. A frame without one is an error, which `ws` finds.
      this.headLeft = this.lengthLeft + (byte >= 128 ? 4 : 0);
    } else {
      this.headLeft--;
      if (this.lengthLeft > 0) {
        this.lengthLeft--;
        this.length = this.length * 256 + byte;
      } else if (this.length >= longBytesMin) {
        this.mask[3 - this.headLeft] = byte;
        // `ws` leaves a frame alone whose mask is zero.
        bytes[at] = 0;
      }
    }
    if (this.headLeft === 0) this.beginFrame();
  }

  private beginFrame(): void {
    this.headBytes = 0;
    this.payloadLeft = this.length;
    this.frames++;
    if (this.opcode >= controlOpcode) this.extraFrames++;
    else {
      this.messageHasBegun = true;
      if (this.opcode === binaryOpcode) this.hasBinary = true;
      if (!this.isFinal && this.length < partBytesMin) this.extraFrames++;
    }
    if (this.payloadLeft === 0) this.endFrame();
  }

  private unmask(bytes: Uint8Array, from: number, to: number): void {
    const { mask } = this;
    const shift = this.length - this.payloadLeft - from;
    for (let at = from; at < to; at++) bytes[at]! ^= mask[(at + shift) & 3]!;
  }

  private endFrame(): void {
    if (this.isFinal && this.opcode < controlOpcode) this.messageHasBegun = false;
  }
}
