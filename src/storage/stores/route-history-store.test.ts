import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Generation } from '../../domain/generation.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import type { IncidentRow, Store } from '../store.js';

const hourMs = 3_600_000;
const now = Date.parse('2026-11-17T12:30:00Z');
const nowHour = Math.floor(now / hourMs);
const llama = 'acme/meta/llama/defra';
const accounts = ['a', 'b', 'c'];

describe('the history of routes in PostgreSQL', () => {
  let database: FreshDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ databaseUrl: database.databaseUrl, logger });
    for (const id of accounts) {
      const person = { email: `${id}@example.com`, name: null, billingCountry: null };
      await store.accounts.create({ id, ...person, createdAt: now - 200 * 24 * hourMs });
    }
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  /** A request that the route answered so long ago. */
  const served = (hoursAgo: number, fields: Partial<Generation> = {}) =>
    aGeneration({
      ...{ accountId: 'a', createdAt: now - hoursAgo * hourMs, servedModel: llama, provider: 'acme', locode: 'defra' },
      ...{ firstByteMs: 10, latencyMs: 1000, completionTokens: 15, streamEnd: 'complete', ...fields },
    });
  const windowsOf = async (routeId: string) => {
    const rows = (await store.routeHistory.windows(now)).filter((row) => row.routeId === routeId);
    return Object.fromEntries(rows.map(({ routeId: _, window, ...figures }) => [window, figures]));
  };

  it('sums what a route answered over 24 hours, 7 and 90 days', async () => {
    const rows = [
      ...[0, 1, 23].map((hours) => served(hours, { firstByteMs: 10 })),
      ...[26, 100, 167].map((hours) => served(hours, { accountId: 'b', firstByteMs: 15 })),
      ...[200, 2000, 2159].map((hours) => served(hours, { accountId: 'c', firstByteMs: 5, completionTokens: 5 })),
      served(2200),
      served(0, { streamEnd: 'cut', accountId: 'b' }),
      served(0, { streamEnd: 'client_closed' }),
      served(1, { servedModel: null, provider: null, locode: null, status: 503, billed: false }),
    ];
    await store.ledger.settle(rows.map(settlementRow));
    expect(await windowsOf(llama)).toMatchObject({
      '24h': { served: 5, broken: 1, failed: 0, accounts: 2, firstByteP50Ms: 10, tokensPerSecondP50: 15 },
      '7d': { served: 8, broken: 1, failed: 0, accounts: 2, firstByteP50Ms: 10, firstByteP95Ms: 15 },
      '90d': { served: 11, broken: 1, failed: 0, accounts: 3 },
    });
  });

  it('adds attempts that were not answered, also of routes that never answered', async () => {
    const dead = 'zeta/meta/llama/global';
    const count = (routeId: string, accountId: string, fromHour: number, failed: number) => ({
      ...{ routeId, accountId, fromHour, failed },
    });
    await store.routeHistory.addFailures([
      count(llama, 'a', nowHour, 2),
      count(llama, 'c', nowHour, 1),
      count(llama, 'a', nowHour - 100, 4),
    ]);
    await store.routeHistory.addFailures([count(llama, 'a', nowHour, 1), count(dead, 'a', nowHour - 3, 7)]);
    expect(await windowsOf(llama)).toMatchObject({
      '24h': { served: 5, failed: 4, accounts: 3 },
      '7d': { served: 8, failed: 8, accounts: 3 },
    });
    expect((await windowsOf(dead))['24h']).toEqual({
      ...{ served: 0, broken: 0, failed: 7, accounts: 1 },
      ...{ firstByteP50Ms: null, firstByteP95Ms: null, tokensPerSecondP50: null },
    });
  });

  it('gives what a route answered and did not on each day, by accounts, without what own credentials served', async () => {
    const day = Math.floor(now / (24 * hourMs));
    const own = { credentialId: 'cred-1', credentialOwner: 'account' } as const;
    const ownOnly = 'own/meta/llama/defra';
    await store.ledger.settle(
      [
        ...[0, 24].map((hours) => served(hours, { ...own, accountId: 'c' })),
        served(30, { ...own, servedModel: ownOnly, provider: 'own' }),
      ].map(settlementRow),
    );
    const rows = await store.routeHistory.days(now, 8);
    const of = (id: string) =>
      rows.filter(({ routeId }) => routeId === id).map(({ routeId: _, ...figures }) => figures);
    expect(of(llama).sort((one, other) => one.day - other.day)).toEqual([
      { day: day - 7, served: 1, failed: 0, accounts: 1 },
      { day: day - 4, served: 1, failed: 4, accounts: 2 },
      { day: day - 1, served: 2, failed: 0, accounts: 2 },
      { day, served: 4, failed: 4, accounts: 3 },
    ]);
    expect(of('zeta/meta/llama/global')).toEqual([{ day, served: 0, failed: 7, accounts: 1 }]);
    expect(of(ownOnly)).toEqual([]);
    expect((await store.routeHistory.days(now, 90)).filter(({ routeId }) => routeId === llama)).toHaveLength(6);
  });

  it('keeps incidents, the newest state of each, until they are forgotten', async () => {
    const row = (id: string, fields: Partial<IncidentRow>): IncidentRow => ({
      ...{ id, kind: 'breaker', routeId: llama, fromMs: now - 1000, seenMs: now - 1000, toMs: null },
      ...fields,
    });
    const old = row('old', { fromMs: now - 200 * hourMs, seenMs: now - 200 * hourMs, toMs: now - 200 * hourMs });
    await store.routeHistory.putIncidents([row('one', {}), row('two', { kind: 'hold', fromMs: now }), old]);
    const ended = row('one', { seenMs: now, toMs: now });
    await store.routeHistory.putIncidents([ended]);
    expect(await store.routeHistory.incidents(now - 100 * hourMs)).toEqual([
      ended,
      row('two', { kind: 'hold', fromMs: now }),
    ]);
    expect(await store.routeHistory.incidents(0)).toHaveLength(3);
    await store.routeHistory.forgetIncidents(now - 100 * hourMs);
    expect((await store.routeHistory.incidents(0)).map(({ id }) => id)).toEqual(['one', 'two']);
  });
});
