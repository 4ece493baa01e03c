import { expect, it } from 'vitest';
import { keySnippets } from './key-snippets.js';

const token = `sk-lr-${'a'.repeat(43)}`;

it.each(['inference', 'management'] as const)(
  'a key that is %s: three languages, each with the key and the address',
  (kind) => {
    const snippets = keySnippets('https://gateway.example', token, kind);
    expect(snippets.map(({ label }) => label)).toEqual(['curl', 'Python', 'TypeScript']);
    for (const { code } of snippets) {
      expect(code).toContain(token);
      expect(code).toContain('https://gateway.example/v1');
      expect(code.includes('sandbox/lodestone/echo')).toBe(kind === 'inference');
    }
  },
);
