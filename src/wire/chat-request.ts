/** A validated chat request: the fields that routing needs, and all others as text that is ready to send. */
import type { TextEncoding } from './json-text.js';

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
  /** `session_id`, which names the conversation. */
  readonly sessionId?: string;
  /** `prompt_cache_key`, which names the conversation too; it is sent on as it is. */
  readonly cacheKey?: string;
  /** A hash of the first messages; only of a large request, whose messages are not read again. */
  readonly opening?: string;
}

/** What a request asks for that only a route with a price for it may serve. */
export interface PricedExtras {
  /** A `service_tier` other than the ordinary one. */
  readonly tier: string | null;
  /** Names of tools that run at the provider. */
  readonly tools: readonly string[];
  /** The messages carry audio. */
  readonly audio: boolean;
}
