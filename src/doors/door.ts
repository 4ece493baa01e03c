/**
 * A door translates one client API to and from the pipeline: it reads requests, and writes answers, streams and errors. It does
 * no I/O and knows no provider. The pipeline is the same for every door, and speaks the chat format inside.
 */
import type { Latin1Text } from '../base/latin1.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { Chunk, ChunkIdentity } from '../wire/chunk.js';
import type { ChunkTemplate } from '../wire/chunk-template.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import type { Cost } from '../wire/cost.js';
import type { TokenUsage } from '../wire/usage.js';

export interface Door {
  /** The path that clients post their requests to. */
  readonly path: string;
  /** Throws a GatewayError where the body is not a valid request. A large body is measured before it is parsed. */
  readRequest(body: Buffer, large?: boolean): ChatRequest;
  /** The body of a whole answer, in the encoding of its parts. */
  writeAnswer(answer: WholeAnswer): string;
  openStream(): StreamWriter;
}

export interface WholeAnswer {
  /** The generation's id. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** The id of the route that served. */
  readonly model: string;
  readonly parts: Pick<CompletionParts, 'members' | 'usage' | 'usageText'>;
  /** What is billed. */
  readonly usage: TokenUsage;
  readonly cost: Cost;
  /** `router_metadata` as JSON text. */
  readonly metadata: string;
}

/** Writes the events of one stream. */
export interface StreamWriter {
  /** `metadata` is JSON text. */
  writeFrame(chunk: Chunk, as: ChunkIdentity, metadata?: string): Latin1Text;
  /** Rewrites further frames like this one without parsing them; null where the frame has no such shape. */
  templateFor(data: Latin1Text, as: ChunkIdentity): ChunkTemplate | null;
  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text;
  /** The last event of a stream that cannot be completed. */
  writeError(error: GatewayError): Latin1Text;
}

export interface StreamEnding {
  readonly end: 'complete' | 'stalled' | 'cut';
  /** The frames with a `finish_reason`, which were held back for this moment. */
  readonly finishFrames: readonly Chunk[];
  /** `usage` as JSON text; it is written where the client asked for it. */
  readonly usage: string;
  /** `router_metadata` with its `stream_end`, as JSON text. */
  readonly metadata: string;
  /** `router_metadata` for the first frame, where no frame has been written yet. */
  readonly firstMetadata: string | undefined;
}
