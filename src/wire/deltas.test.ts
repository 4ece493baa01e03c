import { describe, expect, it } from 'vitest';
import { type Chunk, deliveredText } from './chunk.js';
import { DeltaReader } from './deltas.js';

function tidied(...pieces: object[][]): unknown[] {
  const deltas = new DeltaReader();
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

describe('tool calls of a stream, as OpenAI\u2019s clients put them together', () => {
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

  it('tell an id, a type and a name once, and a name that comes later', () => {
    const late = { index: 0, id: 'a', type: 'function', function: { arguments: '' } };
    const named = { index: 0, id: 'a', function: { name: 'f', arguments: '{' } };
    expect(tidied([late], [named])).toEqual([[late], [{ index: 0, function: { name: 'f', arguments: '{' } }]]);
    expect(tidied([opened('a', { index: 0 })], [opened('a', { index: 0 })])).toEqual([
      [opened('a', { index: 0 })],
      [piece('', { index: 0 })],
    ]);
  });

  it('have arguments as text', () => {
    const whole = opened('a', { index: 0, function: { name: 'f', arguments: { k: [1] } } });
    expect(tidied([whole])).toEqual([[{ ...whole, function: { name: 'f', arguments: '{"k":[1]}' } }]]);
    for (const given of [undefined, null]) {
      expect(tidied([{ index: 0, id: 'a', function: { name: 'f', arguments: given } }])).toEqual([
        [opened('a', { index: 0 })],
      ]);
    }
  });

  it('are counted from 0 without gaps, whatever the server counts', () => {
    const indexes = (...given: unknown[]) =>
      tidied(given.map((index, at) => opened(`id${at}`, { index }))).flatMap((calls) =>
        (calls as { index: number }[]).map(({ index }) => index),
      );
    expect(indexes(1, 2)).toEqual([0, 1]);
    expect(indexes('0', '1')).toEqual([0, 1]);
    expect(indexes(null, null)).toEqual([0, 1]);
    expect(indexes(7, -1, 2.5)).toEqual([0, 1, 2]);
    expect(indexes(0, 0, 0)).toEqual([0, 1, 2]);
  });

  it('go on with the call that used the index last', () => {
    const again = tidied([opened('a', { index: 0 })], [opened('b', { index: 0 })], [piece('{}', { index: 0 })]);
    expect(again[2]).toEqual([piece('{}', { index: 1 })]);
  });

  it('go on with a call whose id changes from piece to piece', () => {
    const renamed = { index: 0, id: 'other', function: { name: '', arguments: '{}' } };
    expect(tidied([opened('a', { index: 0 })], [renamed])[1]).toEqual([piece('{}', { index: 0 })]);
  });

  it('have an id: the server\u2019s, also where it comes late, or one of ours', () => {
    const [[first], [second]] = tidied(
      [{ index: 0, function: { name: 'f', arguments: '' } }],
      [{ index: 0, id: 'late', function: { arguments: '{' } }],
    ) as [[{ id: string; type: string }], [{ id: string }]];
    expect(first).toMatchObject({ id: expect.stringMatching(/^call_[0-9a-z]{26}$/), type: 'function' });
    expect(second.id).toBe('late');
  });

  it('without an index and an id begin with each name, unless the call before has no arguments yet', () => {
    const named = (name: string, text: string) => ({ function: { name, arguments: text } });
    const calls = tidied([named('f', '{}')], [named('f', '{}')], [named('g', '')], [named('g', '{}')], [piece(' ')]);
    expect(calls.flatMap((each) => (each as { index: number }[]).map(({ index }) => index))).toEqual([0, 1, 2, 2, 2]);
  });

  it('without arguments get empty ones when their choice finishes', () => {
    const deltas = new DeltaReader();
    const frame = (delta: object, finish_reason: string | null): Chunk => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    deltas.tidy(frame({ tool_calls: [opened('a', { index: 0 }), opened('b', { index: 1 })] }, null));
    deltas.tidy(frame({ tool_calls: [piece('{"k":1}', { index: 1 })] }, null));
    const last = frame({}, 'tool_calls');
    deltas.tidy(last);
    expect(last.choices![0]!.delta).toEqual({ tool_calls: [piece('{}', { index: 0 })] });
    const whole = frame({ tool_calls: [opened('a', { index: 0 })] }, 'tool_calls');
    new DeltaReader().tidy(whole);
    expect(whole.choices![0]!.delta!.tool_calls).toEqual([
      opened('a', { index: 0, function: { name: 'f', arguments: '{}' } }),
    ]);
  });

  it.each(['length', 'content_filter', 'max_tokens'])(
    'that %s cut off before their arguments get none, and only those that a later call with arguments follows are finished',
    (reason) => {
      const calls = ['a', 'b', 'c', 'd'].map((id, index) => opened(id, { index }));
      const last: Chunk = {
        choices: [{ index: 0, delta: { tool_calls: [piece('{"k":', { index: 1 })] }, finish_reason: reason }],
      };
      const deltas = new DeltaReader();
      deltas.tidy({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] });
      deltas.tidy(last);
      expect(last.choices![0]!.delta!.tool_calls).toEqual([piece('{"k":', { index: 1 }), piece('{}', { index: 0 })]);
      const alone: Chunk = { choices: [{ index: 0, delta: { tool_calls: [opened('a')] }, finish_reason: reason }] };
      new DeltaReader().tidy(alone);
      expect(alone.choices![0]!.delta!.tool_calls).toMatchObject([{ function: { arguments: '' } }]);
    },
  );

  it('are absent where a server writes null, as are other members that clients of OpenRouter take no null for', () => {
    const nulls = { tool_calls: null, function_call: null, audio: null, images: null, reasoning_details: null };
    const chunk: Chunk = { choices: [{ index: 0, delta: { content: null, refusal: null, ...nulls } }] };
    new DeltaReader(true).tidy(chunk);
    expect(chunk.choices![0]!.delta).toEqual({ content: null, refusal: null });
  });

  it('of custom tools have their input alone, and no arguments when their choice finishes', () => {
    const deltas = new DeltaReader();
    const frame = (tool_calls: object[], finish_reason: string | null = null): Chunk => ({
      choices: [{ index: 0, delta: { tool_calls }, finish_reason }],
    });
    const frames = [
      frame([{ index: 0, id: 'a', type: 'custom', custom: { name: 'shell', input: '' } }]),
      frame([{ index: 0, custom: { input: 'ls' } }]),
      frame([{ index: 1, id: 'b', custom: { name: 'shell' } }]),
      frame([], 'tool_calls'),
    ];
    for (const each of frames) deltas.tidy(each);
    expect(frames.map(({ choices }) => choices![0]!.delta!.tool_calls)).toEqual([
      [{ index: 0, id: 'a', type: 'custom', custom: { name: 'shell', input: '' } }],
      [{ index: 0, custom: { input: 'ls' } }],
      [{ index: 1, id: 'b', type: 'custom', custom: { name: 'shell', input: '' } }],
      [],
    ]);
    expect(frames.map(deliveredText)).toEqual(['shell', 'ls', 'shell', '']);
  });

  it.each(['', null, undefined])('with one index and the id %j for all begin with each whole call', (id) => {
    const whole = (name: string, text: string) => ({ index: 0, id, function: { name, arguments: text } });
    const places = (...frames: object[][]) =>
      tidied(...frames).flatMap((calls) => (calls as { index: number }[]).map(({ index }) => index));
    expect(places([whole('f', '{"k":1}'), whole('f', '{"k":2}'), whole('g', '{}')])).toEqual([0, 1, 2]);
    expect(places([whole('f', '{"k":1}')], [whole('f', '{"k":2}')], [whole('g', '')], [whole('g', '{}')])).toEqual([
      0, 1, 2, 2,
    ]);
    // A name that is repeated with each piece begins nothing.
    expect(places([whole('f', '{"k":')], [whole('f', '{"l":1}')], [whole('f', '}')])).toEqual([0, 0, 0]);
  });

  it('keep choices apart, and odd entries do no harm', () => {
    const deltas = new DeltaReader();
    const chunk = {
      choices: [0, 1].map((index) => ({ index, delta: { tool_calls: [null, 3, { id: 'a', function: null }] } })),
    } as unknown as Chunk;
    deltas.tidy(chunk);
    expect(chunk.choices!.map(({ delta }) => delta!.tool_calls)).toEqual([
      [{ id: 'a', type: 'function', function: null, index: 0 }],
      [{ id: 'a', type: 'function', function: null, index: 0 }],
    ]);
  });

  it('are remembered up to a bound, and so are choices', () => {
    const deltas = new DeltaReader();
    for (let at = 0; at < 3_000; at++) {
      deltas.tidy({ choices: [{ index: 0, delta: { tool_calls: [opened(`id${at}`)] }, finish_reason: 'x' }] });
      deltas.tidy({ choices: [{ index: at, delta: {} }] });
    }
    const [first, ...others] = deltas.finishAll();
    expect([first!.choices![0]!.finish_reason, others.length]).toEqual(['tool_calls', 255]);
    const late = { choices: [{ index: 0, delta: { tool_calls: [opened('late', { index: 5 })] } }] };
    deltas.tidy(late);
    expect(late.choices[0]!.delta.tool_calls).toEqual([opened('late', { index: 5 })]);
  });
});

