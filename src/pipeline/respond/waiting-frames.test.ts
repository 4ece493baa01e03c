import { describe, expect, it } from 'vitest';
import { chunk } from '../../../tests/support/openai-shapes.js';
import { PlayedRelay } from '../../../tests/support/played-relay.js';

const role = chunk({ role: 'assistant', content: '' });
const content = (text: string) => chunk({ content: text });
const finish = chunk({ delta: {}, finishReason: 'stop' });

describe('frames that wait', () => {
  it('before the first content is bounded, whatever an upstream sends', () => {
    const played = new PlayedRelay();
    for (let sent = 0; sent < 5_000; sent++) played.frame(role);
    played.frame(content('a'));
    const { frames, written, text } = played.caller;
    expect([text, frames[0].choices[0].delta.role]).toEqual(['a', 'assistant']);
    expect(written.length).toBeLessThan(150_000);
  });

  it('of frames with a finish_reason is bounded; all of them arrive', () => {
    const played = new PlayedRelay();
    played.frame(content('a'));
    for (let sent = 0; sent < 2_000; sent++) played.frame(finish);
    const left = played.relay.finish().length;
    expect(left).toBeLessThan(500);
    expect(played.caller.frames.length + left).toBe(2_001);
  });
});

describe('what a stream owes', () => {
  it('is written down before the first text is sent, every few thousand characters, and when the caller leaves', () => {
    const played = new PlayedRelay();
    played.relay.callerLeft();
    played.frame(role);
    expect(played.recorded).toEqual([]);
    const before: number[] = [];
    const write = played.caller.write.bind(played.caller);
    played.caller.write = (text) => {
      before.push(played.recorded.length);
      return write(text);
    };
    for (let i = 0; i < 100; i++) played.frame(content('x'.repeat(100)));
    expect(before[0]).toBe(1);
    expect(played.recorded.map(({ characters }) => characters)).toEqual([100, 4_200, 8_300]);
    played.relay.callerLeft();
    expect(played.recorded.at(-1)).toEqual({ left: true, characters: 10_000 });
  });
});

describe('an upstream without reasons to finish', () => {
  const bare = (delta: object) => ({ choices: [{ index: 0, delta }] });

  it('finishes with [DONE], with a reason that says how', () => {
    const said = new PlayedRelay();
    said.frame(bare({ content: 'a' }));
    said.frame('[DONE]');
    expect(said.relay.finishReason).toBe('stop');
    expect(said.relay.finish()).toEqual([{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]);
    const called = new PlayedRelay();
    called.frame(bare({ tool_calls: [{ id: 'a', function: { name: 'f' } }] }));
    called.frame('[DONE]');
    expect(called.relay.finish()).toEqual([
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
            finish_reason: 'tool_calls',
          },
        ],
      },
    ]);
  });

  it('does not finish before [DONE], or without content, or where it writes null for a reason', () => {
    for (const frames of [[bare({ content: 'a' })], [bare({}), '[DONE]'], [content('a'), '[DONE]']]) {
      const played = new PlayedRelay();
      for (const frame of frames) played.frame(frame);
      expect([played.relay.finishReason, played.relay.finish()]).toEqual([null, []]);
    }
  });
});
