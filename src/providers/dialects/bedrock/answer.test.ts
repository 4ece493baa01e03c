import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.js';

const answer = (content: object[], more: object = {}) =>
  readAnswer({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', ...more }, 'utf8');
const completionOf = (content: object[], more: object = {}) => {
  const read = answer(content, more);
  if (read.kind !== 'completion') throw new Error(JSON.stringify(read));
  const [choice] = read.completion.choices as Record<string, unknown>[];
  return { ...choice!, usage: read.completion.usage };
};

describe('an answer of Bedrock', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_model_output', 'stop'],
    ['invented_later', 'stop'],
  ])('that stops with %s after text finishes with %s', (stopReason, finish_reason) => {
    expect(completionOf([{ text: 'a' }], { stopReason })).toMatchObject({ finish_reason });
  });

  it('that stops with tool_use after a call finishes with tool_calls', () => {
    const called = completionOf([{ toolUse: { toolUseId: 'a', name: 'f' } }], { stopReason: 'tool_use' });
    expect(called).toMatchObject({ finish_reason: 'tool_calls' });
  });

  it('has text, cited text, calls by the caller\u2019s names, and reasoning that can be given back', () => {
    const { message } = completionOf([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
      { reasoningContent: { reasoningText: { text: '!' } } },
      { reasoningContent: { redactedContent: 'QQ==' } },
      { text: 'a' },
      { citationsContent: { content: [{ text: 'b' }, { text: 'c' }], citations: [] } },
      { guardContent: {} },
      { toolUse: { toolUseId: 't', name: 'server_x2etool', input: { a: 1 } } },
    ]) as unknown as { message: object };
    expect(message).toEqual({
      role: 'assistant',
      content: 'abc',
      refusal: null,
      reasoning_content: 'hm!',
      reasoning_details: [
        { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'QQ==', format: 'bedrock-converse-v1', index: 1 },
      ],
      tool_calls: [{ id: 't', type: 'function', function: { name: 'server.tool', arguments: '{"a":1}' } }],
    });
  });

  it('counts what was read from the cache and written to it as prompt', () => {
    const usage = {
      inputTokens: 5,
      outputTokens: 7,
      totalTokens: 22,
      cacheReadInputTokens: 8,
      cacheWriteInputTokens: 2,
    };
    expect(completionOf([], { usage }).usage).toEqual({
      prompt_tokens: 15,
      completion_tokens: 7,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
    });
    expect(completionOf([], { usage: { inputTokens: 'x', outputTokens: 7 } }).usage).toMatchObject({
      prompt_tokens: 'x',
    });
    expect(completionOf([]).usage).toBeUndefined();
  });

  it.each([[{ __type: 'ThrottlingException', message: 'slow' }], [{ Message: 'denied' }]])(
    '%j is an error, handed over as it came',
    (value) => {
      expect(readAnswer(value, 'utf8')).toEqual({ kind: 'error', error: value });
    },
  );

  it.each([
    [null, 'its answer is not a JSON object'],
    [{}, 'its answer has no message'],
    [
      { output: { message: { content: [] } }, stopReason: 'malformed_tool_use' },
      'its answer is empty (malformed_tool_use)',
    ],
  ])('%j is no answer', (value, reason) => {
    expect(readAnswer(value, 'utf8')).toEqual({ kind: 'malformed', reason });
  });
});
