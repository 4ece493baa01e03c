/**
 * Reads server-sent events out of bytes cut anywhere: LF, CRLF and CR line ends, several `data:` lines, comments, a byte-order
 * mark, a last event without its blank line. Text is latin1 (one character a byte), so a split UTF-8 character cannot be
 * harmed. Linear in the bytes read, and capped: a frame that never ends is reported, not collected for ever.
 */
export interface FrameSink {
  /** The data of one event is `text.slice(start, end)`. */
  onFrame(text: string, start: number, end: number, event: string): void;
  onOverflow(): void;
}

export const frameCharactersMax = 16 * 1024 * 1024;

const newline = 10;
const byteOrderMark = '\u00ef\u00bb\u00bf';
const mayEndEvent = /\n\n|\r\r|\n\r/;

export class FrameReader {
  /** Set by the consumer when it wants nothing more. */
  stopped = false;
  private pending: string[] = [];
  private pendingLength = 0;
  /** The last characters of what is pending: an event's end may lie across two chunks. */
  private seam = '';
  private atStart = true;
  /** A CR was taken as the end of a line; a LF right after it belongs to it. */
  private afterCarriageReturn = false;

  constructor(private readonly sink: FrameSink) {}

  read(chunk: Buffer): void {
    if (this.stopped || chunk.length === 0) return;
    let text = chunk.toString('latin1');
    if (this.afterCarriageReturn) {
      this.afterCarriageReturn = false;
      if (text.charCodeAt(0) === newline) text = text.slice(1);
    }
    if (this.atStart) {
      text = this.takePending() + text;
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
      this.take(this.takePending() + text);
    } else {
      this.hold(text);
    }
  }

  /** The bytes have ended: what is left is the last event, even without a blank line. */
  finish(): void {
    if (this.pendingLength > 0 && !this.stopped) this.take(`${this.takePending()}\n\n`);
  }

  private hold(text: string): void {
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

  private takePending(): string {
    const text = this.pending.length === 1 ? this.pending[0]! : this.pending.join('');
    this.pending = [];
    this.pendingLength = 0;
    this.seam = '';
    return text;
  }

  private take(text: string): void {
    const carriageReturn = text.indexOf('\r');
    if (carriageReturn !== -1 && carriageReturn === text.length - 4 && isOneEvent(text)) {
      this.sink.onFrame(text, 6, carriageReturn, '');
    } else if (carriageReturn !== -1) {
      // A CR at the very end may be half of a CRLF, but it ends its line either way, and no frame waits for the next chunk.
      this.afterCarriageReturn = text.endsWith('\r');
      this.takeLines(text.replace(/\r\n?/g, '\n'));
    } else {
      this.takeLines(text);
    }
  }

  private takeLines(text: string): void {
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
    if (at < text.length && !this.stopped) this.hold(at === 0 ? text : copyOf(text.slice(at)));
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
    if (data !== undefined) this.sink.onFrame(data, 0, data.length, event);
  }
}

/** A slice would keep the whole read alive while the rest of its frame does not come. */
function copyOf(slice: string): string {
  return Buffer.from(slice, 'latin1').toString('latin1');
}

/** One line of data with CRLF after it, as some write each event: there is nothing to replace in it. */
function isOneEvent(text: string): boolean {
  return text.endsWith('\r\n\r\n') && text.startsWith('data: ') && text.indexOf('\n') === text.length - 3;
}