describe('the choices of a stream', () => {
  it('begin with a role, once, and have an index, a delta and a reason or null', () => {
    const deltas = new DeltaReader();
    const frames: Chunk[] = [{ choices: [{}] }, { choices: [{ delta: null }] }, { choices: [{ finish_reason: '' }] }];
    for (const frame of frames) deltas.tidy(frame);
    expect(frames.map(({ choices }) => choices![0])).toEqual([
      { index: 0, delta: { role: 'assistant' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: null },
      { index: 0, delta: {}, finish_reason: null },
    ]);
    expect(deltas.writesNullReasons).toBe(false);
  });

  it('have a message or a text as their delta where nothing was sent before, and what was sent so far is dropped', () => {
    const frame = (choice: object): Chunk => ({ choices: [choice] });
    const first = frame({ message: { content: 'all' } });
    new DeltaReader().tidy(first);
    expect(first.choices![0]).toMatchObject({ delta: { role: 'assistant', content: 'all' } });
    const deltas = new DeltaReader();
    const frames = [
      { text: 'a' },
      { text: 'b' },
      { delta: { content: 'c' }, message: { content: 'abc' } },
      { message: { content: 'abc' } },
    ];
    const seen = frames.map((choice) => {
      const each = frame(choice);
      deltas.tidy(each);
      expect(each.choices![0]).not.toHaveProperty('message');
      return each.choices![0]!.delta!.content;
    });
    expect(seen).toEqual(['a', 'b', 'c', undefined]);
  });

  it('have reasoning from its details only where it has no name of its own', () => {
    const deltas = new DeltaReader();
    const details = [{ type: 'reasoning.text', text: 'hm' }];
    const of = (delta: object) => {
      const frame: Chunk = { choices: [{ index: 1, delta }] };
      deltas.tidy(frame);
      return frame.choices![0]!.delta!.reasoning;
    };
    expect(of({ reasoning_details: details })).toBe('hm');
    expect(of({ reasoning: 'so', reasoning_details: details })).toBe('so');
    expect(of({ reasoning_details: details })).toBeUndefined();
  });
});
