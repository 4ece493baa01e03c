/** Stage 2: the body becomes a validated chat request. Large bodies are read on other threads. Also estimates the tokens of its prompt. */
import type { BroughtTokens } from '../accounts/keys/brought-tokens.js';
import { freeBytes, ownsMemory } from '../base/large-memory.js';
import { SideThread } from '../base/side-thread.js';
import type { MaybePromise } from '../base/turn.js';
import type { ModelName } from '../catalogue/model-name.js';
import type { BodyReader } from '../doors/any-door.js';
import { type Defaults, readWithDefaults } from '../doors/name-defaults.js';
import { openRouterBody } from '../doors/openrouter-body.js';
import { errorOfThread, gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest, NativeRequest } from '../wire/chat-request.js';
import { isJsonType } from './caller.js';
import type { LargeBody, SharedDefaults } from './validate/body-thread.js';

/** A larger body would hold up other requests while it is parsed. */
const largeBodyBytes = 256 * 1024;

/**
 * A thread reads one body after the other, and a hostile body of 32 MiB takes seconds, so a body waits only for others of about its
 * own size.
 */
const sizeClassBytes = [1024 * 1024, 4 * 1024 * 1024, 12 * 1024 * 1024, Number.POSITIVE_INFINITY];

/** Such a body is moved to another thread, which hashes it too. */
export function isLargeBody(body: Buffer): boolean {
  return body.length > largeBodyBytes;
}

/** The names of the operator, as the stages look them up. */
export interface Names {
  get(name: string): ModelName | undefined;
  readonly version: number;
  readonly hasDefaults: boolean;
  allDefaults(): [name: string, defaults: Defaults][];
}

/** What clients of other systems bring along. */
export interface SwitchPorts {
  names: Pick<Names, 'version'>;
  brought: Pick<BroughtTokens, 'any' | 'idOf' | 'find' | 'forget' | 'countGuess'>;
}

const noNames: Names = { get: () => undefined, version: 0, hasDefaults: false, allDefaults: () => [] };

export class Validator {
  /** Started when first needed. */
  private readonly threads = sizeClassBytes.map((bytesMax) => ({ bytesMax, thread: bodyThread() }));
  private shared: SharedDefaults | null = null;

  constructor(
    private readonly names: Names = noNames,
    /** Whether OpenRouter's fields are known. */
    private readonly isOpenRouter = false,
  ) {}

  /** Small bodies are read at once, so that the usual request waits for nothing. `hashed`: a large body is hashed where it is read. */
  validate(door: BodyReader, body: Buffer, hashed = false): MaybePromise<ChatRequest> {
    if (isLargeBody(body)) return this.validateLarge(door, body, hashed);
    const read = this.isOpenRouter && door.fields?.fields.has('models') !== false ? openRouterBody(body) : body;
    const request = door.readRequest(read);
    const name = this.names.get(request.model);
    return name === undefined ? request : named(door, read, request, name);
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ thread }) => thread.close()));
  }

  private async validateLarge(
    { path, reader = path }: BodyReader,
    body: Buffer,
    hashed: boolean,
  ): Promise<ChatRequest> {
    const bytes = ownBytes(body);
    const { thread } = this.threads.find(({ bytesMax }) => body.length <= bytesMax)!;
    try {
      const request = await thread.run(
        { reader, bytes, hashed, isOpenRouter: this.isOpenRouter, ...this.sharedDefaults() },
        [bytes.buffer],
      );
      const { members, native } = request;
      const name = this.names.get(request.model);
      return {
        ...request,
        ...(name && { name }),
        members: asBuffer(members),
        ...(native && { native: withBuffers(native) }),
      };
    } catch (error) {
      throw errorOfThread(error) ?? gatewayError('body_too_detailed', { what: 'has more values than can be read' });
    }
  }

  /** Written once for every change of names, into memory that all threads read. */
  private sharedDefaults(): { defaults: SharedDefaults } | null {
    const { names } = this;
    if (!names.hasDefaults) return null;
    if (this.shared?.version !== names.version) {
      const json = Buffer.from(JSON.stringify(names.allDefaults()));
      const bytes = new SharedArrayBuffer(json.length);
      new Uint8Array(bytes).set(json);
      this.shared = { version: names.version, bytes };
    }
    return { defaults: this.shared };
  }
}

/** The request under a name of the operator, with the fields that the client has left out. */
function named(door: BodyReader, body: Buffer, request: ChatRequest, name: ModelName): ChatRequest {
  const filled = name.defaults === null ? request : readWithDefaults(door, body, request, name.defaults);
  filled.name = name;
  return filled;
}

