import { expect, it } from 'vitest';
import { findingsOf, isRequestId, type Sources } from './findings.js';
import { guidePages } from './places.js';

const reader = { operator: false, hasAccount: true, lacks: {} };
const sources: Sources = {
  reader,
  docsUrl: 'https://gateway.test/docs',
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
  expect(found('')).not.toContain('All audit');
  expect(found('', { reader: { ...reader, operator: true } })).toContain('All audit');
  const auditor = { ...reader, lacks: { playground: 'Ask an owner.', 'members.read': 'Ask an owner.' } };
  expect(found('', { reader: auditor })).toEqual(
    found('').filter((title) => !['Playground', 'Members'].includes(title)),
  );
  expect([found('invite'), found('invite', { reader: auditor })]).toEqual([['Invite somebody'], []]);
  expect(found('', { reader: { ...reader, operator: true, hasAccount: false } })[0]).toBe('All usage');
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

it('finds settings and pages of the guide by what they are about', () => {
  expect(found('two-factor')).toEqual(['Two-factor sign-in', 'Guide to two-factor sign-in']);
  expect(findingsOf('webhook', sources)).toMatchObject([
    { to: '/notices' },
    { href: 'https://gateway.test/docs/payments' },
  ]);
});

it('an id leads to its request, and to nothing where the account has none', () => {
  expect([id, id.replace('gen', 'req'), 'gen-short', 'key'].map(isRequestId)).toEqual([true, true, false, false]);
  expect(found(id)).toEqual([]);
  expect(findingsOf(id, { ...sources, request: { id, requested_model: 'auto/meta/llama' } })).toMatchObject([
    { to: '/usage/$id', params: { id } },
  ]);
});

it('every page of the guide that is offered is there', async () => {
  const { groups } = (await import('../../../../scripts/docs/pages.mjs' as string)) as {
    groups: { pages: { slug: string }[] }[];
  };
  const slugs = groups.flatMap(({ pages }) => pages.map(({ slug }) => slug));
  expect(guidePages.map(({ slug }) => slug).filter((slug) => !slugs.includes(slug))).toEqual([]);
});
