/** The first request of a replica after a pause sees every change that was made meanwhile. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, pause, scaled } from '../faults/fixture.js';
import { type Replicas, startReplicas } from '../support/replicas.js';

const pausedMs = scaled(4_000, 10_000);

let fleet: Replicas;
beforeAll(async () => {
  fleet = await startReplicas();
}, 180_000);
afterAll(() => fleet.stop());

it(`after ${pausedMs / 1_000} s of SIGSTOP nothing that it held is used: keys, accounts, aliases, balances, model states`, async () => {
  const { a, b } = fleet;
  const accounts = await Promise.all(Array.from({ length: 6 }, () => a.createAccount()));
  const [deleted, suspended, emptied, moved, filled, untouched] = accounts as [
    Account,
    Account,
    Account,
    Account,
    Account,
    Account,
  ];
  const target = { provider: 'acme', canonical_id: 'meta/llama-3.3-70b', locode: 'defra' };
  await a.call('POST', '/v1/aliases', { name: 'gone', target }, { key: moved.key });
  await a.admin('POST', `/accounts/${filled.accountId}/credits`, { amount_usd: '-10.00' });
  const asked = { [moved.key]: ask({ model: 'alias/gone' }) };
  const statuses = (replica: typeof a) =>
    Promise.all(accounts.map(async ({ key }) => (await replica.chat(asked[key] ?? ask(), { key })).status));
  for (const replica of fleet.all) expect(await statuses(replica)).toEqual([200, 200, 200, 200, 402, 200]);

  b.signal('SIGSTOP');
  const wokenAfter = pause(pausedMs);
  expect((await a.admin('DELETE', `/accounts/${deleted.accountId}/keys/${deleted.keyId}`)).status).toBe(204);
  expect((await a.admin('PATCH', `/accounts/${suspended.accountId}`, { status: 'suspended' })).status).toBe(200);
  await a.admin('POST', `/accounts/${emptied.accountId}/credits`, { amount_usd: '-11.00' });
  expect((await a.call('DELETE', '/v1/aliases/gone', undefined, { key: moved.key })).status).toBe(204);
  await a.admin('POST', `/accounts/${filled.accountId}/credits`, { amount_usd: '5.00' });
  // Sent while it stands still, by connections that it has taken already: read after it woke.
  const waiting = statuses(b);
  await wokenAfter;
  b.signal('SIGCONT');
  expect(await waiting).toEqual([401, 403, 402, 404, 200, 200]);
  expect(await statuses(b)).toEqual([401, 403, 402, 404, 200, 200]);
  expect(await statuses(a)).toEqual([401, 403, 402, 404, 200, 200]);

  b.signal('SIGSTOP');
  await a.admin('PUT', '/models/meta/llama-3.3-70b/availability', { state: 'disabled' });
  b.signal('SIGCONT');
  expect((await b.chat(ask(), { key: untouched.key })).status).toBe(404);
}, 180_000);

type Account = Awaited<ReturnType<Replicas['a']['createAccount']>>;
