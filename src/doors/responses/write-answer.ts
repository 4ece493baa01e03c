/** Writes a whole response: the provider's own one with four members changed, or one that is made of a completion. */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../../base/latin1.js';
import type { Fields } from '../body.js';
import type { WholeAnswer } from '../door.js';
import { writeNativeAnswer } from '../native-answer.js';
import { packReasoning } from './packed-reasoning.js';
import {
  callItem,
  echoFor,
  endOf,
  messageItem,
  nativeUsage,
  reasoningItem,
  refusalPart,
  responseText,
  responseUsage,
  textPart,
} from './response-object.js';

export function writeAnswer(answer: WholeAnswer): string {
  const { request, id, created, model, parts, usage, cost, metadata } = answer;
  if (parts.native !== undefined) return writeNativeAnswer(answer, nativeUsage);
  const billed = { given: parts.usage, usage, cost };
  const { choices } = JSON.parse(`{${parts.members}}`) as { choices: Fields[] };
  const { message, finish_reason } = choices[0] as { message: Fields; finish_reason: string };
  const write = (value: unknown): string =>
    parts.encoding === 'latin1' ? JSON.stringify(value) : encodeLatin1(JSON.stringify(value));
  const end = endOf(finish_reason);
  const text = responseText(
    { echo: echoFor(request.native!, metadata) },
    {
      ...{ id, created, model, ...end, usage: responseUsage(billed), metadata },
      output: itemsOf(answer, message, write, end.status === 'completed' ? 'completed' : 'incomplete'),
    },
  );
  return parts.encoding === 'latin1' ? text : decodeLatin1(asLatin1(text));
}

function itemsOf(
  { request, id }: WholeAnswer,
  message: Fields,
  write: (value: unknown) => string,
  status: 'completed' | 'incomplete',
): string[] {
  const native = request.native!;
  const items: string[] = [];
  const { content, refusal, reasoning_content, reasoning, reasoning_details, tool_calls } = message;
  const thought = reasoning_content ?? reasoning;
  const packed =
    native.keepsReasoning && Array.isArray(reasoning_details) ? packReasoning(write(reasoning_details)) : null;
  const inside = typeof thought === 'string' ? write(thought).slice(1, -1) : '';
  if (inside !== '' || packed !== null) items.push(reasoningItem(`rs_${id}`, 'completed', inside, packed));
  const texts: string[] = [];
  if (typeof content === 'string' && content !== '') texts.push(textPart(write(content).slice(1, -1)));
  if (typeof refusal === 'string' && refusal !== '') texts.push(refusalPart(write(refusal).slice(1, -1)));
  const calls = Array.isArray(tool_calls) ? (tool_calls as Fields[]) : [];
  if (texts.length > 0 || (calls.length === 0 && items.length === 0))
    items.push(messageItem(`msg_${id}`, status, texts));
  calls.forEach((call, at) => {
    const { name, arguments: text } = (call.function ?? {}) as Fields;
    items.push(
      callItem(native, {
        id: `fc_${id}_${at}`,
        callId: write(call.id),
        name: write(name),
        inside: write(String(text ?? '{}')).slice(1, -1),
        status,
      }),
    );
  });
  return items;
}
