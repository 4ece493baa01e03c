/** What a relay needs to know about its request. */
import type { TokenCounter } from '../../billing/count/counter.js';
import type { Route, Snapshot } from '../../catalogue/route.js';
import type { StreamWriter } from '../../doors/door.js';
import type { AnswerHash } from '../../proof/proof-facts.js';

export interface RelayContext {
  /** Hashes what is sent; null where answers are not hashed. */
  answer: Pick<AnswerHash, 'add'> | null;
  counter: Pick<TokenCounter, 'countPiece'>;
  /** The writer for a route: a route may speak the client's API itself. */
  openWriter(route: Route): StreamWriter;
  id: string;
  requestId: string;
  created: number;
  includeUsage: boolean;
  /** How many choices were asked for. */
  choices: number;
  snapshot: Snapshot;
  /** Headers of the 200, made at the moment of the commit. */
  headers(route: Route): readonly string[];
  /** `router_metadata` for the first frame. */
  metadata(route: Route): string;
  /** Writes down what the stream owes so far, so that it is billed also when the process dies. `left`: the caller has left. */
  recordSoFar(route: Route, left: boolean): void;
  /** Monotonic milliseconds. */
  nowMs(): number;
}
