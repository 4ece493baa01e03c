/** Translates a whole answer of Converse to a completion. Other blocks, such as those of tools that Bedrock ran itself, are left out. */
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
import { redactedFormat, signedFormat } from './blocks.js';
import { decodedName } from './names.js';
import { finishReasonOf, isBrokenOutput, usageOf } from './usage.js';

export function readAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  const message = isFields(value.output) ? value.output.message : undefined;
  if (!isFields(message)) {
    const error = value.__type ?? value.message ?? value.Message ?? value.error;
    return error
      ? errorAnswer(withPlainType(value), encoding)
      : { kind: 'malformed', reason: 'its answer has no message' };
  }
  const answered = emptyAnswer(undefined, usageOf(value.usage, value.serviceTier));
  const content = Array.isArray(message.content) ? message.content : [];
  for (const block of content) if (isFields(block)) takeBlock(block, answered, encoding);
  if (content.length === 0 && isBrokenOutput(value.stopReason)) {
    return { kind: 'malformed', reason: `its answer is empty (${value.stopReason})` };
  }
  answered.finishReason = finishReasonOf(value.stopReason, answered.toolCalls.length > 0);
  return completionOf(answered);
}

/** The type of an exception may have a namespace: `com.amazon.coral#ValidationException`. */
function withPlainType(value: Fields): Fields {
  return typeof value.__type === 'string' ? { ...value, __type: value.__type.replace(/^.*#/, '') } : value;
}

/** Tools that run at the provider have a type of their own; the client does not execute them. A call must name its function. */
export function isClientTool({ type, name }: Fields): boolean {
  return typeof name === 'string' && (type === undefined || type === null || type === 'tool_use');
}

function takeBlock(block: Fields, answered: Answered, encoding: TextEncoding): void {
  const { text, toolUse, reasoningContent, citationsContent } = block;
  if (typeof text === 'string') answered.content += text;
  if (isFields(toolUse) && isClientTool(toolUse)) {
    answered.toolCalls.push({
      id: toolCallId(toolUse.toolUseId),
      name: decodedName(String(toolUse.name), encoding),
      arguments: argumentsOf(toolUse.input),
    });
  }
  if (isFields(reasoningContent)) takeReasoning(reasoningContent, answered);
  // Text with citations is still text.
  if (isFields(citationsContent) && Array.isArray(citationsContent.content)) {
    for (const cited of citationsContent.content)
      if (isFields(cited)) takeBlock({ text: cited.text }, answered, encoding);
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
