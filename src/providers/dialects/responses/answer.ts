/**
 * Reads a whole answer of the Responses API as a completion, for the bill and the receipt. The answer itself is passed on as the
 * provider wrote it, so only text, calls, usage and the end matter here.
 */
import type { TextEncoding } from '../../../wire/json-text.js';
import {
  type Answered,
  argumentsOf,
  completionOf,
  emptyAnswer,
  errorAnswer,
  toolCallId,
} from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import type { TranslatedAnswer } from '../dialect.js';

export function readResponse(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (isFields(value.error) || value.status === 'failed') return errorAnswer(value, encoding);
  const { output } = value;
  if (!Array.isArray(output)) return { kind: 'malformed', reason: 'its answer has no output' };
  const answered = emptyAnswer(value.model, usageOf(value));
  for (const item of output) if (isFields(item)) takeItem(item, answered);
  answered.finishReason = finishReasonOf(value, answered.toolCalls.length > 0);
  return completionOf(answered);
}

/** The same for a compacted conversation. What it repeats of the conversation is not an answer. */
export function readCompaction(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value) || !Array.isArray(value.output)) return readResponse(value, encoding);
  return readResponse({ ...value, output: [] }, encoding);
}

function takeItem(item: Fields, answered: Answered): void {
  switch (item.type) {
    case 'message':
      answered.content += textsIn(item.content);
      break;
    case 'reasoning':
      answered.reasoning += textsIn(item.content) + textsIn(item.summary);
      break;
    case 'function_call':
    case 'custom_tool_call':
      answered.toolCalls.push({
        id: toolCallId(item.call_id),
        name: String(item.name),
        arguments: argumentsOf(item.arguments ?? item.input),
      });
  }
}

function textsIn(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (isFields(part) ? String(part.text ?? part.refusal ?? '') : '')).join('');
}

export function finishReasonOf({ status, incomplete_details }: Fields, calledTools: boolean): string {
  if (status === 'incomplete') {
    return isFields(incomplete_details) && incomplete_details.reason === 'content_filter' ? 'content_filter' : 'length';
  }
  return calledTools ? 'tool_calls' : 'stop';
}

/** Calls of tools that ran at the provider: `web_search_call` is one of `web_search`. */
const hostedCall = /^(web_search|file_search|code_interpreter|image_generation|computer|mcp)_call$/;

/** The provider's usage, with the calls of its tools, which it shows only as items. Undefined where there is none. */
export function usageOf({ usage, output, service_tier }: Fields): Fields | undefined {
  if (!isFields(usage)) return undefined;
  const calls: Record<string, number> = {};
  for (const item of Array.isArray(output) ? output : []) {
    const tool = isFields(item) ? hostedCall.exec(String(item.type))?.[1] : undefined;
    if (tool !== undefined) calls[tool] = (calls[tool] ?? 0) + 1;
  }
  return {
    ...usage,
    ...(Object.keys(calls).length > 0 && { server_tool_use: calls }),
    ...(typeof service_tier === 'string' && { service_tier }),
  };
}
