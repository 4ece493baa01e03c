import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger } from '../../base/logger.js';
import { picoPerUsd } from '../../base/money.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

let database: FreshDatabase;
let store: Store;
let other: Store;
let accounts = 0;

beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ databaseUrl: database.databaseUrl, logger: silentLogger });
  other = await openStore({ databaseUrl: database.databaseUrl, logger: silentLogger });
});
afterAll(async () => {
  await store?.close();
  await other?.close();
  await database?.drop();
});

const look = (at = store, everyMs = 0) =>
  at.notices.lookForCrossings({ nowMs: 1_000, everyMs, defaultPico: picoPerUsd, limit: 1_000, periods: [] });
const take = (nowMs = 1_000, at = store) => at.notices.take({ nowMs, untilMs: nowMs + 60_000, limit: 100 });

beforeEach(async () => {
  await look();
  for (const { id } of await take(9e12)) await store.notices.delivered(id, 1_000);
});

async function newAccount(cents: number) {
  const id = `acct-${++accounts}`;
  await store.accounts.create({ id, email: `${id}@example.test`, name: null, billingCountry: null, createdAt: 1 });
  if (cents !== 0) await post(id, cents);
  return id;
}

async function post(accountId: string, cents: number) {
  const kind = cents < 0 ? ('adjustment' as const) : ('credit' as const);
  const amountPico = (BigInt(cents) * picoPerUsd) / 100n;
  const id = `led-${accountId}-${Math.random()}`;
  await store.ledger.post({ id, accountId, createdAt: 1, kind, amountPico, generationId: null, note: null });
}

describe('crossings of a threshold', () => {
  it('make one notice, however often and from however many processes they are looked for', async () => {
    const accountId = await newAccount(500);
    expect(await look()).toBe(0);
    await post(accountId, -450);
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => look(n % 2 ? other : store)));
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await take()).toEqual([
      {
        ...{ id: expect.stringMatching(/^ntc-[0-9a-f]{32}$/), accountId, email: `${accountId}@example.test` },
        ...{ level: 'low', balancePico: picoPerUsd / 2n, thresholdPico: picoPerUsd, createdAt: 1_000, attempts: 1 },
        ...{ isSent: false, isMailed: false, mailTo: [`${accountId}@example.test`] },
      },
    ]);
  });

  it('to zero make a notice of their own, once; a balance that recovers and falls again makes another', async () => {
    const accountId = await newAccount(150);
    const levels = async () => {
      await look();
      return (await take()).map((notice) => 'level' in notice && notice.level);
    };
    await post(accountId, -100);
    expect(await levels()).toEqual(['low']);
    await post(accountId, -50);
    expect(await levels()).toEqual(['exhausted']);
    await post(accountId, 20);
    expect(await levels()).toEqual([]);
    await post(accountId, 980);
    expect(await levels()).toEqual([]);
    await post(accountId, -1100);
    expect(await levels()).toEqual(['exhausted']);
  });

  it('are at the account’s own threshold where it has set one; 0 is none', async () => {
    const [high, off, fine] = [await newAccount(500), await newAccount(500), await newAccount(500)];
    await store.notices.setThreshold(high, 6n * picoPerUsd);
    await store.notices.setThreshold(off, 0n);
    expect(await store.notices.threshold(high)).toBe(6n * picoPerUsd);
    expect(await store.notices.threshold(fine)).toBeNull();
    await post(off, -600);
    await look();
    expect((await take()).map(({ accountId }) => accountId)).toEqual([high]);
  });

  it('are looked for once an interval by a whole fleet', async () => {
    const accountId = await newAccount(500);
    await look();
    await post(accountId, -450);
    expect([await look(other, 3_600_000), await look(store, 3_600_000)]).toEqual([0, 0]);
    expect(await look(other)).toBe(1);
  });

  it('need earlier credit: a new account without any makes no notice', async () => {
    await newAccount(0);
    expect(await look()).toBe(0);
  });
});

describe('notices on their way', () => {
  it('are taken by one process at a time, and by another when the first has died', async () => {
    const accountId = await newAccount(500);
    await post(accountId, -450);
    await look();
    const taken = await Promise.all([take(1_000), take(1_000, other), take(1_000), take(1_000, other)]);
    expect(taken.flat()).toHaveLength(1);
    expect(await take(60_999, other)).toEqual([]);
    expect(await take(61_000, other)).toMatchObject([{ accountId, attempts: 2 }]);
    const [notice] = taken.flat();
    await store.notices.tryAgainAt(notice!.id, null);
    expect(await take(9e12)).toEqual([]);
  });
});
