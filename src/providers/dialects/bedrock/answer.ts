/**
 * A whole answer of Converse as a completion. Blocks of other kinds, as those of tools that Bedrock ran itself, have no place
 * in it.
 */
import type { TextEncoding } from '../../../wire/json-text.js';
import { type Answered, argumentsOf, completionOf, errorAnswer, toolCallId } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import type { TranslatedAnswer } from '../dialect.js';
import { redactedFormat, signedFormat } from './blocks.js';
import { readName } from './names.js';
import { finishReasonOf, isBrokenOutput, usageOf } from './usage.js';

export function readAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  const message = isFields(value.output) ? value.output.message : undefined;
  if (!isFields(message)) {
    const says = value.__type ?? value.message ?? value.Message ?? value.error;
    return says
      ? errorAnswer(withPlainType(value), encoding)
      : { kind: 'malformed', reason: 'its answer has no message' };
  }
  const answered: Answered = {
    model: undefined,
    content: '',
    reasoning: '',
    reasoningDetails: [],
    toolCalls: [],
    finishReason: '',
    usage: usageOf(value.usage, value.serviceTier),
  };
  const content = Array.isArray(message.content) ? message.content : [];
  for (const block of content) if (isFields(block)) take(block, answered, encoding);
  if (content.length === 0 && isBrokenOutput(value.stopReason)) {
    return { kind: 'malformed', reason: `its answer is empty (${value.stopReason})` };
  }
  answered.finishReason = finishReasonOf(value.stopReason, answered.toolCalls.length > 0);
  return completionOf(answered);
}

/** An exception's type may stand behind its namespace: `com.amazon.coral#ValidationException`. */
function withPlainType(value: Fields): Fields {
  return typeof value.__type === 'string' ? { ...value, __type: value.__type.replace(/^.*#/, '') } : value;
}

/**
 * A tool that runs at the provider has a type of its own: its calls are answered already, and are none of the caller's. A call
 * of nobody knows what cannot be answered.
 */
export function isCallersTool({ type, name }: Fields): boolean {
  return typeof name === 'string' && (type === undefined || type === null || type === 'tool_use');
}

function take(block: Fields, answered: Answered, encoding: TextEncoding): void {
  const { text, toolUse, reasoningContent, citationsContent } = block;
  if (typeof text === 'string') answered.content += text;
  if (isFields(toolUse) && isCallersTool(toolUse)) {
    answered.toolCalls.push({
      id: toolCallId(toolUse.toolUseId),
      name: readName(String(toolUse.name), encoding),
      arguments: argumentsOf(toolUse.input),
    });
  }
  if (isFields(reasoningContent)) takeReasoning(reasoningContent, answered);
  // Text with its sources beside it is text.
  if (isFields(citationsContent) && Array.isArray(citationsContent.content)) {
    for (const cited of citationsContent.content) if (isFields(cited)) take({ text: cited.text }, answered, encoding);
  }
}

function takeReasoning({ reasoningText, redactedContent }: Fields, answered: Answered): void {
  const { reasoningDetails: details } = answered;
  const index = details.length;
  if (typeof redactedContent === 'string') {
    details.push({ type: 'reasoning.encrypted', data: redactedContent, format: redactedFormat, index });
  }
  if (!isFields(reasoningText)) return;
  const { text = '', signature } = reasoningText;
  answered.reasoning += String(text);
  if (typeof signature === 'string') {
    details.push({ type: 'reasoning.text', text, signature, format: signedFormat, index });
  }
}
