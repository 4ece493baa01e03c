import { expect, it } from 'vitest';
import type { AuditLogEntry } from '../../api/usage-types.js';
import { actorOf, sentenceOf } from './sentences.js';

const entry: AuditLogEntry = {
  ...{ id: 'aud-1', created_at: '2026-11-15T12:00:00Z', actor: 'account:acct-1', actor_name: 'ada@example.test' },
  ...{ action: 'key.create', subject: 'k1', subject_name: 'production', account_id: 'acct-2' },
  ...{ account_name: 'bob@example.test', details: { account_id: 'acct-2', name: 'production' } },
};
const said = (change: Partial<AuditLogEntry>) => {
  const whole = { ...entry, ...change };
  return [actorOf(whole), { text: ' ' }, ...sentenceOf(whole)].map(({ text }) => text).join('');
};

it.each<[Partial<AuditLogEntry>, string]>([
  [{}, 'ada@example.test created the API key “production” of bob@example.test'],
  [
    { action: 'key.update', details: { account_id: 'acct-2', disabled: true } },
    'ada@example.test changed the API key “production” of bob@example.test: now disabled',
  ],
  [
    {
      ...{ actor: 'operator', actor_name: null, action: 'credits.post', subject: 'acct-2', account_id: null },
      ...{ subject_name: 'bob@example.test', details: { amount_usd: '-2.5', note: 'Refund' } },
    },
    'An operator posted −$2.50 to bob@example.test (Refund)',
  ],
  [
    {
      ...{ actor: 'person:per-2', actor_name: 'ada@example.test', action: 'project.update', subject: 'proj-1' },
      ...{ subject_name: 'search', details: { account_id: 'acct-2', policy: { max_carbon: 3 } } },
    },
    'ada@example.test changed the project “search”: its routing policy',
  ],
  [
    { action: 'project.budget', subject_name: 'search', details: { budget: { limit_usd: '500', period: 'weekly' } } },
    'ada@example.test set the budget of the project “search” to $500.00 weekly',
  ],
  [{ action: 'account.claim' }, 'ada@example.test claimed the demo account'],
  [{ action: 'new.thing', subject: 'x', subject_name: null }, 'ada@example.test new.thing x'],
])('%#', (change, sentence) => expect(said(change)).toBe(sentence));

it('an account in a sentence leads to its page', () => {
  expect(sentenceOf(entry).at(-1)).toEqual({ text: 'bob@example.test', account: 'acct-2' });
});
