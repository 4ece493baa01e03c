import { expect, it } from 'vitest';
import { findingsOf, isRequestId, type Sources } from './findings.js';

const sources: Sources = {
  operator: false,
  models: [{ id: 'meta/llama-3.3-70b', name: 'Llama 3.3 70B' }],
  keys: [{ id: 'k1', name: 'production', label: 'sk-lr-…wxyz' }],
  accounts: [{ id: 'acct-1', email: 'ada@example.test', name: 'Ada' }],
  request: null,
};
const found = (text: string, more: Partial<Sources> = {}) =>
  findingsOf(text, { ...sources, ...more }).map(({ title }) => title);
const id = `gen-${'0'.repeat(26)}`;

it('without a text it lists the pages that the reader may open', () => {
  expect(found('')).toContain('Usage');
  expect(found('')).not.toContain('Audit');
  expect(found('', { operator: true })).toContain('Audit');
});

it('finds pages, models by id or name, keys by name or last four, and accounts', () => {
  expect(found('usa')).toEqual(['Usage']);
  expect(found('llama 70b')).toEqual(['meta/llama-3.3-70b']);
  expect(findingsOf('meta/llama-3.3-70b', sources)).toMatchObject([
    { to: '/models/$creator/$model', params: { creator: 'meta', model: 'llama-3.3-70b' } },
  ]);
  expect(found('wxyz')).toEqual(['production']);
  expect(found('ada')).toEqual(['ada@example.test']);
  expect(found('nothing like it')).toEqual([]);
});

it('an id leads to its request, and to nothing where the account has none', () => {
  expect([id, id.replace('gen', 'req'), 'gen-short', 'key'].map(isRequestId)).toEqual([true, true, false, false]);
  expect(found(id)).toEqual([]);
  expect(findingsOf(id, { ...sources, request: { id, requested_model: 'auto/meta/llama' } })).toMatchObject([
    { to: '/usage/$id', params: { id } },
  ]);
});
