/** A chat request after validation: what routing needs, and everything else as text that is ready to be sent on. */
import type { TextEncoding } from './json-text.js';

/** The four parameters that a route may be unable to apply. */
export const refusableParameters = ['response_format', 'logprobs', 'logit_bias', 'n'] as const;
export type RefusableParameter = (typeof refusableParameters)[number];

/** Contract 4.4, in a request and saved. */
export const fallbackModelsMax = 10;

export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The caller sent `stream_options.include_usage: true`. */
  readonly includeUsage: boolean;
  /** Refusable parameters that really ask for something; no-ops are not among them. */
  readonly needs: readonly RefusableParameter[];
  /** The `type` of a `response_format` that asks for something; null where there is none. */
  readonly responseFormat: string | null;
  /** `fallback.models`; null where it was not sent. */
  readonly fallback: readonly string[] | null;
  /** Every other field as JSON members without the outer braces: `"messages":[…],"temperature":0.7`. */
  readonly members: string | Buffer;
  /** The caller's other `stream_options`, as JSON members; usually empty. */
  readonly streamOptionMembers: string;
  readonly encoding: TextEncoding;
}
