/** Writes a whole message: the provider's own one with four members changed, or one that is made of a completion. */
import { excessOfText, mainThreadBounds } from '../../wire/answer-bounds.js';
import { stopReasons } from '../../wire/anthropic-words.js';
import { type Fields, isFields } from '../body.js';
import type { WholeAnswer } from '../door.js';
import { writeNativeAnswer } from '../native-answer.js';
import { messageUsage, nativeUsage } from './message-usage.js';

export function writeAnswer(answer: WholeAnswer): string {
  const { id, model, parts, usage, cost, metadata } = answer;
  if (parts.native !== undefined) return writeNativeAnswer(answer, nativeUsage);
  const billed = { given: parts.usage, usage, cost };
  const { choices } = JSON.parse(`{${parts.members}}`) as { choices: Fields[] };
  const { message, finish_reason } = choices[0] as { message: Fields; finish_reason: string };
  const content = blocksOf(message);
  const head = { id, type: 'message', role: 'assistant', model, content };
  const reason = stopReasonOf(finish_reason, Array.isArray(message.tool_calls) && message.tool_calls.length > 0);
  return (
    `${JSON.stringify(head).slice(0, -1)},"stop_reason":${JSON.stringify(reason)},"stop_sequence":null` +
    `,"usage":${messageUsage(billed)},"router_metadata":${metadata}}`
  );
}

/** Some servers say `stop` where they call a tool that the request demanded. */
export function stopReasonOf(finishReason: string | null, calledTools: boolean): string {
  const reason = stopReasons[finishReason ?? 'stop'] ?? 'end_turn';
  return reason === 'end_turn' && calledTools ? 'tool_use' : reason;
}

function blocksOf(message: Fields): Fields[] {
  const blocks = thinkingBlocks(message);
  for (const text of [message.content, message.refusal]) {
    if (typeof text === 'string' && text !== '') blocks.push({ type: 'text', text });
  }
  for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
    const { id, function: called } = call as { id: unknown; function?: Fields };
    blocks.push({ type: 'tool_use', id, name: called?.name, input: inputOf(called?.arguments) });
  }
  return blocks;
}

/**
 * Signed reasoning as it was signed; other reasoning has no signature, and none is invented. What can be read comes before what only the
 * provider can read.
 */
function thinkingBlocks({ reasoning_details, reasoning_content, reasoning }: Fields): Fields[] {
  const details = Array.isArray(reasoning_details) ? reasoning_details.filter(isFields) : [];
  const blocks = details.flatMap(thinkingBlock);
  const text = reasoning_content ?? reasoning;
  if (typeof text === 'string' && text !== '' && !blocks.some(({ thinking }) => Boolean(thinking)))
    blocks.unshift({ type: 'thinking', thinking: text, signature: '' });
  return blocks;
}

function thinkingBlock({ text: given, summary, signature, data }: Fields): Fields[] {
  const text = given ?? summary;
  if (typeof text === 'string') {
    return [{ type: 'thinking', thinking: text, signature: typeof signature === 'string' ? signature : '' }];
  }
  return typeof data === 'string' ? [{ type: 'redacted_thinking', data }] : [];
}

/** A tool's input is an object. A model may have written something else, which must not be lost. */
function inputOf(given: unknown): Fields {
  const text = String(given ?? '{}');
  try {
    // The measure of the answer took it for one text.
    const value: unknown = excessOfText(text, 0, text.length, mainThreadBounds) === null ? JSON.parse(text) : null;
    if (isFields(value)) return value;
  } catch {
    // Not JSON: handled like JSON that is not an object.
  }
  return { arguments: given };
}
