/** Builds an OpenAI completion from an answer in another dialect, with the members that OpenAI's clients require. */
import { timeOrderedId } from '../../../base/ids.js';
import { readable, type TextEncoding } from '../../../wire/json-text.js';
import type { TranslatedAnswer } from '../dialect.js';
import type { Fields } from './conversation.js';

export interface Answered {
  /** The model that the provider reports. */
  model: unknown;
  content: string;
  reasoning: string;
  /** What the provider expects back in later requests; see docs/guide/dialects.md. */
  reasoningDetails: Fields[];
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string;
  /** OpenAI's usage; undefined where the provider gave none. */
  usage: Fields | undefined;
}

/** An answer of which nothing was read yet but its model and its usage. */
export function emptyAnswer(model: unknown, usage: Fields | undefined): Answered {
  return { model, content: '', reasoning: '', reasoningDetails: [], toolCalls: [], finishReason: '', usage };
}

export function completionOf(answered: Answered): TranslatedAnswer {
  const { model, content, reasoning, reasoningDetails, toolCalls, finishReason, usage } = answered;
  const message: Fields = {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal: null,
  };
  if (reasoning !== '') message.reasoning_content = reasoning;
  if (reasoningDetails.length > 0) message.reasoning_details = reasoningDetails;
  if (toolCalls.length > 0) {
    message.tool_calls = toolCalls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return { kind: 'completion', completion: { model, choices, ...(usage && { usage }) } };
}

/** A tool result refers to its call by id, so every call gets one. */
export function toolCallId(given: unknown): string {
  return typeof given === 'string' && given !== '' ? given : `call_${timeOrderedId(Date.now())}`;
}

/**
 * Arguments as JSON text. Other dialects use an object; some servers write text there too. Without any the text is empty: a provider
 * writes an empty object for a call that was cut off too, and only a finished call may have `{}`.
 */
export function argumentsOf(input: unknown): string {
  if (typeof input === 'string') return input;
  const text = JSON.stringify(input || {});
  return text === '{}' ? '' : text;
}

/** An error in the provider's own shape, decoded from latin1 because people read it. */
export function errorAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  return { kind: 'error', error: JSON.parse(readable(JSON.stringify(value), encoding)) };
}
