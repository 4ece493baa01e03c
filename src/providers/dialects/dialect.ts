/**
 * What a dialect is: pure translation between OpenAI's chat protocol and a provider's own, with no I/O. A call's path and body
 * go out, a whole answer or the events of a stream come in.
 */
import type { ChatRequest, RefusableParameter } from '../../wire/chat-request.js';
import type { TextEncoding } from '../../wire/json-text.js';

/** What an adapter may know of the route. */
export interface Target {
  readonly upstreamModel: string;
  /** The route's address, for dialects whose paths depend on it. */
  readonly baseUrl: string;
  /** false where the upstream refuses to be asked for usage in a stream. */
  readonly streamUsage: boolean;
  /** For dialects in which a limit must be sent. */
  readonly maxOutputTokens: number | null;
  /** Fields that are not sent; undefined where the catalogue does not say. */
  readonly unsupportedParameters?: readonly string[] | undefined;
}

export interface OutgoingCall {
  /** Appended to the route's base address, with its query where it has one. */
  path: string;
  /** A string is latin1: one character a byte. */
  body: string | Buffer;
}

/** A provider's whole answer, in OpenAI's terms. */
export type TranslatedAnswer =
  | { kind: 'completion'; completion: Record<string, unknown> }
  /** A 2xx that holds an error, in whatever shape the provider gave it. */
  | { kind: 'error'; error: unknown }
  | { kind: 'malformed'; reason: string };

/** One stream of one attempt. `emit` takes OpenAI's chunks as JSON text in latin1, and `[DONE]`. */
export interface StreamTranslator {
  /** `data` is latin1; `event` is the event's name, empty where it has none. */
  onEvent(data: string, event: string, emit: (chunk: string) => void): void;
  /** The upstream closed its stream. */
  onEnd(emit: (chunk: string) => void): void;
}

export interface Adapter {
  /** The request in the provider's dialect. Only what the caller sent goes out, and what the dialect demands. */
  outgoing(request: ChatRequest, target: Target): OutgoingCall;
  /** null where answers are OpenAI's already, and are passed on as they are. */
  readonly answer: ((value: unknown, encoding: TextEncoding) => TranslatedAnswer) | null;
  /** null where frames are OpenAI's already. */
  readonly stream: (() => StreamTranslator) | null;
  /** A parameter that the dialect has no words for, whatever the catalogue says of the route. */
  cannotApply(request: Pick<ChatRequest, 'needs' | 'responseFormat'>): RefusableParameter | null;
}
