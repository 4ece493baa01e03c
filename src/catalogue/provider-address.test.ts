// biome-ignore-all lint/suspicious/noTemplateCurlyInString: such texts are what is tested
import { describe, expect, it } from 'vitest';
import { addressTemplate, resolveAddress } from './provider-address.js';

describe('an address of the catalogue', () => {
  it.each([
    'https://api.acme.example/v1',
    'https://${ACME_RESOURCE}.acme.example/openai/v1',
    'https://acme.example/projects/${ACME_PROJECT}/locations/global',
    'https://${ACME_REGION:-us-east-1}.acme.example',
    '${ACME_BASE_URL}',
  ])('may be %s', (text) => expect(addressTemplate.parse(text)).toBe(text));

  it('is kept without its last slash', () => {
    expect(addressTemplate.parse('https://${A}.example/v1/')).toBe('https://${A}.example/v1');
  });

  it.each([
    'acme.example',
    'ftp://${A}.example',
    'https://${A}.example?x=1',
    'https://user@${A}.example',
    'https://${a-b}.example',
    'https://${A.example',
    'https://${A:-${B}}.example',
    '${A}${B}',
    7,
  ])('is not %s', (value) => expect(addressTemplate.safeParse(value).success).toBe(false));
});

describe('variables in an address (an absent one means "not configured")', () => {
  it('are replaced by what the environment has, without blanks around it', () => {
    const resolved = resolveAddress('https://${A}.example/${B}', { A: ' one\n', B: 'two' });
    expect(resolved).toEqual({ address: 'https://one.example/two', absent: [], unfit: [] });
  });

  it('are told where they are absent or empty, and never looked for in a prototype', () => {
    const resolved = resolveAddress('https://${A}.example/${toString}/${C}', { A: '', C: 'c' });
    expect(resolved).toEqual({ address: null, absent: ['A', 'toString'], unfit: [] });
  });

  it('fall back where there is something to fall back to', () => {
    expect(resolveAddress('https://${A:-us-east-1}.example', {}).address).toBe('https://us-east-1.example');
    expect(resolveAddress('https://${A:-us-east-1}.example', { A: 'eu' }).address).toBe('https://eu.example');
  });

  it.each(['evil.example/', 'a b', '../..', 'x@y', 'a?b', 'a#b', '-a', 'ü'])(
    'cannot change the host or the path that is meant: %s',
    (value) => {
      expect(resolveAddress('https://${A}.example/v1', { A: value })).toMatchObject({ address: null, unfit: ['A'] });
    },
  );

  it('may be the whole of it, and then must be an address', () => {
    expect(resolveAddress('${A}', { A: 'http://127.0.0.1:11434/v1/' }).address).toBe('http://127.0.0.1:11434/v1');
    expect(resolveAddress('${A}', { A: '127.0.0.1:11434' })).toEqual({ address: null, absent: [], unfit: ['A'] });
    expect(resolveAddress('${A}', {})).toEqual({ address: null, absent: ['A'], unfit: [] });
  });
});
