/** What the chat handler needs of a caller besides what the pipeline does. */
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Caller } from '../../pipeline/caller.js';

export interface ChatCaller extends Caller {
  /** Answers with an error. Where an answer has begun, closes the connection instead. */
  refuse(error: GatewayError, requestId: string, headers: Readonly<Record<string, string>>): void;
  /** The caller has left: closes its connection, unless an answer is on its way. */
  abandon(): void;
}

/** The address and the headers of a request, for what is the same on every path. */
export interface RequestSource {
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
}
