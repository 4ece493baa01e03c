/**
 * Translates a whole message to a completion: joined text, tool calls and reasoning. Other blocks, such as those of tools that
 * Anthropic ran itself, are left out.
 */

import { reasoningFormat } from '../../../wire/anthropic-words.js';
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
import { finishReasonOf, usageOf } from './usage.js';

export function readAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (value.type === 'error' || isFields(value.error)) return errorAnswer(value, encoding);
  const content = contentOf(value);
  if (content === null) return { kind: 'malformed', reason: 'its answer has no content' };
  const answered = emptyAnswer(value.model, usageOf(value.usage));
  for (const block of content) if (isFields(block)) takeBlock(block, answered);
  answered.finishReason = finishReasonOf(value.stop_reason, answered.toolCalls.length > 0);
  return completionOf(answered);
}

/** A message may be empty, and some servers write plain text. Null where the value is not a message. */
function contentOf({ type, content }: Fields): unknown[] | null {
  if (Array.isArray(content)) return content;
  if (type !== 'message') return null;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

function takeBlock(block: Fields, answered: Answered): void {
  const index = answered.reasoningDetails.length;
  switch (block.type) {
    case 'text':
      answered.content += String(block.text ?? '');
      break;
    case 'tool_use':
      // A call without a function name cannot be executed.
      if (typeof block.name !== 'string') break;
      answered.toolCalls.push({
        id: toolCallId(block.id),
        name: block.name,
        arguments: argumentsOf(block.input),
      });
      break;
    case 'thinking': {
      const { thinking: text = '', signature } = block;
      answered.reasoning += String(text);
      answered.reasoningDetails.push({ type: 'reasoning.text', text, signature, format: reasoningFormat, index });
      break;
    }
    case 'redacted_thinking':
      answered.reasoningDetails.push({
        type: 'reasoning.encrypted',
        data: block.data,
        format: reasoningFormat,
        index,
      });
      break;
  }
}
