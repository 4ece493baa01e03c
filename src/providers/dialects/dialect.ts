/**
 * A dialect translates between OpenAI's chat API and the API of one kind of provider. It does no I/O. Its description also
 * holds everything else that differs by dialect: headers, catalogue rules and the names that its protocol defines.
 */

import type { Latin1Text } from '../../base/latin1.js';
import type { ApiName, ChatRequest, RefusableParameter, SpokenApi } from '../../wire/chat-request.js';
import type { TextEncoding } from '../../wire/json-text.js';
import type { OutgoingBody } from '../../wire/outgoing-body.js';
import type { EmbeddingTask, RerankTask } from '../../wire/task.js';

/** The part of a route that a dialect may use. */
export interface Target {
  readonly upstreamModel: string;
  /** The route's address, for dialects whose paths depend on it. */
  readonly baseUrl: string;
  /** False where the upstream rejects a request for usage in a stream. */
  readonly streamUsage: boolean;
  /** For dialects in which a limit must be sent. */
  readonly maxOutputTokens: number | null;
  /** Fields that are not sent; undefined where the catalogue does not say. */
  readonly unsupportedParameters?: readonly string[] | undefined;
}

export interface OutgoingCall {
  /** Appended to the route's base address; may include a query. */
  path: string;
  body: OutgoingBody;
}

/** A provider's whole answer as an OpenAI completion. */
export type TranslatedAnswer =
  | { kind: 'completion'; completion: Record<string, unknown> }
  /** A 2xx that holds an error, in the provider's own shape. */
  | { kind: 'error'; error: unknown }
  | { kind: 'malformed'; reason: string };

/** Takes OpenAI chunks as JSON text, and `[DONE]`. */
export type EmitChunk = (chunk: Latin1Text) => void;

/** Translates the stream of one attempt. */
export interface StreamTranslator {
  /** `event` is the name of the event, or empty. */
  onEvent(data: Latin1Text, event: string, emit: EmitChunk): void;
  /** The upstream closed its stream. */
  onEnd(emit: EmitChunk): void;
  /** The stream is over, also where it was cut or its client left: emits the usage that no chunk had yet. Absent = none is held back. */
  onOver?(emit: EmitChunk): void;
}

/** What is asked of a provider with a client's own body: an answer, a stream, or the tokens of the prompt. */
export type NativeAsk = 'whole' | 'stream' | 'count';

interface ModelInPath {
  path(model: string, ask: NativeAsk): string;
  /** The members in place of the client's `model`, as JSON. `model` is the JSON text of the route's. */
  members(model: string, ask: NativeAsk): string;
}

/** What a route cannot express of a request, as the end of "the provider …". */
export interface TaskObstacle {
  readonly param: string;
  readonly reason: string;
}

export interface EmbeddingBatch {
  readonly task: EmbeddingTask;
  /** The inputs of this call, which may be a part of the task's. */
  readonly inputs: readonly string[];
  readonly encoding: TextEncoding;
}

/** What a provider answered to one call, unchecked. */
export interface GivenVectors {
  /** A list of numbers or base64 for each input, in their order; a text says why there is none. */
  readonly vectors: readonly unknown[] | string;
  readonly tokens: unknown;
}

export interface EmbeddingApi {
  /** How many inputs one call takes, where the catalogue does not say it. */
  inputsMax(target: Target): number;
  obstacleOf(task: EmbeddingTask, target: Target): TaskObstacle | null;
  callOf(batch: EmbeddingBatch, target: Target): OutgoingCall;
  readVectors(answer: Record<string, unknown>): GivenVectors;
  /** Whether `user` can be sent on; absent = it has no word for it. */
  takesUser?(baseUrl: string): boolean;
  /** Whether vectors surely come in base64; absent = they do not. */
  givesBase64?(task: EmbeddingTask, target: Target): boolean;
  /** The header of the answer that counts the tokens, where the body does not. */
  readonly tokensHeader?: string;
}

export interface RerankApi {
  /** Asks for as many results as the client wants. Where a provider gives more, they are cut off here. */
  callOf(task: RerankTask, encoding: TextEncoding, target: Target): OutgoingCall;
}

export interface Dialect {
  /** The request as a call to the provider. It holds only what the client sent and what the provider's API requires. */
  callOf(request: ChatRequest, target: Target): OutgoingCall;
  /** Null where answers are OpenAI's already and are passed on unchanged. */
  readonly readAnswer: ((value: unknown, encoding: TextEncoding) => TranslatedAnswer) | null;
  /** Null where frames are OpenAI's already. */
  readonly createStreamTranslator: (() => StreamTranslator) | null;
  /** The first requested parameter that the provider's API cannot express on any route; null where there is none. */
  inapplicableParameter(request: Pick<ChatRequest, 'needs' | 'responseFormat'>): RefusableParameter | null;

  /**
   * What it leaves out of a request on a route, as bits of `partialBits`, whether the request has it or not; absent = nothing. The fields
   * are named in the answer.
   */
  omits?(
    request: Pick<ChatRequest, 'partial' | 'extras'>,
    target: Pick<Target, 'upstreamModel' | 'unsupportedParameters'>,
  ): number;

  /** The client API that it is; absent where no door speaks it. */
  readonly speaks?: ApiName;
  /** Where the provider has another client API, if not under its usual path. */
  pathOf?(api: SpokenApi, target: Target): string;
  /** How a client's own body goes to a provider whose paths name the model; absent = its `model` becomes the route's. */
  readonly modelInPath?: ModelInPath;
  /** Chat fields, of those that not every provider knows, that it can express. `cache_control` includes signed reasoning. */
  readonly words: ReadonlySet<string>;

  /** Absent where the provider's API has no embeddings. */
  readonly embedding?: EmbeddingApi;
  /** Absent where the provider's API puts no documents in order. */
  readonly rerank?: RerankApi;

  /** The `accept` header; absent = JSON or server-sent events. */
  readonly accept?: string;
  /** Headers that every call needs, as a flat list of names and values. */
  readonly extraHeaders?: readonly string[];
  /** The header that carries an API key. */
  keyHeader(key: string): [name: string, value: string];

  /** False where the provider runs inside this process and has no address. */
  readonly needsBaseUrl: boolean;
  /** Whether calls can be signed with AWS credentials (`auth: aws` in the catalogue). */
  readonly canSign: boolean;
  /** How calls authenticate where the catalogue entry does not say. */
  defaultAuth(baseUrl: string): 'key' | 'aws' | 'google';

  /**
   * Names that the provider's API defines, separated by spaces. They are in every request and no client chose them, so an
   * error that repeats one does not repeat a word of the client.
   */
  readonly protocolNames: string;
  /** What an operator can do when the provider does not know the model of a route; absent = correct the catalogue entry. */
  unknownModelAdvice?(routeId: string): string;
}

export function bearerHeader(token: string): [name: string, value: string] {
  return ['authorization', `Bearer ${token}`];
}
