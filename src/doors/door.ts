/**
 * A door translates one client API to and from the pipeline: it reads requests, and writes answers, streams and errors. It does
 * no I/O and knows no provider. The pipeline is the same for every door, and speaks the chat format inside. Where the upstream speaks
 * the door's own API, the door gets the upstream's text beside the chat format, and passes it on (a native pass).
 */
import type { Latin1Text } from '../base/latin1.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ApiName, ChatRequest, ModelKind } from '../wire/chat-request.js';
import type { Chunk, ChunkIdentity } from '../wire/chunk.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import type { Cost } from '../wire/cost.js';
import type { TokenUsage } from '../wire/usage-types.js';
import type { DefaultWords } from './default-words.js';
import type { FieldTable } from './field-table.js';

export interface Door {
  readonly name: ApiName;
  /** The path that clients post their requests to. */
  readonly path: string;
  /** The models that it serves. */
  readonly kind: ModelKind;
  /** What happens to the fields of its requests. */
  readonly fields: FieldTable;
  /** What the defaults of a name are called here; absent where the API takes none. */
  readonly defaultWords?: DefaultWords;
  /** A header that may carry the API key beside `Authorization`. */
  readonly keyHeader?: 'x-api-key';
  /** Requests are counted, not answered: they need no credit and leave no record. */
  readonly countsOnly?: true;
  /** Names what reads its bodies in another thread; absent = the path does. */
  readonly reader?: string;
  /** What of a body the client sent with this request; absent = all of it. */
  sentPart?(body: Buffer): Buffer;
  /** Throws a GatewayError where the body is not a valid request. A large body is measured before it is parsed. */
  readRequest(body: Buffer, large?: boolean): ChatRequest;
  /** The body of a whole answer, in the encoding of its parts. */
  writeAnswer(answer: WholeAnswer): string;
  /** Absent where the API has no streams: its requests then ask for none. */
  openStream?(request: ChatRequest, isNative: boolean): StreamWriter;
  /** The body of an error. */
  writeError(error: GatewayError, requestId: string): string;
}

export interface WholeAnswer {
  readonly request: ChatRequest;
  /** The generation's id. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** The id of the route that served. */
  readonly model: string;
  readonly parts: Pick<CompletionParts, 'members' | 'usage' | 'usageText' | 'encoding' | 'native' | 'places' | 'task'>;
  /** What is billed. */
  readonly usage: TokenUsage;
  readonly cost: Cost;
  /** `router_metadata` as JSON text. */
  readonly metadata: string;
}

/** Rewrites frames that differ only in their text, without parsing them. */
export interface FrameTemplate {
  /** The escaped text of the frame; null where the frame has another shape, or must be parsed for another reason. */
  textIn(text: Latin1Text, start: number, end: number): Latin1Text | null;
  /** `metadata` is JSON text, for the first frame of all. */
  write(inside: Latin1Text, metadata?: string): Latin1Text;
}

/** Writes the events of one stream. */
export interface StreamWriter {
  /** `metadata` is JSON text. */
  writeFrame(chunk: Chunk, as: ChunkIdentity, metadata?: string): Latin1Text;
  /** Rewrites further frames like this one without parsing them; null where the frame has no such shape. */
  templateFor(data: Latin1Text, as: ChunkIdentity): FrameTemplate | null;
  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text;
  /** The last event of a stream that cannot be completed. */
  writeError(error: GatewayError, requestId: string): Latin1Text;
  /** Takes an event of a native pass as the upstream wrote it, before the chunks that were read from it. */
  takeEvent?(data: Latin1Text, event: string): void;
  /** Events that were taken and belong to no chunk. Called only once the stream has begun. */
  flush?(): string;
}

export interface BilledUsage {
  /** The upstream's own usage. */
  readonly given: unknown;
  readonly usage: TokenUsage;
  readonly cost: Cost;
}

export interface StreamEnding {
  readonly end: 'complete' | 'stalled' | 'cut';
  /** The frames with a `finish_reason`, which were held back for this moment. */
  readonly finishFrames: readonly Chunk[];
  /** Chat completions write it only where the client asked for it. */
  readonly usage: BilledUsage;
  /** `router_metadata` with its `stream_end`, as JSON text. */
  readonly metadata: string;
  /** `router_metadata` for the first frame, where no frame has been written yet. */
  readonly firstMetadata: string | undefined;
}
