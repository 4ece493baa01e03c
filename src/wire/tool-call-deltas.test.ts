import { describe, expect, it } from 'vitest';
import type { Chunk } from './chunk.js';
import { ToolCallDeltas } from './tool-call-deltas.js';

function tidied(...pieces: object[][]): unknown[] {
  const deltas = new ToolCallDeltas();
  return pieces.map((tool_calls) => {
    const chunk: Chunk = { choices: [{ index: 0, delta: { tool_calls: structuredClone(tool_calls) } }] };
    deltas.tidy(chunk);
    return chunk.choices![0]!.delta!.tool_calls;
  });
}

const opened = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '' },
  ...more,
});
const piece = (text: string, more: object = {}) => ({ function: { arguments: text }, ...more });

describe('tool calls of a stream, as OpenAI\u2019s clients put them together (wire 7)', () => {
  it('are left alone where nothing is wrong with them, interleaved too', () => {
    const calls = [
      [opened('a', { index: 0 }), opened('b', { index: 1 })],
      [piece('{', { index: 1 })],
      [piece('{', { index: 0 }), piece('}', { index: 1 })],
    ];
    expect(tidied(...calls)).toEqual(calls);
  });

  it('have the index that was left out: a new id is a new call, and what has no id belongs to the last', () => {
    expect(tidied([opened('a')], [piece('{')], [opened('b'), opened('c')], [piece('}')], [opened('b')])).toEqual([
      [opened('a', { index: 0 })],
      [piece('{', { index: 0 })],
      [opened('b', { index: 1 }), opened('c', { index: 2 })],
      [piece('}', { index: 2 })],
      [piece('', { index: 1 })],
    ]);
  });

  it('tell an id and a name once, and a name that comes later', () => {
    const late = { index: 0, id: 'a', function: { arguments: '' } };
    const named = { index: 0, id: 'a', function: { name: 'f', arguments: '{' } };
    expect(tidied([late], [named])).toEqual([[late], [{ index: 0, function: { name: 'f', arguments: '{' } }]]);
    expect(tidied([opened('a', { index: 0 })], [opened('a', { index: 0 })])).toEqual([
      [opened('a', { index: 0 })],
      [piece('', { index: 0 })],
    ]);
  });

  it('have arguments as text', () => {
    const whole = { index: 0, id: 'a', function: { name: 'f', arguments: { k: [1] } } };
    expect(tidied([whole])).toEqual([[{ ...whole, function: { name: 'f', arguments: '{"k":[1]}' } }]]);
  });

  it('keep choices apart, and odd entries do no harm', () => {
    const deltas = new ToolCallDeltas();
    const chunk = {
      choices: [0, 1].map((index) => ({ index, delta: { tool_calls: [null, 3, { id: 'a', function: null }] } })),
    } as unknown as Chunk;
    deltas.tidy(chunk);
    expect(chunk.choices!.map(({ delta }) => (delta!.tool_calls as { index: number }[])[2]!.index)).toEqual([0, 0]);
  });
});
