/** The HTTP layer over a memory store, with a clock that the test moves: one account, one key, an admin token. */
import { AuditLog } from '../../src/accounts/audit.js';
import { AccountDirectory } from '../../src/accounts/directory.js';
import { silentLogger } from '../../src/base/logger.js';
import { ModelStates } from '../../src/health/model-states.js';
import { buildApp } from '../../src/http/app.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { ManualClock } from './manual-clock.js';
import { MemoryStore } from './memory-store.js';
import { smallSnapshot } from './snapshot.js';

export const adminToken = 'admin-secret';

export async function httpFixture(overrides: Partial<HttpDeps> = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore();
  const audit = new AuditLog(store.audit, clock, silentLogger);
  const directory = new AccountDirectory({ store, clock, audit });
  const account = await directory.createAccount('system', { email: 'owner@example.com', name: 'Owner' });
  const { key, token } = await directory.createKey('system', account.id, 'first', null);
  const expiry = { seenCount: 0, seen: () => void expiry.seenCount++, keyCreated: () => {} };
  const lifecycle = { draining: false };
  const deps: HttpDeps = {
    ...{ clock, logger: silentLogger, store, directory, audit, expiry, adminToken },
    modelStates: new ModelStates(store.availability),
    catalogue: { current: smallSnapshot(), reload: async () => ({ ok: true, models: 2, routes: 5, providers: 3 }) },
    journal: { settled: async () => true },
    limits: { keyRequestsPerMinute: 600, keyTokensPerMinute: 1_000_000 },
    chat: (_req, res) => void res.end('chat'),
    ...overrides,
  };
  const app = await buildApp(deps, lifecycle);
  const asKey = { authorization: `Bearer ${token}` };
  const asAdmin = { authorization: `Bearer ${adminToken}` };
  return { app, deps, store, directory, account, key, token, clock, expiry, lifecycle, asKey, asAdmin };
}

export type HttpFixture = Awaited<ReturnType<typeof httpFixture>>;
