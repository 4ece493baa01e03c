/** A whole message as a completion: texts joined, tools called, reasoning beside the answer. Blocks of other kinds have no place in it. */
import type { TextEncoding } from '../../../wire/json-text.js';
import type { TranslatedAnswer } from '../adapter.js';
import { type Answered, completionOf, errorAnswer } from '../messages/completion.js';
import { type Fields, isFields } from '../messages/items.js';
import { reasoningFormat } from './blocks.js';
import { finishReasonOf, usageOf } from './usage.js';

export function readAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (value.type === 'error' || isFields(value.error)) return errorAnswer(value, encoding);
  if (!Array.isArray(value.content)) return { kind: 'malformed', reason: 'its answer has no content' };
  const answered: Answered = {
    model: value.model,
    content: '',
    reasoning: '',
    reasoningDetails: [],
    toolCalls: [],
    finishReason: finishReasonOf(value.stop_reason),
    usage: usageOf(value.usage),
  };
  for (const block of value.content) if (isFields(block)) take(block, answered);
  return completionOf(answered);
}

function take(block: Fields, answered: Answered): void {
  const index = answered.reasoningDetails.length;
  switch (block.type) {
    case 'text':
      answered.content += String(block.text ?? '');
      break;
    case 'tool_use':
      answered.toolCalls.push({
        id: String(block.id),
        name: String(block.name),
        arguments: JSON.stringify(block.input ?? {}),
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
