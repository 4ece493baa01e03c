import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { openStore } from '../open-store.js';
import type { Invitation, Store } from '../store.js';

const accountId = 'acct-1';
const createdAt = Date.parse('2026-03-02T00:00:00Z');

let database: FreshDatabase;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  await store.accounts.create({ id: accountId, email: 'a@x.example', name: null, billingCountry: null, createdAt });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const invitationOf = (index: number): Invitation => ({
  ...{ id: `inv-${index}`, accountId, email: 'guest@x.example', role: 'developer', projects: null },
  ...{ tokenHash: `hash-${index}`, invitedBy: 'operator', createdAt, expiresAt: createdAt + 1_000, acceptedAt: null },
});

it('of invitations of one email at the same time, one is left', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, index) => store.people.invite(invitationOf(index))));
  expect(await store.people.invitations(accountId, { limit: 100 })).toHaveLength(1);
});
