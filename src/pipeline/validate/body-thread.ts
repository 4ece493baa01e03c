/**
 * The thread that parses, checks and serialises large bodies: the main thread sees only what routing needs. What goes on to a provider is
 * handed over as bytes, which are moved and not copied.
 */
import { freeBytes, largeTextBytes, spaceFor } from '../../base/large-memory.js';
import { serveThread } from '../../base/side-thread-port.js';
import { bodyReaderOf } from '../../doors/any-door.js';
import { type Defaults, readWithDefaults } from '../../doors/name-defaults.js';
import { openRouterBody } from '../../doors/openrouter-body.js';
import { boundedEcho } from '../../doors/responses/read-request.js';
import { plainRequest } from '../../doors/translated-request.js';
import { threadErrorOf } from '../../errors/gateway-error.js';
import { bodyHash } from '../../proof/proof-facts.js';
import type { ChatRequest, NativeRequest } from '../../wire/chat-request.js';
import { requestExcessOf, type TextEncoding } from '../../wire/json-text.js';
import { type LongTexts, takeOutLongTexts } from '../../wire/long-texts.js';
import { openingOf } from '../../wire/opening.js';

/** A body, and the name of what reads it. */
export interface LargeBody {
  reader: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Whether its hash is wanted. */
  hashed: boolean;
  /** Whether OpenRouter's fields are known. */
  isOpenRouter: boolean;
  /** Absent where no name has any. */
  defaults?: SharedDefaults;
}

/** The defaults of all names, as JSON. */
export interface SharedDefaults {
  readonly version: number;
  readonly bytes: SharedArrayBuffer;
}

let known: { version: number; byName: ReadonlyMap<string, Defaults> } | null = null;

function defaultsOf(shared: SharedDefaults | undefined, name: string): Defaults | undefined {
  if (!shared) return undefined;
  if (known?.version !== shared.version) {
    const entries = JSON.parse(Buffer.from(shared.bytes).toString('utf8')) as [string, Defaults][];
    known = { version: shared.version, byName: new Map(entries) };
  }
  return known.byName.get(name);
}

/** Members of a body that say how it is to be read. */
const ownNames = new Set(['type', 'door', 'generate', 'stream_id']);

const collectedFromBytes = 2 * 1024 * 1024;

serveThread<LargeBody, ChatRequest>(
  ({ reader, bytes, hashed, isOpenRouter, defaults: shared }) => {
    const door = bodyReaderOf(reader);
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const own = hashed ? { bodyHash: bodyHash(door.sentPart?.(body) ?? body) } : {};
    // A body of too many values is scanned or refused as it is.
    const isRead = (name: string): boolean => door.fields?.fields.has(name) !== false || ownNames.has(name);
    const texts = requestExcessOf(body) === null ? takeOutLongTexts(body, isRead) : null;
    const taken = texts?.rest() ?? body;
    const read = isOpenRouter && door.fields?.fields.has('models') !== false ? openRouterBody(taken) : taken;
    const sentRequest = door.readRequest(read, true);
    const defaults = defaultsOf(shared, sentRequest.model);
    const request = plainRequest(
      defaults === undefined ? sentRequest : readWithDefaults(door, read, sentRequest, defaults, true),
    );
    const writer = new ByteWriter(texts, texts ? null : bytes.buffer);
    const result = {
      ...request,
      ...own,
      ...(request.task === undefined && { opening: openingOf(request, texts) }),
      members: writer.write(request.members as string, request.encoding),
      ...(request.native && { native: nativeInBytes(request.native, request.encoding, writer) }),
      ...(request.task && { task: taskInPlace(request, writer) }),
    };
    return { result, transfer: writer.moved };
  },
  threadErrorOf,
  ({ bytes }) => bytes.byteLength >= collectedFromBytes,
);

/** Writes texts as bytes that can be moved to another thread. */
class ByteWriter {
  readonly moved: ArrayBuffer[] = [];

  /** `spare` is memory that is of no more use. */
  constructor(
    readonly texts: LongTexts | null,
    private spare: ArrayBuffer | null,
  ) {}

  /** A Buffer goes to another thread as a Uint8Array. */
  write(text: string, encoding: TextEncoding): Buffer {
    const bytes = this.texts?.putBack(text, encoding) ?? this.written(text, encoding);
    this.moved.push(bytes.buffer as ArrayBuffer);
    return bytes as Buffer;
  }

  private written(text: string, encoding: TextEncoding): Uint8Array {
    const length = Buffer.byteLength(text, encoding);
    const { spare } = this;
    const fits = spare !== null && spare.byteLength >= length;
    if (fits) this.spare = null;
    const bytes = fits ? Buffer.from(spare, 0, length) : spaceFor(length);
    bytes.write(text, encoding);
    return bytes;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function nativeInBytes(native: NativeRequest, encoding: TextEncoding, writer: ByteWriter): NativeRequest {
  const { body, modelStart, modelEnd, marked, echo, input, tools } = native;
  const text = body as string;
  const place = (position: number): number => writer.texts?.positionOf(text, position) ?? position;
  const span = <T extends Span>(found: T): T => ({ ...found, start: place(found.start), end: place(found.end) });
  return {
    ...native,
    body: writer.write(text, 'latin1'),
    modelStart: place(modelStart),
    modelEnd: place(modelEnd),
    ...(marked !== undefined && { marked: writer.write(marked as string, encoding) }),
    echo: echoOf(echo, writer.texts),
    ...(input && { input: span(input) }),
    ...(tools && {
      tools: { ...tools, entries: tools.entries.map(span), ...(tools.choice && { choice: span(tools.choice) }) },
    }),
  };
}

function echoOf(echo: string, texts: LongTexts | null): string {
  const bounded = boundedEcho(echo, texts?.positionOf(echo, echo.length) ?? echo.length);
  return texts ? putBackText(bounded, 'latin1', texts) : bounded;
}

/** The texts of embeddings and documents are sent in lists, so they stay texts. */
function taskInPlace({ task, encoding }: ChatRequest, { texts }: ByteWriter): ChatRequest['task'] {
  if (!task || !texts) return task;
  const back = (text: string): string => putBackText(text, encoding, texts);
  if (task.kind === 'embedding') return { ...task, inputs: task.inputs.map(back) };
  return { ...task, query: back(task.query), documents: task.documents.map(back) };
}

/** The bytes between are freed at once: a text of 32 MiB is there twice already. */
function putBackText(text: string, encoding: TextEncoding, texts: LongTexts): string {
  const bytes = texts.putBack(text, encoding);
  const whole = bytes.toString(encoding);
  if (bytes.length >= largeTextBytes) freeBytes(bytes);
  return whole;
}
