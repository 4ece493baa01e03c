import { describe, expect, it } from 'vitest';
import { chatPathOf } from './azure.js';

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
  ])('%s is completed with %s', (baseUrl, path) => {
    expect(chatPathOf({ baseUrl, upstreamModel: 'my gpt' })).toBe(path);
  });
});
