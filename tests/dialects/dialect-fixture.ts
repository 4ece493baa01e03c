/** What the shared suite needs of a dialect: how its upstream answers, and what it must receive. */
import type { Json } from '../support/client.js';
import type { Bytes, Headers } from '../support/upstream-scripts.js';
import type { CaseName } from './cases.js';
import type { Meaning } from './meaning.js';

/** An answer in no dialect. Lists are the pieces in which a stream gives them; a whole answer has them joined. */
export interface Said {
  text?: readonly string[];
  reasoning?: readonly string[];
  toolCalls?: readonly { id: string; name: string; arguments: readonly string[] }[];
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  usage: SaidUsage;
}

export interface SaidUsage {
  /** Of the whole prompt, cached tokens included. */
  prompt: number;
  cached: number;
  /** Of the whole answer, reasoning included. */
  completion: number;
  reasoning: number;
}

/** Writes JSON as the upstream of the case does, with or without escapes beyond ASCII. */
export type WriteJson = (value: unknown) => string;

/** The parameters that a route must be able to apply, each in a form that asks for something. */
export const refusable = {
  n: { n: 2 },
  logprobs: { logprobs: true },
  logit_bias: { logit_bias: { '50256': -100 } },
  json_object: { response_format: { type: 'json_object' } },
} as const;
export type Refused = keyof typeof refusable;

/** What an upstream may mean by a failure, in any dialect. */
export const failureMeanings = [
  'rejected',
  'too_long',
  'capacity',
  'rate_limit',
  'auth',
  'unknown_model',
  'server_error',
] as const;
export type FailureMeaning = (typeof failureMeanings)[number];

interface FailureAnswer {
  status: number;
  body: unknown;
  headers?: Headers;
}

export interface DialectFixture {
  readonly dialect: string;
  /** Appended to the scripted upstream's address as the provider's `base_url`. */
  readonly basePath: string;
  readonly upstreamModel: string;
  /** Where the calls must arrive, query included. */
  readonly paths: { whole: string; stream: string };
  /** The whole body that the upstream must have received, case by case, but for `stream` and `stream_options`. */
  readonly requests: Readonly<Record<CaseName, Json>>;
  /** Cases that the protocol has no words for, and why. */
  readonly lacks: Readonly<Partial<Record<CaseName, string>>>;
  /** What it has no words for: the request is refused before it is sent. */
  readonly refuses: readonly Refused[];
  /** False where the protocol does not count reasoning tokens. */
  readonly countsReasoning: boolean;
  /** A stream has the usage of its prompt from the beginning. */
  readonly usageComesFirst?: true;
  /** A whole answer's body. */
  whole(said: Said): unknown;
  readonly streamContentType: string;
  /** The frames of a stream, each as it stands on the wire. */
  frames(said: Said, write: WriteJson): Bytes[];
  /** A frame in the middle of a stream that says that the provider is overloaded. */
  readonly overloadedFrame: Bytes;
  /** An error in place of an answer, under a 200. */
  readonly errorInside: unknown;
  readonly failures: Readonly<Record<FailureMeaning, FailureAnswer>>;
  /** What a request in this dialect means: the reverse translation, written apart from the dialect. */
  meaningOf(body: Json): Meaning;
  /** Everything that a stream becomes, as chunks of OpenAI, whatever the pieces that it came in. */
  chunksOf(pieces: readonly Buffer[]): string[];
}
