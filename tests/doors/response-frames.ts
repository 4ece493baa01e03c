/** A stream of a provider that speaks the Responses API. */
import type { Said, WriteJson } from '../dialects/dialect-fixture.js';

export function responseFrames({ text, reasoning, toolCalls = [], finish, usage }: Said, write: WriteJson): string[] {
  const response = { id: 'resp_1', object: 'response', model: 'upstream-model', status: 'in_progress', output: [] };
  const events: object[] = [{ type: 'response.created', response: { ...response, usage: null } }];
  const output: object[] = [];
  const add = (item: object, inner: (output_index: number) => object[], done: object): void => {
    const output_index = output.length;
    events.push({ type: 'response.output_item.added', output_index, item });
    events.push(...inner(output_index), { type: 'response.output_item.done', output_index, item: done });
    output.push(done);
  };
  if (reasoning) {
    const item = { id: 'rs_1', type: 'reasoning', summary: [] };
    const place = { item_id: 'rs_1', content_index: 0 };
    const delta = (output_index: number) =>
      reasoning.map((piece) => ({ type: 'response.reasoning_text.delta', output_index, ...place, delta: piece }));
    add(item, delta, { ...item, content: [{ type: 'reasoning_text', text: reasoning.join('') }] });
  }
  if (text) {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
    const place = { item_id: 'msg_1', content_index: 0 };
    const part = { type: 'output_text', text: '', annotations: [] };
    const inner = (output_index: number) => [
      { type: 'response.content_part.added', output_index, ...place, part },
      ...text.map((piece) => ({ type: 'response.output_text.delta', output_index, ...place, delta: piece })),
      { type: 'response.content_part.done', output_index, ...place, part: { ...part, text: text.join('') } },
    ];
    add(item, inner, { ...item, content: [{ ...part, text: text.join('') }] });
  }
  for (const { id, name, arguments: pieces } of toolCalls) {
    const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: '' };
    const inner = (output_index: number) =>
      pieces.map((piece) => ({
        ...{ type: 'response.function_call_arguments.delta', item_id: item.id },
        ...{ output_index, delta: piece },
      }));
    add(item, inner, { ...item, arguments: pieces.join('') });
  }
  const figures = { input_tokens: usage.prompt, output_tokens: usage.completion };
  const isCut = finish === 'length';
  const status = isCut ? 'incomplete' : 'completed';
  events.push({ type: `response.${status}`, response: { ...response, status, output, usage: figures } });
  return events.map((event, sequence_number) => {
    const { type } = event as { type: string };
    return `event: ${type}\ndata: ${write({ ...event, sequence_number })}\n\n`;
  });
}
