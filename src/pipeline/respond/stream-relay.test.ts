import { describe, expect, it } from 'vitest';
import { chunk, usage } from '../../../tests/support/openai-shapes.js';
import { PlayedRelay } from '../../../tests/support/played-relay.js';
import { forSeeds } from '../../../tests/support/seeded-random.js';
import { asLatin1 } from '../../base/latin1.js';

const role = chunk({ role: 'assistant', content: '' });
const content = (text: string, more: object = {}) => chunk({ content: text, ...more });
const finish = chunk({ delta: {}, finishReason: 'stop' });
const usageOnly = (figures: object) => chunk({ choices: [], usage: figures });
const toolCall = (args: string) =>
  chunk({ delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: args } }] } });

describe('the commit rule', () => {
  it.each([
    ['role-only', [role, chunk({ role: 'assistant' })]],
    ['empty', [chunk({ delta: {} }), content(''), chunk({ choices: [] }), { choices: [{ index: 0 }] }]],
    ['without choices', [{}, { prompt_filter_results: [] }, { choices: null }]],
    ['without data', ['', ' ']],
    ['usage', [usageOnly(usage(9, 0))]],
  ])('frames that are %s send nothing and end nothing', (_, frames) => {
    const played = new PlayedRelay();
    for (const frame of frames) expect(played.frame(frame)).toBe('more');
    const { relay, caller } = played;
    expect([caller.opened, caller.written, relay.committed, relay.fault]).toEqual([0, '', false, null]);
  });

  it.each([
    ['content', content('a')],
    ['reasoning', chunk({ delta: { reasoning_content: 'hm' } })],
    ['a refusal', chunk({ delta: { refusal: 'no' } })],
    ['a tool call', toolCall('{}')],
  ])('the first frame with %s sends the 200, what was held, and router_metadata on the first frame', (_, frame) => {
    const played = new PlayedRelay();
    played.frame(role);
    played.frame(frame);
    played.frame(content('more'));
    const { frames, opened } = played.caller;
    expect([opened, played.relay.committed, frames.length]).toEqual([1, true, 3]);
    expect(frames.map(({ router_metadata }) => router_metadata)).toEqual([{ provider: 'acme' }, undefined, undefined]);
    expect(frames[0].choices[0].delta.role).toBe('assistant');
    for (const each of frames)
      expect(each).toMatchObject({
        id: 'gen-1',
        object: 'chat.completion.chunk',
        created: 7,
        model: 'acme/meta/llama/defra',
      });
  });

  it('gives a call one id, though its pieces have empty arguments and come with empty content', () => {
    const played = new PlayedRelay();
    const piece = (more: object, text: string) =>
      chunk({ delta: { content: '', tool_calls: [{ index: 0, ...more, function: { arguments: text } }] } });
    played.frame(piece({ id: 'call_1', type: 'function' }, ''));
    for (const text of ['', '', '{"k":', '', '1}', '']) played.frame(piece({}, text));
    const pieces = played.caller.frames.map(({ choices }) => choices[0].delta.tool_calls[0]);
    expect(pieces.map(({ id }) => id)).toEqual(['call_1', ...Array(6).fill(undefined)]);
    expect(pieces.map((each) => each.function.arguments).join('')).toBe('{"k":1}');
  });

  it('forgets what a failed attempt held', () => {
    const played = new PlayedRelay();
    played.frame(role);
    played.frame(usageOnly(usage(500, 1)));
    expect(played.frame({ error: { message: 'no' } })).toBe('failed');
    played.relay.begin(played.route, { reportContent: () => {} });
    expect([played.relay.fault, played.relay.usage, played.relay.finishReason]).toEqual([null, null, null]);
    played.frame(content('b'));
    expect(played.caller.frames).toHaveLength(1);
  });
});

describe('faults', () => {
  it('an error frame fails the attempt, before the commit and after, and nothing of it is sent', () => {
    for (const before of [[], [role], [content('a')]]) {
      const played = new PlayedRelay();
      for (const frame of before) played.frame(frame);
      const { written } = played.caller;
      expect(played.frame({ ...content('x'), error: { message: 'später', code: 500 } })).toBe('failed');
      expect(played.relay.fault).toMatchObject({ kind: 'error_frame', error: { error: { message: 'später' } } });
      expect(played.caller.written).toBe(written);
    }
  });

  it('a finish reason that says that the generation was broken off is an error frame', () => {
    for (const finishReason of ['error', 'abort', 'network_error', 'insufficient_system_resource']) {
      expect(new PlayedRelay().frame(chunk({ delta: {}, finishReason }))).toBe('failed');
    }
  });

  it.each(['<html>', '{"choices":[', 'null', '[]', '{"choices":[{"delta":"x"}]}'])(
    'the malformed frame %j fails an attempt that has sent nothing, and is dropped in mid-stream',
    (garbage) => {
      const early = new PlayedRelay();
      expect(early.frame(garbage)).toBe('failed');
      expect(early.relay.fault).toEqual({ kind: 'malformed' });
      const late = new PlayedRelay();
      late.frame(content('a'));
      expect(late.frame(garbage)).toBe('more');
      late.frame(content('b'));
      expect([late.caller.text, late.caller.frames.length, late.relay.fault]).toEqual(['ab', 2, null]);
    },
  );

  it.each([
    ['usage that is no count', usageOnly({ prompt_tokens: -1, completion_tokens: 1 })],
    ['a token class without a price', usageOnly({ ...usage(9, 3), completion_tokens_details: { audio_tokens: 2 } })],
    ['another model of the catalogue', content('x', { model: 'dear' })],
  ])('%s is a pricing fault, before the commit and after', (_, frame) => {
    for (const before of [[], [content('a')]]) {
      const played = new PlayedRelay({ upstreamModels: [['acme dear', 'meta/dear']] });
      for (const each of before) played.frame(each);
      const { written } = played.caller;
      expect(played.frame(frame)).toBe('failed');
      expect(played.relay.fault?.kind).toBe('pricing');
      expect(played.caller.written).toBe(written);
    }
  });
});

