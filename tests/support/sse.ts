/** Reads the frames of an event stream from raw bytes as a caller gets them, with the time at which each was complete. */

export interface SseFrame {
  /** The frame with its blank line, as it came. */
  raw: string;
  event: string | null;
  /** The `data:` lines joined by a newline; null on a frame of comments only. */
  data: string | null;
  /** The parsed data; undefined where it is no JSON, such as `[DONE]`. */
  json: unknown;
  /** `performance.now()`. */
  at: number;
}

export class SseReader {
  readonly frames: SseFrame[] = [];
  private rest: Buffer = Buffer.alloc(0);

  push(bytes: Uint8Array): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (let end = frameEnd(this.rest); end > 0; end = frameEnd(this.rest)) {
      this.frames.push(frameOf(this.rest.subarray(0, end).toString('utf8')));
      this.rest = this.rest.subarray(end);
    }
  }

  /** Bytes after the last complete frame: empty at the end of a sound stream. */
  get remainder(): string {
    return this.rest.toString('utf8');
  }

  get done(): boolean {
    return this.frames.at(-1)?.data === '[DONE]';
  }
}

function frameEnd(bytes: Buffer): number {
  const lf = bytes.indexOf('\n\n');
  const crlf = bytes.indexOf('\r\n\r\n');
  if (crlf >= 0 && (lf < 0 || crlf < lf)) return crlf + 4;
  return lf < 0 ? -1 : lf + 2;
}

function frameOf(raw: string): SseFrame {
  let event: string | null = null;
  const data: string[] = [];
  for (const line of raw.split(/\r?\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  const text = data.length > 0 ? data.join('\n') : null;
  return { raw, event, data: text, json: jsonOf(text), at: performance.now() };
}

function jsonOf(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
