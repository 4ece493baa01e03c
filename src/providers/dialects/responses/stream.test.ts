import { expect, it } from 'vitest';
import { asLatin1 } from '../../../base/latin1.js';
import { hasContent, parseChunk } from '../../../wire/chunk.js';
import { ResponseStream } from './stream.js';

function hasContentOf(event: object): boolean {
  let found = false;
  new ResponseStream().onEvent(asLatin1(JSON.stringify(event)), '', (chunk) => {
    const { choices = [] } = parseChunk(chunk)!;
    if (hasContent({ choices })) found = true;
  });
  return found;
}

it('a picture is content: what comes before it is sent, and the stream holds none of them', () => {
  const partial = { type: 'response.image_generation_call.partial_image', partial_image_b64: 'aGk=' };
  expect(hasContentOf(partial)).toBe(true);
  const item = { type: 'image_generation_call', status: 'completed', result: 'aGk=' };
  expect(hasContentOf({ type: 'response.output_item.done', item })).toBe(true);
  expect(hasContentOf({ type: 'response.output_item.done', item: { ...item, status: 'failed', result: null } })).toBe(
    false,
  );
  expect(hasContentOf({ type: 'response.image_generation_call.generating' })).toBe(false);
  expect(hasContentOf({ type: 'response.output_item.done', item: { type: 'message' } })).toBe(false);
});
