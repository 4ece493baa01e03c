/** A chat request that has ended, for a trace: ids, names of the catalogue and figures, never text of prompts or answers. */
import type { Route } from '../../catalogue/route.js';
import type { TokenUsage } from '../../wire/usage-types.js';

export interface EndedChat {
  /** As the client sent them; undefined where it did not. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly requestId: string;
  readonly door: TracedDoor;
  /** Epoch milliseconds, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
  /** A stream can break after its 200 was sent. */
  readonly broken: boolean;
  /** The code of the error table's row; null for a success. */
  readonly errorCode: string | null;
  /** null where the model's id was not found in the catalogue. */
  readonly asked: AskedChat | null;
  readonly served: ServedChat | null;
  readonly attempts: readonly ChatAttempt[];
}

/** The client API that the request came by. */
interface TracedDoor {
  readonly name: string;
  readonly path: string;
  /** `gen_ai.operation.name`. */
  readonly operation: string;
}

export interface AskedChat {
  /** As the client wrote it: an id of the catalogue or an alias of the account. */
  readonly model: string;
  readonly stream: boolean;
  readonly generationId: string;
  readonly providersAttempted: readonly string[];
  readonly breakerSkipped: readonly string[];
}

export interface ServedChat {
  readonly route: Route;
  readonly usage: TokenUsage | null;
  readonly costUsd: number;
  readonly finishReason: string | null;
  readonly streamEnd: string | null;
  readonly fallback: boolean;
  readonly firstByteSeconds: number;
  readonly overheadSeconds: number;
}

export interface ChatAttempt {
  readonly route: Route;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `served`, or the kind of failure. */
  readonly outcome: string;
  readonly status: number | null;
  readonly firstByteSeconds: number | null;
}

export interface Tracing {
  /** Never throws and never waits; what cannot be exported is dropped. */
  chatEnded(chat: EndedChat): void;
  /** Exports what is left, up to a time limit. */
  stop(): Promise<void>;
}
