import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../catalogue/route.js';
import { keyHeaders } from './key-headers.js';

const headersOf = (dialect: Dialect, apiKey: string | null) => {
  const list = keyHeaders({ dialect, apiKey });
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
};

const entra = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln-_';

describe('a key is shown as its dialect wants it', () => {
  it.each<[Dialect, string, string, string]>([
    ['openai', 'sk-1', 'authorization', 'Bearer sk-1'],
    ['sandbox', 'sk-1', 'authorization', 'Bearer sk-1'],
    ['anthropic', 'sk-ant-1', 'x-api-key', 'sk-ant-1'],
    ['azure', '0123abcd', 'api-key', '0123abcd'],
    ['azure', entra, 'authorization', `Bearer ${entra}`],
    ['gemini', 'AIzaSy0', 'x-goog-api-key', 'AIzaSy0'],
    ['gemini', 'ya29.a0', 'authorization', 'Bearer ya29.a0'],
    ['bedrock', 'ABSKQmVk', 'authorization', 'Bearer ABSKQmVk'],
  ])('%s: %s as %s', (dialect, key, name, value) => {
    const headers = headersOf(dialect, key);
    expect(headers[name]).toBe(value);
    expect(Object.values(headers).filter((each) => each.includes(key))).toHaveLength(1);
  });

  it('and without one, nothing is', () => {
    for (const dialect of ['openai', 'anthropic', 'azure', 'gemini', 'bedrock'] as const) {
      expect(Object.keys(headersOf(dialect, null))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/authorization|key/)]),
      );
    }
    expect(headersOf('anthropic', null)['anthropic-version']).toBe('2023-06-01');
  });
});
