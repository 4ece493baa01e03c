import { expect, it } from 'vitest';
import { OpenItems } from './open-items.js';

it('an index that no answer has makes no list of that length', () => {
  const items = new OpenItems();
  const done = (index: unknown) => JSON.stringify({ output_index: index, item: { id: `i${String(index)}` } });
  for (const index of [0, 4_294_967_294, -1, 1.5, 'x', 2]) items.take('response.output_item.done', done(index));
  items.take('response.output_item.added', JSON.stringify({ output_index: 1, item: { id: 'open' } }));
  items.take(
    'response.content_part.added',
    JSON.stringify({ output_index: 1, content_index: 4_294_967_294, part: {} }),
  );
  expect(items.all).toEqual(['{"id":"i0"}', '{"id":"i2"}']);
  expect(items.close(5).sequence).toBe(6);
});

/** What closes an item after these events: their types, and the item. */
function closed(item: object, ...events: [type: string, fields: object][]): [types: string[], item: unknown] {
  const items = new OpenItems();
  items.take('response.output_item.added', JSON.stringify({ output_index: 0, item: { id: 'i', ...item } }));
  for (const [type, fields] of events) items.take(type, JSON.stringify({ output_index: 0, item_id: 'i', ...fields }));
  const { events: text } = items.close(9);
  return [[...text.matchAll(/event: (\S+)/g)].map(([, type = '']) => type), JSON.parse(items.all[0]!)];
}

it('a summary of reasoning, or reasoning itself, is closed with what came of it', () => {
  const part = { type: 'summary_text', text: '' };
  const at = { summary_index: 0 };
  const summary: [string, object][] = [
    ['response.reasoning_summary_part.added', { ...at, part }],
    ['response.reasoning_summary_text.delta', { ...at, delta: 'Th' }],
    ['response.reasoning_summary_text.delta', { ...at, delta: 'ink' }],
  ];
  for (const events of [summary, summary.slice(1)]) {
    const [types, item] = closed({ type: 'reasoning', summary: [] }, ...events);
    expect(types).toEqual([
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
    ]);
    expect(item).toEqual({
      ...{ id: 'i', type: 'reasoning', status: 'incomplete' },
      summary: [{ type: 'summary_text', text: 'Think' }],
    });
  }
  const text: [string, object] = ['response.reasoning_text.delta', { content_index: 0, delta: 'Think' }];
  expect(closed({ type: 'reasoning', summary: [] }, text)).toEqual([
    ['response.reasoning_text.done', 'response.content_part.done', 'response.output_item.done'],
    {
      ...{ id: 'i', type: 'reasoning', summary: [], status: 'incomplete' },
      content: [{ type: 'reasoning_text', text: 'Think' }],
    },
  ]);
});

it('a refusal and the input of a custom tool are closed by events of their own', () => {
  const part = { type: 'refusal', refusal: '' };
  const refusal = closed(
    { type: 'message', content: [] },
    ['response.content_part.added', { content_index: 0, part }],
    ['response.refusal.delta', { content_index: 0, delta: 'No.' }],
  );
  expect(refusal[0]).toEqual(['response.refusal.done', 'response.content_part.done', 'response.output_item.done']);
  const call = closed({ type: 'custom_tool_call', name: 'f', input: '' }, [
    'response.custom_tool_call_input.delta',
    { delta: 'x y' },
  ]);
  expect(call).toEqual([
    ['response.custom_tool_call_input.done', 'response.output_item.done'],
    { id: 'i', type: 'custom_tool_call', name: 'f', input: 'x y', status: 'incomplete' },
  ]);
});
