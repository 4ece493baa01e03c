/**
 * Decodes the chunked coding in place: moves the data of all chunks of a read to the front of the given bytes, so that data that
 * arrived together is passed on together.
 */
import { HttpFault } from './head.js';

type Part = 'size' | 'extension' | 'size_lf' | 'data' | 'data_cr' | 'data_lf' | 'trailer' | 'trailer_lf';

const cr = 13;
const lf = 10;
const sizeMax = 0xffff_ffff;
const lineBytesMax = 1024;
const trailerBytesMax = 16 * 1024;

export class ChunkedBody {
  ended = false;
  /** Bytes followed the end. */
  excess = false;
  private part: Part = 'size';
  private size = 0;
  private digits = 0;
  private lineBytes = 0;
  private trailerLine = 0;
  private trailerBytes = 0;

  reset(): void {
    this.ended = this.excess = false;
    this.startSize();
    this.trailerLine = this.trailerBytes = 0;
  }

  /** Returns the data as a view on the given bytes, which are overwritten. */
  decode(bytes: Buffer): Buffer {
    let to = 0;
    let at = 0;
    while (at < bytes.length && !this.ended) {
      if (this.part === 'data') {
        const length = Math.min(this.size, bytes.length - at);
        if (to !== at) bytes.copyWithin(to, at, at + length);
        to += length;
        at += length;
        this.size -= length;
        if (this.size === 0) this.part = 'data_cr';
      } else {
        this.step(bytes[at++]!);
      }
    }
    if (at < bytes.length) this.excess = true;
    return bytes.subarray(0, to);
  }

  private startSize(): void {
    this.part = 'size';
    this.size = this.digits = this.lineBytes = 0;
  }

  private step(byte: number): void {
    switch (this.part) {
      case 'size':
        this.sizeByte(byte);
        break;
      case 'extension':
        if (byte === cr) this.part = 'size_lf';
        else if (isControl(byte) || ++this.lineBytes > lineBytesMax) throw broken();
        break;
      case 'size_lf':
        if (byte !== lf) throw broken();
        this.part = this.size === 0 ? 'trailer' : 'data';
        break;
      case 'data_cr':
        if (byte !== cr) throw broken();
        this.part = 'data_lf';
        break;
      case 'data_lf':
        if (byte !== lf) throw broken();
        this.startSize();
        break;
      case 'trailer':
        this.trailerByte(byte);
        break;
      case 'trailer_lf':
        if (byte !== lf) throw broken();
        if (this.trailerLine === 0) this.ended = true;
        this.trailerLine = 0;
        this.part = 'trailer';
        break;
    }
  }

  private sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.size = this.size * 16 + digit;
      if (++this.digits > 8 || this.size > sizeMax) throw broken();
    } else if (this.digits === 0) throw broken();
    else if (byte === cr) this.part = 'size_lf';
    else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.part = 'extension';
    else throw broken();
  }

  /** Trailers are skipped; an empty line ends them. */
  private trailerByte(byte: number): void {
    if (++this.trailerBytes > trailerBytesMax) throw broken();
    if (byte === cr) this.part = 'trailer_lf';
    else if (isControl(byte)) throw broken();
    else this.trailerLine++;
  }
}

/** A tab is white space; every other control character, such as a bare LF, is not allowed in a line. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09) || byte === 0x7f;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function broken(): HttpFault {
  return new HttpFault('its chunked body is broken');
}