/** Frees a large request, which is there as bytes, also as the client wrote it where it was translated. */
export function freeLargeParts(request: ChatRequest): void {
  const { native } = request;
  // A small one may not be translated yet, and reading its members would do so.
  if (typeof native?.body === 'string') return;
  const { members } = request;
  // A conversation of a WebSocket goes on from the body.
  const body = native?.input === undefined ? native?.body : undefined;
  for (const bytes of [members, body, native?.marked]) if (Buffer.isBuffer(bytes)) freeBytes(bytes);
}

/** Bytes whose memory can be moved to a thread. A body that was received into its own is not copied again. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  return body.buffer instanceof ArrayBuffer && ownsMemory(body) ? (body as Buffer<ArrayBuffer>) : new Uint8Array(body);
}

/** Bytes of another thread arrive as a Uint8Array. */
function asBuffer(bytes: string | Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = bytes as Uint8Array;
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function withBuffers(native: NativeRequest): NativeRequest {
  const { body, marked } = native;
  return { ...native, body: asBuffer(body), ...(marked !== undefined && { marked: asBuffer(marked) }) };
}

function bodyThread(): SideThread<LargeBody, ChatRequest> {
  const file = new URL('./validate/body-thread.js', import.meta.url);
  return new SideThread(file, { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 2048 } });
}

/** With the header, nothing of the request may be left out. Large bodies were read elsewhere, so that it is applied here. */
export function applyStrictness(request: ChatRequest, caller: { header(name: string): string | undefined }): void {
  const { native, task } = request;
  // The usual chat has nothing that a route could leave out, so its headers are not searched.
  if (native === undefined && task?.kind !== 'embedding' && !request.partial) return;
  if (caller.header('x-lodestone-strict') !== 'true') return;
  if (task?.kind === 'embedding') task.strict = true;
  else request.strict = true;
}

export function checkContentType(contentType: string | undefined): void {
  if (isJsonType(contentType)) return;
  const found = contentType === undefined ? 'no content-type' : `the content-type "${contentType.slice(0, 100)}"`;
  throw gatewayError('body_not_json', { reason: `was sent with ${found}` });
}

const bytesPerToken = 4;

/** Images, sound and files are sent in base64 and cost far fewer tokens than text of that length. */
const encodedBytesPerToken = 1024;

/** Smaller bodies are not searched for base64, because it makes little difference there. */
const lookedIntoFromBytes = 16 * 1024;
const blockBytes = 4096;
/** Text contains a blank, a quote or a non-ASCII character within this length. */
const sampleLength = 64;

const encodedCharacters = new Uint8Array(256);
// Some clients write `\/` for `/`, and some break lines with `\n`.
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\') {
  encodedCharacters[character.charCodeAt(0)] = 1;
}

/**
 * The tokens of a prompt from the length of its text: no parsing, no tokenizer, and at most a few milliseconds for the largest body. The
 * usage corrects the estimate after the answer.
 */
export function estimatePromptTokens(request: Pick<ChatRequest, 'members' | 'encoding' | 'task' | 'native'>): number {
  const { encoding, task, native } = request;
  if (task?.kind === 'embedding' && task.tokens !== undefined) return task.tokens;
  // The client's own body, which is latin1, in place of its translation, which may never be needed.
  if (native !== undefined) return tokensIn(native.body.length - (native.modelEnd - native.modelStart), native.body);
  const { members } = request;
  // A string read as latin1 has one character for each byte.
  const isDecoded = typeof members === 'string' && encoding === 'utf8';
  const bytes = isDecoded ? Buffer.byteLength(members) : members.length;
  // Embeddings and rerank have texts only, in which base64 is text like any other.
  return tokensIn(bytes, task === undefined ? members : '');
}

/** `searched` is what may have base64 in it. */
function tokensIn(bytes: number, searched: string | Buffer): number {
  const encoded = bytes < lookedIntoFromBytes ? 0 : encodedBytes(searched);
  return Math.max(1, Math.ceil((bytes - encoded) / bytesPerToken + encoded / encodedBytesPerToken));
}

/** Looks at one short sample of each block and takes it for the whole block. */
function encodedBytes(members: string | Buffer): number {
  let encoded = 0;
  for (let at = 0; at + blockBytes <= members.length; at += blockBytes) {
    if (isEncoded(members, at)) encoded += blockBytes;
  }
  return encoded;
}

function isEncoded(members: string | Buffer, from: number): boolean {
  for (let at = from; at < from + sampleLength; at++) {
    const code = typeof members === 'string' ? members.charCodeAt(at) : members[at]!;
    if (encodedCharacters[code] !== 1) return false;
  }
  return true;
}
