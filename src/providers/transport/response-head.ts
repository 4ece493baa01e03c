/** The parts of an upstream's response head that the gateway uses. Headers of an upstream never reach a client. */

/** Only this much of an error body is read. */
export const errorBytesMax = 64 * 1024;

/** How server-sent events begin: with the right content type, and without it. */
const notBareJson = /^\s*[^\s{[]|^\s*$/;
const namedField = /^\s*(?:data|event|id|retry)?:/;

export class ResponseHead {
  /** The content encoding; empty where there is none. */
  readonly encoding: string;
  readonly contentType: string;

  constructor(
    readonly status: number,
    private readonly headers: readonly string[],
  ) {
    let contentType = '';
    let encoding = '';
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const { length } = headers[i]!;
      // Only the two wanted names have these lengths.
      if (length !== 12 && length !== 16) continue;
      const name = headers[i]!.toLowerCase();
      if (name === 'content-type') contentType = headers[i + 1]!.toLowerCase();
      else if (name === 'content-encoding') encoding += `${encoding && ','}${headers[i + 1]!.trim().toLowerCase()}`;
    }
    this.contentType = contentType;
    this.encoding = encoding === 'identity' ? '' : encoding;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get isEventStream(): boolean {
    return this.contentType.startsWith('text/event-stream');
  }

  /**
   * Whether a body that begins like this is a stream. The content type decides; without one, the first bytes do, because some servers
   * stream without naming it. A bare JSON value is never a stream: it is an error in the place of one.
   */
  startsEvents(chunk: Buffer): boolean {
    return (this.isEventStream ? notBareJson : namedField).test(chunk.toString('latin1', 0, 64));
  }

  /** AWS's own framing of a stream. */
  get isAmazonEventStream(): boolean {
    return this.contentType.startsWith('application/vnd.amazon.eventstream');
  }

  header(wanted: string): string | undefined {
    for (let i = 0; i + 1 < this.headers.length; i += 2) {
      if (this.headers[i]!.toLowerCase() === wanted) return this.headers[i + 1]!;
    }
    return undefined;
  }
}
