/** A validated chat request: the fields that routing needs, and all others as text that is ready to send. */
import type { ModelName } from '../catalogue/model-name.js';
import type { SpokenApi } from '../catalogue/route.js';
import type { TextEncoding } from './json-text.js';
import type { Task } from './task.js';

/** The longest model id that is looked up. */
export const modelIdMax = 512;

export type { ApiName, ModelKind, SpokenApi } from '../catalogue/route.js';

/** The parameters that a route may be unable to apply. */
export const refusableParameters = ['response_format', 'logprobs', 'logit_bias', 'n'] as const;
export type RefusableParameter = (typeof refusableParameters)[number];

/** The limit of a fallback list, in a request and in saved settings. */
export const fallbackModelsMax = 10;

export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The client sent `stream_options.include_usage: true`. */
  readonly includeUsage: boolean;
  /** Refusable parameters that ask for something; values that change nothing are left out. */
  readonly needs: readonly RefusableParameter[];
  /** The `type` of a `response_format` that asks for something; null where there is none. */
  readonly responseFormat: string | null;
  /** `fallback.models`; null where the client did not send it. */
  readonly fallback: readonly string[] | null;
  /** Every other field as JSON members without the outer braces: `"messages":[…],"temperature":0.7`. */
  readonly members: string | Buffer;
  /** The client's other `stream_options`, as JSON members; usually empty. */
  readonly streamOptionMembers: string;
  readonly encoding: TextEncoding;
  /** `max_completion_tokens`, else `max_tokens`; absent where the client sent neither. */
  readonly outputMax?: number;
  /** `n`; absent where it is 1. */
  readonly choices?: number;
  /** Absent in the usual request, which asks for nothing but tokens. */
  readonly extras?: PricedExtras;
  /** The `provider` object as the client sent it; absent where it sent none. It is checked against the catalogue later. */
  readonly provider?: unknown;
  /** The hash of a body that another thread has read, base64url; absent where it was read here, or is not hashed. */
  readonly bodyHash?: string;
  /** `session_id`, which names the conversation. */
  readonly sessionId?: string;
  /** `prompt_cache_key`, which names the conversation too; it is sent on as it is. */
  readonly cacheKey?: string;
  /** A hash of the first messages, or null; only of a large request, whose messages are not read again. */
  readonly opening?: string | null;
  /** The request in its own API; absent where that is chat completions. */
  readonly native?: NativeRequest;
  /** What the request asks for; absent where that is a chat. */
  readonly task?: Task;
  /** The fields that not every provider has a place for, as bits of `partialBits`; absent = none. */
  readonly partial?: number;
  /** The name of the operator's that `model` is; absent where it is none. */
  name?: ModelName;
  /** Fields that the name has added; absent = none. */
  filled?: readonly string[];
  /** The client wants an error instead of an answer with something left out. */
  strict?: boolean;
}

/**
 * A request of another API than chat completions. The rest of `ChatRequest` is its translation, for routes that do not speak the API;
 * a route that does gets the body as the client wrote it.
 */
export interface NativeRequest {
  readonly api: SpokenApi;
  /** The client's body in latin1, without the fields that only Lodestone reads. Bytes where it is large. */
  readonly body: string | Buffer;
  /** Where the value of `model` begins and ends in `body`. */
  readonly modelStart: number;
  readonly modelEnd: number;
  /** Where the value of `input` begins and ends, for an API that continues a conversation. */
  readonly input?: { readonly start: number; readonly end: number };
  /** `members` with cache markers and signed reasoning, for dialects that can express them; absent where there are none. */
  readonly marked?: string | Buffer;
  /** What no translation can express, by the client's names. */
  readonly inexpressible: readonly Inexpressible[];
  /** What a translation may leave out where a route has no word for it. */
  readonly optional: readonly OptionalField[];
  /** Fields of the body that say nothing and were left out of it; absent = none. */
  readonly unset?: readonly string[] | undefined;
  /** Members of the request that the API repeats in its answer, as latin1 JSON members. */
  readonly echo: string;
  /** The client's names of parameters that have another name in the chat format. */
  readonly names: Readonly<Record<string, string>>;
  /** The namespaces of functions, by their names; absent where there are none. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** The client sends signed reasoning back. */
  readonly keepsReasoning?: boolean;
  /** Tools that run at the provider and may be left out of `body`; absent where there are none. */
  readonly tools?: NativeTools | undefined;
}

/** Tools that a route without a price for them leaves out of a native pass, and where they are in its body. */
export interface NativeTools {
  /** In their order. `name` is that of the price. */
  readonly entries: readonly { readonly name: string; readonly start: number; readonly end: number }[];
  /** How many tools the request has in all. */
  readonly count: number;
  /** The member `tool_choice` with a comma, which goes with the last tool. */
  readonly choice?: { readonly start: number; readonly end: number };
}

export interface Inexpressible {
  readonly param: string;
  /** What the route cannot do, as the end of "the provider …"; absent = it cannot apply the parameter. */
  readonly reason?: string;
  /** The chat field that it was translated to; absent where there is none. A dialect that names the word can express it. */
  readonly word?: string;
  /** What to do instead, where leaving the parameter out is not possible. */
  readonly remedy?: string;
  /** Tells the official client what to do. */
  readonly details?: object;
}

export interface OptionalField {
  /** As the answer names it: `context_management`, `tools.web_search`. */
  readonly name: string;
  /** The chat field that it was translated to; null where there is none. */
  readonly word: string | null;
}

/** What a request asks for that only a route with a price for it may serve. */
export interface PricedExtras {
  /** A `service_tier` other than the ordinary one, or Anthropic's fast mode. */
  readonly tier: string | null;
  /** The field that asks for the tier; absent = `service_tier`. */
  readonly tierParam?: string;
  /** Names of tools that run at the provider. */
  readonly tools: readonly string[];
  /** The messages carry audio. */
  readonly audio: boolean;
  /** The answer is asked to be spoken. */
  readonly spoken?: boolean;
  /** `web_search_options` was sent, which asks for a search without a tool. */
  readonly searchOptions?: boolean;
  /** The request names something that the provider keeps. */
  readonly stored?: StoredObject | undefined;
}

/** Something that a provider keeps for the operator's account, which all accounts share. */
export interface StoredObject {
  readonly param: string;
  /** As the object of "it keeps …". */
  readonly what: string;
  /** What to do instead, without a full stop. */
  readonly remedy: string;
  /** Tells the official client what to do. */
  readonly details?: object;
}
