import { describe, expect, it } from 'vitest';
import { chunk, usage } from '../../../tests/support/openai-shapes.js';
import { PlayedRelay } from '../../../tests/support/played-relay.js';

const finish = chunk({ finishReason: 'stop' });
const bare = (more: object) => ({ ...chunk({ choices: [] }), ...more });
const usageOnly = (more: object = {}) => bare({ usage: usage(9, 1), ...more });

/** The frames that close a stream of these, without those that were sent before. */
function closing(...frames: unknown[]): Record<string, unknown>[] {
  const played = new PlayedRelay();
  for (const frame of frames) played.frame(frame);
  const { length } = played.caller.frames;
  played.relay.finish();
  const billed = { promptTokens: 9, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0 };
  const cost = { pico: 0n, details: {}, lines: [], tier: null };
  played.caller.endStream(played.relay.takeEnd('complete', { given: null, usage: billed, cost }, '{}'));
  return played.caller.frames.slice(length, -1);
}

describe('members of frames without choices', () => {
  it('go out with the finish frame: a verdict behind the usage, citations beside it', () => {
    const moderation = { input: { results: [{ flagged: false }] } };
    const citations = ['https://a.example'];
    const frames = closing(chunk({ content: 'a' }), finish, usageOnly({ citations }), bare({ moderation }));
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      moderation,
      citations,
      router_metadata: {},
    });
  });

  it.each([
    ['grün', '\\u4e2d'],
    ['\\u4e2d', 'grün'],
    ['grün', 'é'],
  ])('are the same text there, however it is written (%s, %s)', (own, other) => {
    const [frame] = closing(
      chunk({ content: 'a' }),
      JSON.stringify(finish).replace('{', `{"own":"${own}",`),
      `{"choices":[],"no${other}te":"${other}"}`,
    );
    const [ownText, text] = JSON.parse(`["${own}","${other}"]`) as string[];
    expect(frame).toMatchObject({ own: ownText, [`no${text}te`]: text });
  });

  it('are sent on their own where no finish frame waits', () => {
    const [frame] = closing(chunk({ content: 'a' }), bare({ citations: ['https://a.example'] }));
    expect(frame).toMatchObject({ id: 'gen-1', choices: [], citations: ['https://a.example'] });
  });

  it('are not the prompt\u2019s, not what every frame says, and at most 64 KiB; the last one of a name counts', () => {
    const [frame = {}] = closing(
      bare({ prompt_filter_results: [] }),
      chunk({ content: 'a' }),
      finish,
      usageOnly({
        service_tier: 'default',
        obfuscation: 'x',
        system_fingerprint: 'fp',
        error: null,
        x_groq: { id: 'a' },
      }),
      bare({ huge: 'x'.repeat(64 * 1024) }),
      ...Array.from({ length: 100 }, (_, turn) => bare({ again: `${turn} ${'x'.repeat(1024)}` })),
    );
    const { again, router_metadata: _, ...rest } = frame;
    expect(Object.keys(rest).sort()).toEqual(Object.keys(finish).sort());
    expect(again).toMatch(/^99 x+$/);
  });
});
