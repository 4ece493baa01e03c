/** Reads answers off a connection as strictly as HTTP/1.1 allows: whatever is not exactly right is a fault of the gateway. */

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]+$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;
const headEnd = Buffer.from('\r\n\r\n');

export class AnswerReader {
  readonly answers: Answer[] = [];
  /** The first thing that is not as it should be. */
  fault: string | null = null;
  private left: Buffer = Buffer.alloc(0);
  private head: { status: number; headers: Record<string, string> } | null = null;
  private answered = 0;

  /** The answer to a HEAD has no body; of requests that are not named any method but HEAD is assumed. */
  constructor(private readonly methods: readonly string[]) {}

  push(bytes: Buffer): void {
    this.left = this.left.length === 0 ? bytes : Buffer.concat([this.left, bytes]);
    while (this.fault === null && (this.head ? this.readBody() : this.readHead()));
  }

  /** To be asked when the connection has ended. */
  get unfinished(): boolean {
    return this.head !== null || this.left.length > 0;
  }

  private readHead(): boolean {
    const end = this.left.indexOf(headEnd);
    if (end < 0) return false;
    const [first = '', ...lines] = this.left.toString('latin1', 0, end).split('\r\n');
    this.left = this.left.subarray(end + headEnd.length);
    const status = Number(statusLine.exec(first)?.[1] ?? 0);
    if (status === 0) return this.wrong(`the status line ${JSON.stringify(first.slice(0, 100))}`);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [, written, value = ''] = headerLine.exec(line) ?? [];
      const name = written?.toLowerCase();
      if (name === undefined) return this.wrong(`the header line ${JSON.stringify(line.slice(0, 100))}`);
      if (headers[name] !== undefined) return this.wrong(`the header ${name} is there twice`);
      headers[name] = value;
    }
    if (status < 200) {
      if (status !== 100 || lines.length > 0) return this.wrong(`an interim ${status}`);
      return true;
    }
    this.head = { status, headers };
    return true;
  }

  private readBody(): boolean {
    const { status, headers } = this.head!;
    const { 'content-length': length, 'transfer-encoding': coding } = headers;
    if (this.methods[this.answered] === 'HEAD' || status === 204) return this.finish(Buffer.alloc(0), 0);
    if (coding !== undefined) return this.readChunks(coding, length);
    if (length === undefined || !/^(0|[1-9]\d*)$/.test(length)) return this.wrong(`the content-length ${length}`);
    if (this.left.length < Number(length)) return false;
    return this.finish(this.left.subarray(0, Number(length)), Number(length));
  }

  /** Only streams come in chunks. */
  private readChunks(coding: string, length: string | undefined): boolean {
    const isStream = this.head!.headers['content-type']?.startsWith('text/event-stream') === true;
    if (coding !== 'chunked' || length !== undefined || !isStream) return this.wrong(`the transfer-encoding ${coding}`);
    const pieces: Buffer[] = [];
    for (let at = 0; ; ) {
      const lineEnd = this.left.indexOf('\r\n', at);
      if (lineEnd < 0) return false;
      const size = this.left.toString('latin1', at, lineEnd);
      if (!/^[0-9a-f]{1,8}$/.test(size)) return this.wrong(`the chunk size ${JSON.stringify(size.slice(0, 50))}`);
      const from = lineEnd + 2;
      const to = from + Number.parseInt(size, 16);
      if (this.left.length < to + 2) return false;
      if (this.left.toString('latin1', to, to + 2) !== '\r\n') return this.wrong('a chunk that does not end');
      at = to + 2;
      if (to === from) return this.finish(Buffer.concat(pieces), at);
      pieces.push(this.left.subarray(from, to));
    }
  }

  private finish(body: Buffer, length: number): boolean {
    this.answers.push({ ...this.head!, body });
    this.left = this.left.subarray(length);
    this.head = null;
    this.answered++;
    return this.left.length > 0;
  }

  private wrong(what: string): false {
    this.fault = what;
    return false;
  }
}
