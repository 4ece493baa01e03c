import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { asked, memoryUsage } from '../../../tests/support/memory-usage.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Generation } from '../../domain/generation.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import { bucketOf } from '../records/histogram.js';
import type { GenerationQuery, Store, UsageRow } from '../store.js';

const fromMs = Date.parse('2026-03-01T00:00:00Z');
const hourMs = 3_600_000;
const account = 'account-1';

let database: FreshDatabase;
let store: Store;
let rows: Generation[];
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  for (const id of [account, 'account-2']) {
    await store.accounts.create({
      id,
      email: `${id}@example.com`,
      name: null,
      billingCountry: null,
      createdAt: fromMs,
    });
  }
  rows = someGenerations();
  await store.ledger.settle(rows.map(settlementRow));
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** Generations of two accounts, over two days around the period; some failed, some cut, some never served. */
function someGenerations(): Generation[] {
  const seeded = new SeededRandom(7);
  const random = () => seeded.next();
  const pick = <T>(...values: T[]) => values[Math.floor(random() * values.length)]!;
  return Array.from({ length: 400 }, () => {
    const served = pick('acme/meta/llama/defra', 'zeta/meta/llama/global', 'acme/openai/gpt/usnyc', null);
    const [provider = null, , , locode = null] = served?.split('/') ?? [];
    return aGeneration({
      accountId: pick(account, account, 'account-2'),
      createdAt: fromMs - 12 * hourMs + Math.floor(random() * 48 * hourMs),
      requestedModel: pick('auto/meta/llama', 'alias/fast', 'acme/openai/gpt'),
      ...{ servedModel: served, provider, locode, keyName: pick('a', 'b'), keyId: pick('k1', 'k2') },
      status: served === null ? pick(503, 400, 499) : 200,
      streamEnd: served === null ? null : pick('complete', 'cut', 'stalled', 'pricing_fault', 'client_closed'),
      billed: served !== null,
      costPico: served === null ? 0n : BigInt(Math.floor(random() * 1e12)),
      firstByteMs: pick(null, Math.round(random() * 1000)),
      promptTokens: Math.floor(random() * 1000),
      ...(random() < 0.2 && { bill: null }),
    });
  });
}

describe('usage over generations', () => {
  it.each([hourMs, 6 * hourMs, 24 * hourMs])(
    'sums up what there is, by steps of %i ms and by parts, exactly',
    async (stepMs) => {
      const intensities = new Map([['acme/meta/llama/defra', 380.5]]);
      const period = { accountId: account, fromMs, toMs: fromMs + 24 * hourMs, stepMs, intensities };
      const inOrder = (found: UsageRow[]) =>
        found
          .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
          .map((row) => ({
            ...row,
            // Percentiles come from histograms, so only the bucket is exact.
            firstByteP50Ms: row.firstByteP50Ms === null ? null : bucketOf(row.firstByteP50Ms),
            firstByteP95Ms: row.firstByteP95Ms === null ? null : bucketOf(row.firstByteP95Ms),
          }));
      const found = await store.usage.summary(period);
      expect(inOrder(found)).toEqual(inOrder(await memoryUsage(() => rows).summary(period)));
      expect(found.length).toBeGreaterThan(5);
    },
  );

  it('has one row, of nothing, for a period without requests', async () => {
    const [row, ...rest] = await store.usage.summary({
      ...{ accountId: account, fromMs: 0, toMs: 1000, stepMs: 1000, intensities: new Map() },
    });
    expect(rest).toEqual([]);
    expect(row).toMatchObject({ group: 'period', requests: 0, errors: 0, costPico: 0n, firstByteP50Ms: null });
  });

  it('adds up the lines of the bills of a provider, of all accounts, and counts bills without lines', async () => {
    const period = { provider: 'acme', fromMs, toMs: fromMs + 24 * hourMs };
    const sorted = async (usage: Pick<Store['usage'], 'billedLines'>) =>
      (await usage.billedLines({ ...period, credential: 'operator' })).sort((a, b) =>
        a.routeId + a.name < b.routeId + b.name ? -1 : 1,
      );
    const found = await sorted(store.usage);
    expect(found).toEqual(await sorted(memoryUsage(() => rows)));
    expect(new Set(found.map(({ name }) => name))).toEqual(
      new Set(['requests', 'unrecorded', 'input', 'tools.web\t"search"', 'unpriced_tools']),
    );
  });

  it('knows what there is to filter by', async () => {
    const facets = await store.usage.facets(account, fromMs - 24 * hourMs, fromMs + 24 * hourMs);
    expect(facets).toEqual({
      keys: ['a', 'b'],
      models: ['acme/openai/gpt', 'alias/fast', 'auto/meta/llama'],
      providers: ['acme', 'zeta'],
    });
    const later = await store.usage.facets(account, fromMs + 1000 * hourMs, fromMs + 2000 * hourMs);
    expect(later).toEqual({ keys: [], models: [], providers: [] });
  });
});

describe('the usage history', () => {
  it.each<Partial<GenerationQuery>>([
    {},
    { status: 'error' },
    { status: 'ok' },
    { status: 503 },
    { provider: 'zeta' },
    { model: 'meta/llama' },
    { model: 'alias/fast' },
    { model: 'acme/openai/gpt/usnyc' },
    { key: 'a', fromMs },
    { fromMs: fromMs + 3 * hourMs, toMs: fromMs + 9 * hourMs },
    { key: 'k1', model: 'openai/gpt', status: 'ok', provider: 'acme', fromMs },
  ])('gives exactly what %j asks for, newest first', async (filter) => {
    const query = { accountId: account, limit: 1000, ...filter };
    const { data, hasMore } = await store.generations.list(query);
    const expected = rows.filter((row) => asked(row, query)).map(({ id }) => id);
    expect(data.map(({ id }) => id)).toEqual(expected.sort().reverse());
    expect(hasMore).toBe(false);
  });
});

describe('pages of the ledger', () => {
  it('go on where the last one ended, of one kind too, with the balance after each entry', async () => {
    const credit = { accountId: account, kind: 'credit' as const, generationId: null, note: null };
    for (const i of [1, 2, 3]) {
      await store.ledger.post({
        ...credit,
        id: `led-credit-${i}`,
        createdAt: fromMs + i * hourMs,
        amountPico: BigInt(i),
      });
    }
    const all = await store.ledger.list(account, 1000);
    const paged = [];
    for (let before: string | undefined; ; ) {
      const page = await store.ledger.list(account, 17, before === undefined ? {} : { before });
      paged.push(...page);
      if (page.length < 17) break;
      before = page.at(-1)!.id;
    }
    expect(paged).toEqual(all);
    const credits = all.filter(({ kind }) => kind === 'credit');
    expect(credits).toHaveLength(3);
    expect(await store.ledger.list(account, 2, { kind: 'credit' })).toEqual(credits.slice(0, 2));
    expect(await store.ledger.list(account, 2, { kind: 'credit', before: credits[1]!.id })).toEqual(credits.slice(2));
    expect(await store.ledger.list(account, 9, { before: 'led-of-nobody' })).toEqual([]);
    expect(await store.ledger.list('account-2', 9, { before: credits[0]!.id })).toEqual([]);
  });
});

function keyOf({ group, step, id }: UsageRow): string {
  return `${group} ${step} ${id}`;
}