describe('the finish frame', () => {
  it('is held, with all that was delivered sent', () => {
    const played = new PlayedRelay();
    played.frame(content('a'));
    expect(played.frame(finish)).toBe('more');
    expect(played.frame('[DONE]')).toBe('done');
    expect([played.caller.text, played.caller.frames.length]).toEqual(['a', 1]);
    expect([played.relay.finishReason, played.relay.sawDone]).toEqual(['stop', true]);
    expect(played.relay.finish()).toHaveLength(1);
  });

  it('does not wait long once the usage has come, whatever the upstream forgets; the last of several counts', () => {
    const played = new PlayedRelay();
    played.frame(content('a'));
    expect(played.frame(usageOnly(usage(9, 0)))).toBe('more');
    expect(played.frame(finish)).toBe('more');
    expect(played.frame(usageOnly(usage(9, 1)))).toBe('ending');
    expect(played.frame(usageOnly(usage(9, 2)))).toBe('ending');
    expect(played.relay.usage).toEqual(usage(9, 2));
    expect(played.relay.finishReason).toBe('stop');
  });

  it('of one choice goes out when another goes on, and the last one is held (n = 2)', () => {
    const played = new PlayedRelay();
    const of = (index: number, text: string | null) =>
      text === null ? chunk({ index, delta: {}, finishReason: 'stop' }) : chunk({ index, content: text });
    for (const frame of [of(0, 'a'), of(1, 'b'), of(0, null), of(1, 'c'), of(1, 'd'), of(1, null)]) played.frame(frame);
    expect(
      played.caller.frames.map(
        ({ choices: [choice] }) => `${choice.index}${choice.finish_reason ?? choice.delta.content}`,
      ),
    ).toEqual(['0a', '1b', '0stop', '1c', '1d']);
    expect(played.relay.finish().map(({ choices }) => choices![0]!.index)).toEqual([1]);
  });

  it('stays the last where only empty frames or the usage follow it, in whatever frame that comes', () => {
    const played = new PlayedRelay();
    played.frame(content('a'));
    played.frame(finish);
    played.frame(chunk({ delta: {}, usage: usage(9, 1) }));
    played.frame(chunk({ content: '', usage: usage(9, 2) }));
    played.frame({ choices: [{ index: 0, content_filter_offsets: {} }] });
    expect(played.caller.frames.every(({ choices }) => (choices[0].finish_reason ?? null) === null)).toBe(true);
    expect(played.relay.finish()).toHaveLength(1);
    expect(played.relay.usage).toMatchObject({ completion_tokens: 2 });
  });

  it('and tool calls are in OpenAI\u2019s words and shapes, whatever a server has of its own', () => {
    const played = new PlayedRelay();
    played.frame(chunk({ delta: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: { k: 1 } } }] } }));
    expect(played.caller.frames[0].choices[0].delta.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"k":1}' }, index: 0 },
    ]);
    played.frame(chunk({ delta: {}, finishReason: 'eos_token' }));
    expect(played.relay.finishReason).toBe('stop');
    expect(played.relay.finish()).toMatchObject([{ choices: [{ finish_reason: 'stop' }] }]);
  });

  it('may carry content; an empty string is no finish reason', () => {
    const played = new PlayedRelay();
    expect(played.frame(content('all', { finishReason: 'length' }))).toBe('more');
    expect([played.relay.committed, played.relay.finishReason]).toEqual([false, 'length']);
    const other = new PlayedRelay();
    other.frame(content('a', { finishReason: '' }));
    expect([other.relay.committed, other.relay.finishReason]).toEqual([true, null]);
  });
});

