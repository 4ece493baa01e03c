/**
 * Reads server-sent events from bytes that are split anywhere: LF, CRLF and CR line ends, several `data:` lines, comments, a
 * byte-order mark, a last event without its blank line, a bare object in place of an event. Text is latin1 (one character per byte), so that a split UTF-8 character
 * stays intact. The time is linear in the bytes, and a frame that never ends is reported instead of collected.
 */
import { asLatin1, copyLatin1, type Latin1Text, latin1OfBytes } from '../../base/latin1.js';

interface SseSink {
  /** The data of one event is `text.slice(start, end)`. */
  onFrame(text: Latin1Text, start: number, end: number, event: string): void;
  onOverflow(): void;
}

export const frameCharactersMax = 16 * 1024 * 1024;

const newline = 10;
const byteOrderMark = '\u00ef\u00bb\u00bf';
const mayEndEvent = /\n\n|\r\r|\n\r/;

export class SseReader {
  /** The consumer sets it to end the reading. */
  stopped = false;
  private pending: Latin1Text[] = [];
  private pendingLength = 0;
  /** The last characters of the pending text: the end of an event may be split between two chunks. */
  private seam = '';
  private atStart = true;
  /** The last character was a CR that ended a line; an LF right after it belongs to it. */
  private afterCarriageReturn = false;

  constructor(private readonly sink: SseSink) {}

  read(chunk: Buffer): void {
    if (this.stopped || chunk.length === 0) return;
    let text = latin1OfBytes(chunk);
    if (this.afterCarriageReturn) {
      this.afterCarriageReturn = false;
      if (text.charCodeAt(0) === newline) text = text.slice(1);
    }
    if (this.atStart) {
      text = asLatin1(this.takePending() + text);
      if (text.length < 3 && byteOrderMark.startsWith(text)) {
        this.hold(text);
        return;
      }
      if (text.startsWith(byteOrderMark)) text = text.slice(3);
      this.atStart = false;
    }
    if (this.pendingLength === 0) {
      this.take(text);
    } else if (mayEndEvent.test(this.seam + text)) {
      this.take(asLatin1(this.takePending() + text));
    } else {
      this.hold(text);
    }
  }

  /** The stream has ended: the rest is the last event, even without a blank line. */
  finish(): void {
    if (this.pendingLength > 0 && !this.stopped) this.take(asLatin1(`${this.takePending()}\n\n`));
  }

  private hold(text: Latin1Text): void {
    if (text.length === 0) return;
    this.pending.push(text);
    this.pendingLength += text.length;
    this.seam = (this.seam + text).slice(-2);
    if (this.pendingLength > frameCharactersMax) {
      this.stopped = true;
      this.takePending();
      this.sink.onOverflow();
    }
  }

  private takePending(): Latin1Text {
    const text = this.pending.length === 1 ? this.pending[0]! : asLatin1(this.pending.join(''));
    this.pending = [];
    this.pendingLength = 0;
    this.seam = '';
    return text;
  }

  private take(text: Latin1Text): void {
    const carriageReturn = text.indexOf('\r');
    if (carriageReturn !== -1 && carriageReturn === text.length - 4 && isOneEvent(text)) {
      this.sink.onFrame(text, 6, carriageReturn, '');
    } else if (carriageReturn !== -1) {
      // A CR at the end may be half of a CRLF. It ends the line either way, so the frame need not wait for the next chunk.
      this.afterCarriageReturn = text.endsWith('\r');
      this.takeLines(asLatin1(text.replace(/\r\n?/g, '\n')));
    } else {
      this.takeLines(text);
    }
  }

  private takeLines(text: Latin1Text): void {
    let at = 0;
    while (at < text.length && !this.stopped) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd === -1) break;
      if (lineEnd === at) {
        at++;
      } else if (text.charCodeAt(lineEnd + 1) === newline && text.startsWith('data: ', at)) {
        this.sink.onFrame(text, at + 6, lineEnd, '');
        at = lineEnd + 2;
      } else {
        const eventEnd = text.indexOf('\n\n', at);
        if (eventEnd === -1) break;
        this.takeEvent(text.slice(at, eventEnd));
        at = eventEnd + 2;
      }
    }
    if (at < text.length && !this.stopped) this.hold(at === 0 ? text : copyLatin1(text.slice(at)));
  }

  private takeEvent(block: string): void {
    let data: string | undefined;
    let event = '';
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      const field = colon === -1 ? line : line.slice(0, colon);
      if (field !== 'data' && field !== 'event') continue;
      const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
      if (field === 'event') event = value;
      else data = data === undefined ? value : `${data}\n${value}`;
    }
    // Gemini writes an error in mid-stream as a bare object.
    if (data === undefined && block.startsWith('{')) data = block;
    if (data !== undefined) this.sink.onFrame(asLatin1(data), 0, data.length, event);
  }
}

/** A single line of data with CRLF line ends, as some servers write every event: it needs no replacement. */
function isOneEvent(text: string): boolean {
  return text.endsWith('\r\n\r\n') && text.startsWith('data: ') && text.indexOf('\n') === text.length - 3;
}
