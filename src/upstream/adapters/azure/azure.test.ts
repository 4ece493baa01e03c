import { describe, expect, it } from 'vitest';
import { chatPathOf } from './path.js';
import { FilteredStream } from './stream.js';

describe('Azure\u2019s addresses', () => {
  const host = 'https://r.openai.azure.com';
  it.each([
    [`${host}/openai/v1`, '/chat/completions'],
    [`${host}/openai/v1/`, '/chat/completions'],
    [`${host}/openai/v1?api-version=preview`, '/chat/completions'],
    [host, '/openai/v1/chat/completions'],
    [`${host}/openai`, '/v1/chat/completions'],
    [`${host}/openai/deployments`, '/my%20gpt/chat/completions?api-version=2024-10-21'],
    [`${host}/openai/deployments/other`, '/chat/completions?api-version=2024-10-21'],
    [`${host}/openai/deployments/other?api-version=2025-01-01-preview`, '/chat/completions'],
    [`${host}/openai/deployments?api-version=2025-01-01-preview`, '/my%20gpt/chat/completions'],
    [`${host}/openai?api-version=2025-01-01-preview`, '/deployments/my%20gpt/chat/completions'],
    [`${host}?api-version=2025-01-01-preview`, '/openai/deployments/my%20gpt/chat/completions'],
    ['https://proxy.example/azure/openai/v1', '/chat/completions'],
  ])('%s is completed with %s (wire 6)', (baseUrl, path) => {
    expect(chatPathOf({ baseUrl, upstreamModel: 'my gpt' })).toBe(path);
  });
});

describe('Azure\u2019s frames', () => {
  const translate = (data: string): string => {
    let out = '';
    new FilteredStream().onEvent(data, '', (chunk) => {
      out += chunk;
    });
    return out;
  };

  it.each([
    '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
    '{"choices":[{"index":0,"delta": {"content":"a"}}]}',
    '{"id":"","choices":[],"prompt_filter_results":[]}',
    '{"choices":[],"usage":{}}',
    '{"error":{"code":"429"}}',
    '[DONE]',
    '{"choices":',
    '7',
  ])('%s is passed on as it is', (data) => expect(translate(data)).toBe(data));

  it('have a delta where the content filter left it out, and its findings stay (wire 6)', () => {
    for (const delta of ['', ',"delta":null']) {
      const data = `{"id":"","choices":[{"index":0,"content_filter_results":{"note":"\\u00e9"}${delta}}]}`;
      expect(JSON.parse(Buffer.from(translate(data), 'latin1').toString('utf8'))).toEqual({
        id: '',
        choices: [{ index: 0, content_filter_results: { note: 'é' }, delta: {} }],
      });
    }
  });
});