describe('usage', () => {
  it('of an error frame after the answer is kept', () => {
    const played = new PlayedRelay();
    for (const frame of [content('a'), finish]) played.frame(frame);
    expect(played.frame({ error: { message: 'late' }, choices: [], usage: usage(9, 7) })).toBe('failed');
    expect(played.relay.reading).toMatchObject({ kind: 'usage', usage: { promptTokens: 9, completionTokens: 7 } });
  });

  it('that never comes leaves the tier that a frame named, of this attempt', () => {
    const played = new PlayedRelay();
    played.frame({ ...role, service_tier: 'auto' });
    expect(played.relay.reading).toEqual({ kind: 'absent' });
    played.frame({ ...content('a'), service_tier: 'flex' });
    expect(played.relay.reading).toEqual({ kind: 'absent', unpricedTier: 'flex' });
    played.frame({ ...content('b'), usage: { service_tier: 'fast' } });
    expect(played.relay.reading).toEqual({ kind: 'absent', unpricedTier: 'flex' });
    played.relay.begin(played.route, { reportContent: () => {} });
    expect(played.relay.reading).toEqual({ kind: 'absent' });
  });

  it('that says nothing does not replace usage that does', () => {
    const played = new PlayedRelay();
    played.frame({ ...content('a'), usage: usage(9, 1) });
    for (const nothing of [{}, { total_tokens: 5 }, [], 'x', 0, usage(0, 0)])
      played.frame({ ...content('b'), usage: nothing });
    expect(played.relay.usage).toEqual(usage(9, 1));
  });

  it('is taken from any frame, and the last one wins', () => {
    const played = new PlayedRelay();
    played.frame({ ...role, usage: usage(9, 0) });
    played.frame({ ...content('a'), usage: usage(9, 1) });
    played.frame({ ...content('b'), x_groq: { usage: usage(9, 2) } });
    expect(played.relay.usage).toEqual(usage(9, 2));
    played.frame({ ...finish, usage: usage(9, 3) });
    played.frame({ ...content(''), usage: null });
    expect(played.relay.usage).toEqual(usage(9, 3));
    played.frame(usageOnly(usage(9, 4)));
    expect(played.relay.usage).toEqual(usage(9, 4));
    for (const frame of played.caller.frames) expect(frame).not.toHaveProperty('usage');
  });

  it('is on no frame of text, though the caller asked for it: clients of OpenRouter accept no null', () => {
    const played = new PlayedRelay({ includeUsage: true });
    for (const text of ['a', 'b', 'c']) played.frame({ ...content(text), usage: usage(9, 1) });
    expect(played.caller.frames.map((frame) => frame.usage)).toEqual([undefined, undefined, undefined]);
  });
});

describe('delivered text', () => {
  const pieces = ['a', ' ', 'é', '字', '😀', '"', '\\', '\n', '\t', '</', '\u2028', '\u0001'];

  it('is what the caller got, and every text arrives as it was sent, spliced or parsed', () => {
    forSeeds(200, (random) => {
      const played = new PlayedRelay({ includeUsage: random.chance(0.5) });
      let sent = '';
      for (let i = 0; i < 25; i++) {
        const text = random.textOf(pieces, 5);
        const data = JSON.stringify(content(text)).replace(
          random.chance(0.3) ? /[\u0080-\uffff]/g : /never/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        played.frame(data);
        sent += text;
      }
      const { relay, caller } = played;
      if (!relay.committed) return;
      expect(caller.text).toBe(sent);
      expect(played.delivered).toBe(sent);
    });
  });

  it('has tool calls and reasoning in it', () => {
    const played = new PlayedRelay();
    for (const frame of [chunk({ delta: { reasoning_content: 'hm' } }), toolCall('{"a":'), toolCall('"é"}')])
      played.frame(frame);
    expect(played.delivered).toBe('hmf{"a":"é"}');
  });

  it('passes a slow caller on, and resumes when it drains', () => {
    const { relay, caller } = new PlayedRelay();
    caller.slow = true;
    const text = JSON.stringify(content('a'));
    relay.onFrame(asLatin1(text), 0, text.length);
    let resumed = 0;
    expect(relay.onChunkEnd(() => resumed++)).toBe(false);
    caller.onDrain?.();
    expect([resumed, relay.onChunkEnd(() => {})]).toEqual([1, true]);
  });

  it('is counted while it passes, and a stream that outruns the count waits for it and for its caller', async () => {
    const played = new PlayedRelay();
    const { relay, caller, pieces } = played;
    const long = JSON.stringify(content('word '.repeat(10_000)));
    const send = (resume: () => void = () => {}) => {
      relay.onFrame(asLatin1(long), 0, long.length);
      return relay.onChunkEnd(resume);
    };
    let resumed = 0;
    expect(send()).toBe(true);
    caller.slow = true;
    expect(send(() => resumed++)).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resumed).toBe(0);
    caller.onDrain?.();
    expect([resumed, relay.deliveredCharacters]).toEqual([1, 100_000]);
    const { tokens, text } = await relay.delivered.remaining();
    expect([pieces.texts.join('') + text, tokens + text.length]).toEqual(['word '.repeat(20_000), 100_000]);
  });
});
