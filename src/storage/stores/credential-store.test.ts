import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { OwnCredential } from '../../domain/credential.js';
import { defaultProjectId } from '../../domain/organisation.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

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

const credentialOf = (projectId: string): OwnCredential => ({
  ...{ id: `cred-${projectId}`, accountId, projectId, provider: 'openai', name: 'ours', use: 'only', models: null },
  ...{ agreement: null, fingerprint: '00000000', revision: 1, createdAt },
  secret: { keyId: 'none', wrapped: '', sealed: '' },
});

it('no credential is made for a project that was deleted meanwhile', async () => {
  expect(await store.credentials.create(credentialOf('proj-gone'), 50)).toBe('no_project');
  expect(await store.credentials.list(accountId)).toEqual([]);
  expect(await store.credentials.create(credentialOf(defaultProjectId(accountId)), 50)).toBe('key_changed');
});
