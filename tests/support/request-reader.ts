/** Reads HTTP/1.1 requests off a socket, one after another: heads first, then bodies of either framing. For tests only. */

interface RequestHead {
  method: string;
  path: string;
  headers: Record<string, string>;
  rawHead: string;
}

export interface RequestEvents {
  onHead(head: RequestHead): void;
  onBody(body: Buffer): void;
}

export class RequestReader {
  private buffered: Buffer = Buffer.alloc(0);
  private pieces: Buffer[] = [];
  private missing = 0;
  private state: 'head' | 'length' | 'chunk-size' | 'chunk' | 'trailer' = 'head';

  constructor(private readonly events: RequestEvents) {}

  push(bytes: Buffer): void {
    this.buffered = this.buffered.length === 0 ? bytes : Buffer.concat([this.buffered, bytes]);
    while (this.step());
  }

  /** True where something was consumed and there may be more. */
  private step(): boolean {
    switch (this.state) {
      case 'head':
        return this.readHead();
      case 'length':
        return this.readLength();
      case 'chunk-size':
        return this.readChunkSize();
      case 'chunk':
        return this.readChunk();
      case 'trailer':
        return this.readTrailer();
    }
  }

  private readHead(): boolean {
    const end = this.buffered.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = headOf(this.take(end + 4).toString('latin1'));
    this.events.onHead(head);
    if (/chunked/i.test(head.headers['transfer-encoding'] ?? '')) {
      this.state = 'chunk-size';
    } else {
      this.missing = Number(head.headers['content-length'] ?? 0);
      this.state = 'length';
    }
    return true;
  }

  private readLength(): boolean {
    this.collect();
    if (this.missing > 0) return false;
    this.finish();
    return this.buffered.length > 0;
  }

  private readChunkSize(): boolean {
    const end = this.buffered.indexOf('\r\n');
    if (end < 0) return false;
    this.missing = Number.parseInt(this.take(end + 2).toString('latin1'), 16);
    this.state = this.missing === 0 ? 'trailer' : 'chunk';
    return true;
  }

  private readChunk(): boolean {
    this.collect();
    if (this.missing > 0 || this.buffered.length < 2) return false;
    this.take(2);
    this.state = 'chunk-size';
    return true;
  }

  private readTrailer(): boolean {
    const end = this.buffered.indexOf('\r\n');
    if (end < 0) return false;
    if (this.take(end + 2).length === 2) this.finish();
    return true;
  }

  private collect(): void {
    const piece = this.take(Math.min(this.missing, this.buffered.length));
    if (piece.length > 0) this.pieces.push(piece);
    this.missing -= piece.length;
  }

  private take(count: number): Buffer {
    const taken = this.buffered.subarray(0, count);
    this.buffered = this.buffered.subarray(count);
    return taken;
  }

  private finish(): void {
    const body = Buffer.concat(this.pieces);
    this.pieces = [];
    this.state = 'head';
    this.events.onBody(body);
  }
}

function headOf(rawHead: string): RequestHead {
  const [requestLine = '', ...lines] = rawHead.trimEnd().split('\r\n');
  const [method = '', path = ''] = requestLine.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { method, path, headers, rawHead };
}
