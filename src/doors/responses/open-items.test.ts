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
