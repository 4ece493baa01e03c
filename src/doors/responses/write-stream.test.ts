import { expect, it } from 'vitest';
import { chunk } from '../../../tests/support/openai-shapes.js';
import { PlayedRelay } from '../../../tests/support/played-relay.js';
import { readResponsesRequest } from './read-request.js';
import { ResponseStreamWriter } from './write-stream.js';

interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

it('a refusal has the events and the part of one, also behind text', () => {
  const { native } = readResponsesRequest(Buffer.from('{"model":"auto/a/b","input":"Hi"}'));
  const played = new PlayedRelay({ openWriter: () => new ResponseStreamWriter(native!) });
  played.frame(chunk({ content: 'Well' }));
  for (const refusal of ['I "can', 'not".']) played.frame(chunk({ delta: { refusal } }));
  const zero = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const usage = { given: undefined, usage: zero, cost: { pico: 0n, details: {}, lines: [], tier: null } };
  const end = played.relay.takeEnd('complete', usage as never, '{}');
  const events = `${played.caller.written}${end}`
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Event);
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of('response.refusal.delta').map(({ delta }) => delta)).toEqual(['I "can', 'not".']);
  expect(of('response.refusal.done')).toMatchObject([{ refusal: 'I "cannot".', output_index: 1, content_index: 0 }]);
  expect(of('response.output_text.done')).toMatchObject([{ text: 'Well', output_index: 0 }]);
  expect(of('response.content_part.added').map(({ part }) => (part as Event).type)).toEqual(['output_text', 'refusal']);
  const content = [{ type: 'refusal', refusal: 'I "cannot".' }];
  expect(of('response.output_item.done')[1]).toMatchObject({ item: { type: 'message', content } });
  expect(of('response.completed')).toMatchObject([
    { response: { output: [{ content: [{ text: 'Well' }] }, { content }] } },
  ]);
});
