/** A collector on loopback that takes OTLP traces as protobuf, reads the few fields that tests look at, and can be slow. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  statusCode: number;
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

export interface Collector {
  readonly url: string;
  readonly posts: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  readonly spans: ReceivedSpan[];
  /** Resolves when as many spans have come in all. */
  waitForSpans(count: number, timeoutMs?: number): Promise<ReceivedSpan[]>;
  stop(): void;
}

/** With `silent` it takes everything and answers nothing. */
export async function startCollector({ silent = false } = {}): Promise<Collector> {
  const posts: Collector['posts'] = [];
  const spans: ReceivedSpan[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      posts.push({ path: req.url ?? '', headers: req.headers, body });
      spans.push(...spansIn(body));
      if (!silent) res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    spans,
    async waitForSpans(count, timeoutMs = 10_000) {
      for (const end = performance.now() + timeoutMs; spans.length < count && performance.now() < end; )
        await new Promise((resolve) => setTimeout(resolve, 20));
      if (spans.length < count) throw new Error(`${spans.length} of ${count} spans came.`);
      return spans;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Field {
  number: number;
  /** Bytes of a length-delimited field, else the number. */
  value: Buffer | bigint;
}

/** Protobuf's wire format: varints, 64 and 32 bits, and lengths with bytes. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) fields.push({ number, value: varint() });
    else {
      const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
      fields.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

const all = (bytes: Buffer, number: number): Buffer[] =>
  fieldsOf(bytes).flatMap((field) => (field.number === number ? [field.value as Buffer] : []));
const bytesAt = (bytes: Buffer, number: number): Buffer => all(bytes, number)[0] ?? Buffer.alloc(0);
const numberAt = (bytes: Buffer, number: number): number =>
  Number(fieldsOf(bytes).find((field) => field.number === number)?.value ?? 0);

function spansIn(request: Buffer): ReceivedSpan[] {
  return all(request, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(all(bytesAt(resourceSpans, 1), 1));
    return all(resourceSpans, 2)
      .flatMap((scopeSpans) => all(scopeSpans, 2))
      .map((span) => ({
        traceId: bytesAt(span, 1).toString('hex'),
        spanId: bytesAt(span, 2).toString('hex'),
        parentSpanId: bytesAt(span, 4).toString('hex'),
        name: bytesAt(span, 5).toString(),
        kind: numberAt(span, 6),
        statusCode: numberAt(bytesAt(span, 15), 3),
        attributes: attributesOf(all(span, 9)),
        resource,
      }));
  });
}

function attributesOf(pairs: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map((pair) => [bytesAt(pair, 1).toString(), anyValue(bytesAt(pair, 2))]));
}

/** AnyValue: 1 text, 2 boolean, 3 integer, 4 double, 5 a list of such. */
function anyValue(any: Buffer): unknown {
  const [field] = fieldsOf(any);
  if (!field) return '';
  const { number, value } = field;
  if (number === 1) return (value as Buffer).toString();
  if (number === 2) return value === 1n;
  if (number === 3) return Number(value);
  if (number === 4) return (value as Buffer).readDoubleLE();
  return all(value as Buffer, 1).map(anyValue);
}
