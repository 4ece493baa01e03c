import { describe, expect, it } from 'vitest';
import { PlayedCall } from '../../tests/support/upstream-call.js';

describe('a frame that holds more than is read', () => {
  it.each([
    ['levels', `{"a":${'['.repeat(10_000)}`, 'it sent a frame that is nested deeper than 128 levels'],
    ['values', `{"a":[${'1,'.repeat(400_001)}1]}`, 'it sent a frame that has over 400000 values'],
    [
      'names',
      `{${Array.from({ length: 12_000 }, (_, at) => `"n${at}":0`).join(',')}}`,
      'it sent a frame that has over 10000 different names',
    ],
  ])('ends the stream before anybody parses it: %s', async (_, frame, reason) => {
    const played = new PlayedCall({ stream: true }).sse();
    played.data(`data: {"a":1}\n\ndata: ${frame}\n\ndata: {"b":1}\n\n`);
    expect(await played.result).toEqual({ kind: 'stream', status: 200, cleanly: false, reason, excess: true });
    expect(played.consumer.frames).toEqual(['{"a":1}']);
    expect(played.aborts).toBe(1);
  });
});
