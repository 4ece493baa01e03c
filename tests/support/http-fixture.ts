/** The HTTP layer over a memory store, with a clock that the test moves: one account, one key, an admin token. */
import { AuditLog } from '../../src/accounts/audit.js';
import { AccountDirectory } from '../../src/accounts/directory.js';
import { silentLogger } from '../../src/base/logger.js';
import { ModelStates } from '../../src/health/model-states.js';
import { QuotaHolds } from '../../src/health/quota-holds.js';
import { RouteHealth } from '../../src/health/route-health.js';
import { buildApp } from '../../src/http/app.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { IpLimiter } from '../../src/limits/ip-limiter.js';
import { KeyLimiter } from '../../src/limits/key-limiter.js';
import { MemoryCounters } from '../../src/shared-state/memory-counters.js';
import { ProxyTrust } from '../../src/territory/proxy-trust.js';
import { Territories } from '../../src/territory/territories.js';
import { territoryOfCode } from '../../src/territory/territory.js';
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
  const health = new RouteHealth(clock, { failures: 5, windowMs: 30_000, cooldownMs: 30_000, probeMaxMs: 305_000 });
  const limits = { keyRequestsPerMinute: 600, keyTokensPerMinute: 1_000_000 };
  const sanctioned = { codes: new Set(['CU']), names: new Map() };
  /** Where every request comes from, its connection's peer unless a test moves it. `CU` is sanctioned. */
  const place: { address: string | null; code: string } = { address: null, code: 'DE' };
  const holds = new QuotaHolds({ store: store.holds, clock, logger: silentLogger });
  const deps: HttpDeps = {
    ...{ clock, logger: silentLogger, store, directory, audit, expiry, adminToken },
    modelStates: new ModelStates(store.availability),
    ...{ health, holds },
    catalogue: { current: smallSnapshot(), reload: async () => ({ ok: true, models: 2, routes: 5, providers: 3 }) },
    journal: { settled: async () => true },
    limits,
    originOf: (req) => ({
      address: place.address ?? req.socket.remoteAddress ?? '',
      territory: territoryOfCode(place.code),
    }),
    territories: new Territories({ trust: new ProxyTrust([], ''), countryHeader: null, database: null, sanctioned }),
    ipLimiter: new IpLimiter(1200, new MemoryCounters(clock)),
    keyLimiter: new KeyLimiter(limits, new MemoryCounters(clock), new MemoryCounters(clock)),
    chat: (_req, res) => void res.end('chat'),
    explain: async () => ({}),
    ...overrides,
  };
  const app = await buildApp(deps, lifecycle);
  const asKey = { authorization: `Bearer ${token}` };
  const asAdmin = { authorization: `Bearer ${adminToken}` };
  return {
    ...{ app, deps, store, directory, health, holds, account, key, token, clock, expiry, lifecycle, place },
    ...{ asKey, asAdmin },
  };
}

export type HttpFixture = Awaited<ReturnType<typeof httpFixture>>;
