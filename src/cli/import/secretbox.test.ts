import { describe, expect, it } from 'vitest';
import { openBox } from './secretbox.js';

/** Made by PyNaCl, which LiteLLM encrypts with. */
const made = {
  urlSafe: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYX5LjwO9UnWtwM7yzT55NLj5iEzttlGwUyvovfkVIOuTStQVza5Ue9xIg=',
  plain: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYX/RHCQiCV/N1BiuGDZCYBL4Sczct7HhgytISd',
};

describe('a value that LiteLLM has encrypted', () => {
  it('opens with its key, in both alphabets', () => {
    expect(openBox(made.urlSafe, 'sk-1234')).toBe('os.environ/OPENAI_API_KEY');
    expect(openBox(made.plain, 'sk-1234')).toBe('sk-upstream');
  });

  it.each([
    ['another key', made.plain, 'sk-1235'],
    ['a changed byte', made.plain.replace('tISd', 'tISe'), 'sk-1234'],
    ['a short text', 'abc', 'sk-1234'],
  ])('does not open: %s', (_, value, key) => {
    expect(openBox(value, key)).toBeNull();
  });
});
