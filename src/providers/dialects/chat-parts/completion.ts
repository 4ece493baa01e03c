/** A whole answer of any dialect as OpenAI's completion, with the members that its clients demand. */
import { timeOrderedId } from '../../../base/ids.js';
import { readable, type TextEncoding } from '../../../wire/json-text.js';
import type { TranslatedAnswer } from '../dialect.js';
import type { Fields } from './items.js';

export interface Answered {
  /** What the provider says that it served. */
  model: unknown;
  content: string;
  reasoning: string;
  /** See docs/guide/dialects.md: what the provider wants to have back. */
  reasoningDetails: Fields[];
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string;
  /** OpenAI's usage; undefined where the provider gave none. */
  usage: Fields | undefined;
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

/** A result names the call that it belongs to, so a call always has an id. */
export function toolCallId(given: unknown): string {
  return typeof given === 'string' && given !== '' ? given : `call_${timeOrderedId(Date.now())}`;
}

/** Arguments as JSON text. Elsewhere they are an object; some servers write text there too. */
export function argumentsOf(input: unknown): string {
  return typeof input === 'string' && input !== '' ? input : JSON.stringify(input || {});
}

/** An error in the provider's own shape: people read it, so it is turned into the text that it was meant to be. */
export function errorAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  return { kind: 'error', error: JSON.parse(readable(JSON.stringify(value), encoding)) };
}
