import { expect, it } from 'vitest';
import { readResponsesRequest } from './read-request.js';

const audio = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
const extrasOf = (input: unknown) =>
  readResponsesRequest(Buffer.from(JSON.stringify({ model: 'a/b/c', input }))).extras;

it.each([
  ['a message', [{ role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, audio] }]],
  ['the output of a call', [{ type: 'function_call_output', call_id: 'c', output: [audio] }]],
])('audio in %s is found, because it may have no price', (_, input) => {
  expect(extrasOf(input)).toMatchObject({ audio: true });
});

it.each([
  ['Hi'],
  [[{ role: 'user', content: 'input_audio' }]],
  [[{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }]],
])('there is none in %j', (input) => expect(extrasOf(input)).toBeUndefined());
