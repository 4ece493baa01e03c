import { describe, expect, it } from 'vitest';
import { embeddingsWords, messagesWords, responsesWords } from './default-words.js';

const schema = { name: 'n', schema: { type: 'object' }, strict: true };
const tool = { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } };

describe('the words of defaults', () => {
  it.each([
    ['max_tokens', 5, ['max_output_tokens', 5]],
    ['reasoning_effort', 'low', ['reasoning', 'low', 'effort']],
    ['verbosity', 'low', ['text', 'low', 'verbosity']],
    [
      'response_format',
      { type: 'json_schema', json_schema: schema },
      ['text', { type: 'json_schema', ...schema }, 'format'],
    ],
    ['response_format', { type: 'json_object' }, ['text', { type: 'json_object' }, 'format']],
    ['tools', [tool], ['tools', [{ type: 'function', ...tool.function }]]],
    ['tools', [{ type: 'web_search' }], null],
    ['tool_choice', { type: 'function', function: { name: 'f' } }, ['tool_choice', { type: 'function', name: 'f' }]],
    ['tool_choice', 'required', ['tool_choice', 'required']],
    ['tool_choice', { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }, null],
    ['tools', 'none', null],
    ['reasoning', { effort: 'low', max_tokens: 9 }, ['reasoning', 'low', 'effort']],
    ['reasoning', { max_tokens: 9 }, null],
    ['top_logprobs', 2, ['top_logprobs', 2]],
    ['user', 7, null],
    ['stop', ['x'], null],
    ['logit_bias', {}, null],
    ['frequency_penalty', 1, null],
    ['presence_penalty', 1, null],
    ['top_k', 3, null],
    ['temperature', null, null],
    ['response_format', null, null],
  ])('at Responses: %s %j', (field, value, word) => {
    expect(responsesWords(field, value)).toEqual(word);
  });

  it.each([
    ['max_tokens', 5, null],
    ['max_completion_tokens', 5, null],
    ['temperature', 1.5, ['temperature', 1]],
    ['stop', 'x', ['stop_sequences', ['x']]],
    ['user', 'u', ['metadata', 'u', 'user_id']],
    ['reasoning_effort', 'none', ['thinking', { type: 'disabled' }]],
    ['reasoning_effort', 'minimal', ['output_config', 'low', 'effort']],
    [
      'response_format',
      { type: 'json_schema', json_schema: schema },
      ['output_config', { type: 'json_schema', schema: schema.schema }, 'format'],
    ],
    ['response_format', { type: 'json_object' }, null],
    ['tools', [tool], ['tools', [{ name: 'f', description: 'd', input_schema: { type: 'object' } }]]],
    ['tool_choice', 'required', ['tool_choice', { type: 'any' }]],
    ['tool_choice', { type: 'function', function: { name: 'f' } }, ['tool_choice', { type: 'tool', name: 'f' }]],
    ['tools', 'none', null],
    ['tool_choice', 'constructor', null],
    ['metadata', { user_id: 'u', team: 't' }, ['metadata', 'u', 'user_id']],
    ['metadata', { team: 't' }, null],
    ['prompt_cache_key', 'k', null],
    ['temperature', null, null],
    ['response_format', null, null],
    ['seed', 5, null],
  ])('at Messages: %s %j', (field, value, word) => {
    expect(messagesWords(field, value)).toEqual(word);
  });

  it('at embeddings only what they have', () => {
    expect(embeddingsWords('dimensions', 5)).toEqual(['dimensions', 5]);
    expect(embeddingsWords('temperature', 5)).toBeNull();
  });
});
