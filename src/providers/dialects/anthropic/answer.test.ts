import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.js';
import { finishReasonOf, usageOf } from './usage.js';

const read = (value: unknown) => readAnswer(value, 'utf8');
function messageOf(content: unknown[], more: object = {}) {
  const answer = read({ type: 'message', model: 'm', content, stop_reason: 'end_turn', ...more });
  if (answer.kind !== 'completion') throw new Error(JSON.stringify(answer));
  const [choice] = answer.completion.choices as { message: Record<string, unknown> }[];
  return choice!.message;
}

describe('Anthropic\u2019s answer', () => {
  it('has reasoning beside its content, and what is needed to give it back', () => {
    const message = messageOf([
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'x' },
      { type: 'server_tool_use', id: 'i', name: 'web_search', input: {} },
      { type: 'text', text: 'y' },
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: 'xy',
      refusal: null,
      reasoning_content: 'a',
      reasoning_details: [
        { type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'd', format: 'anthropic-claude-v1', index: 1 },
      ],
    });
  });

  it('has empty content where nothing was said, and none where only tools were called', () => {
    expect(messageOf([]).content).toBe('');
    expect(messageOf([{ type: 'tool_use', id: 'i', name: 'f', input: { a: 1 } }])).toMatchObject({
      content: null,
      tool_calls: [{ id: 'i', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    });
  });

  it('is an error where it says so, in words that people can read (wire pitfall 7)', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'später' } };
    expect(read(error)).toEqual({ kind: 'error', error });
    const latin1 = JSON.parse(Buffer.from(JSON.stringify(error)).toString('latin1'));
    expect(readAnswer(latin1, 'latin1')).toEqual({ kind: 'error', error });
  });

  it.each([null, [], 'x', 7, {}, { content: 'x' }, { choices: [{ message: {} }] }])('is malformed as %j', (value) => {
    expect(read(value).kind).toBe('malformed');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['to_be_invented', 'stop'],
    ['constructor', 'stop'],
    [null, 'tool_calls'],
  ])('that stopped for %s after a call finished with %s', (reason, finish) =>
    expect(finishReasonOf(reason, true)).toBe(finish),
  );

  it('counts new input, cache reads and cache writes as prompt', () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 30,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
    };
    expect(usageOf(usage)).toEqual({
      prompt_tokens: 60,
      completion_tokens: 5,
      total_tokens: 65,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 2 },
    });
    expect(usageOf({ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null })).toMatchObject({
      prompt_tokens: 1,
      total_tokens: 3,
    });
  });

  it('has no usage where half of it is missing, and keeps a figure that is not a number for the usage check', () => {
    for (const usage of [undefined, null, [], {}, { input_tokens: 1 }, { output_tokens: 1, input_tokens: null }]) {
      expect(usageOf(usage)).toBeUndefined();
    }
    expect(usageOf({ input_tokens: 'many', output_tokens: 1 })?.prompt_tokens).toBe('many');
    expect(usageOf({ input_tokens: -5, output_tokens: 1 })?.prompt_tokens).toBe(-5);
  });
});
