/** A chat request that is over, as a trace tells it: ids, names of the catalogue and figures, never what was said. */
import type { Route } from '../../catalogue/route.js';
import type { TokenUsage } from '../../wire/usage.js';

export interface EndedChat {
  /** As the caller sent them; undefined where it did not. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly requestId: string;
  /** Epoch milliseconds, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
  /** A stream whose 200 was sent can be broken too. */
  readonly broken: boolean;
  /** The code of the error table's row; null where all went well. */
  readonly errorCode: string | null;
  /** What follows is null until the model's id was found in the catalogue. */
  readonly asked: AskedChat | null;
  readonly served: ServedChat | null;
  readonly attempts: readonly ChatAttempt[];
}

export interface AskedChat {
  /** As the caller wrote it: an id of the catalogue, or an alias of the account's. */
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
  /** `served`, or what the failure meant. */
  readonly outcome: string;
  readonly status: number | null;
  readonly firstByteSeconds: number | null;
}

export interface Tracing {
  /** Never throws and never waits; what cannot be exported is dropped. */
  chatEnded(chat: EndedChat): void;
  /** Exports what is left, within a bound. */
  stop(): Promise<void>;
}
