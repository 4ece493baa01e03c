import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import { openTerms } from '../../domain/account.js';
import type { Generation } from '../../domain/generation.js';
import type { LedgerEntry } from '../../domain/ledger-entry.js';
import { settlementRow } from '../../domain/settlement-row.js';
import { openStore } from '../open-store.js';
import { type Store, StoreUnavailable } from '../store.js';
import { UnknownAccount } from './settle.js';

describe('settlement and the ledger', () => {
  let database: FreshDatabase;
  let store: Store;
  let client: pg.Client;
  let account: string;
  let key: string;
  let number = 0;
  const at = Date.parse('2026-03-01T12:00:00.000Z');

  beforeAll(async () => {
    database = await freshDatabase();
    store = await openStore({ connection: database.connection, logger });
    client = new pg.Client({ ...database.connection });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await store.close();
    await database.drop();
  });
  beforeEach(async () => {
    account = await newAccount();
    key = `key-${number}`;
    const named = { id: key, accountId: account, name: 'k', lastFour: 'wxyz' };
    const open = { terms: openTerms, projectId: null, holderId: null };
    await store.keys.create({ ...named, hash: null, expiresAt: null, createdAt: at, ...open }, 10);
  });

  async function newAccount(): Promise<string> {
    const id = `account-${++number}`;
    await store.accounts.create({ id, email: `${id}@example.com`, name: null, billingCountry: null, createdAt: at });
    return id;
  }
  const of = (fields: Partial<Generation> = {}) => aGeneration({ accountId: account, keyId: key, ...fields });
  const settle = (batch: readonly Generation[]) => store.ledger.settle(batch.map(settlementRow));
  /** As the journal does it. On a busy machine a call waits too long for a connection. */
  const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === 30) throw error;
      }
    }
  };
  const credit = (id: string, amountPico: bigint, createdAt = at): Omit<LedgerEntry, 'balancePico'> => ({
    id,
    accountId: account,
    createdAt,
    kind: 'credit',
    amountPico,
    generationId: null,
    note: null,
  });
  const usageOf = (all: readonly Generation[]) => all.reduce((sum, { costPico }) => sum + costPico, 0n);
  async function ledgerSum(accountId: string): Promise<bigint> {
    const { rows } = await client.query(
      'select coalesce(sum(amount_pico), 0) as sum from lodestone.ledger where account_id = $1',
      [accountId],
    );
    return BigInt(rows[0].sum);
  }

  it('gives a generation back exactly as it was settled', async () => {
    const full = of();
    const failed = of({
      servedModel: null,
      provider: null,
      locode: null,
      status: 503,
      costPico: 0n,
      billed: false,
      firstByteMs: null,
      finishReason: null,
      streamEnd: null,
      usageSource: null,
      errorCode: 'provider_error',
      promptTokens: Number.MAX_SAFE_INTEGER,
    });
    await settle([full, failed]);
    expect(await store.generations.find(account, full.id)).toEqual(full);
    expect(await store.generations.find(account, failed.id)).toEqual(failed);
    expect(await store.generations.find('account-other', full.id)).toBeNull();
  });

  it('keeps odd text whole in every field, less U+0000 where PostgreSQL cannot keep it', async () => {
    const odd = '\\N \t\r\n\b\f\v "quoted" \\. \\t \u{1F600} é \u007f \u2028 \u0001\\';
    const generation = of({
      id: `gen-${odd}`,
      requestId: odd,
      keyName: odd,
      requestedModel: odd,
      servedModel: odd,
      provider: odd,
      locode: odd,
      finishReason: odd,
      streamEnd: odd as 'cut',
      usageSource: odd as 'counted',
      errorCode: odd,
      providersAttempted: [odd, 'a\u0000b', '\\u0000', '\ud800', ''],
      attempts: [
        { provider: odd, locode: odd, outcome: odd, status: null, first_byte_ms: 0.5, error: `${odd}\u0000` },
        { provider: '', locode: '', outcome: '', status: 200, first_byte_ms: null, error: null },
      ],
    });
    const nul = of({ keyName: '\u0000a\u0000', requestedModel: `${'m'.repeat(1 << 20)}\u0000`, errorCode: '\\N' });
    const literal = of({ keyName: '\\N', finishReason: '', errorCode: '\\.', providersAttempted: [], attempts: [] });
    await settle([generation, nul, literal]);
    expect(await store.generations.find(account, generation.id)).toEqual(generation);
    expect(await store.generations.find(account, literal.id)).toEqual(literal);
    const kept = { ...nul, keyName: 'a', requestedModel: 'm'.repeat(1 << 20) };
    expect(await store.generations.find(account, nul.id)).toEqual(kept);
  });

  it('keeps numbers of every size', async () => {
    const numbers = [0, 9, 10, 99, 100, 0x3fff_ffff, 0x4000_0000, 1e10, Number.MAX_SAFE_INTEGER];
    const costs = [0n, 9n, 10n, 0x3fff_ffffn, 0x4000_0000n, 2n ** 53n + 1n, 2n ** 70n];
    const all = [
      ...numbers.map((n) => of({ promptTokens: n, completionTokens: n, latencyMs: n, firstByteMs: n / 4 })),
      ...costs.map((costPico) => of({ costPico })),
    ];
    await settle(all);
    for (const generation of all) expect(await store.generations.find(account, generation.id)).toEqual(generation);
    expect((await store.accounts.find(account))?.usagePico).toBe(usageOf(all));
  });

  it('settles for accounts and keys of any name', async () => {
    const id = `o'hare "\\', {x},\u{1F600}; drop`;
    await store.accounts.create({ id, email: 'odd@example.com', name: null, billingCountry: null, createdAt: at });
    await settle([of({ accountId: id, keyId: id, costPico: 5n }), of({ costPico: 2n })]);
    expect(await store.accounts.find(id)).toMatchObject({ balancePico: -5n, usagePico: 5n });
    expect(await store.keys.usage(key)).toBe(2n);
  });

  it('bills a generation once however often it is settled, alone or among new ones', async () => {
    const [first, second] = [of({ costPico: 5n }), of({ costPico: 7n })];
    await settle([first]);
    await settle([first]);
    await settle([first, second, second]);
    await Promise.all([settle([first, second]), settle([second, first])]);
    expect(await store.accounts.find(account)).toMatchObject({ balancePico: -12n, usagePico: 12n });
    expect(await store.keys.usage(key)).toBe(12n);
    expect(await store.ledger.list(account, 10)).toHaveLength(2);
  });

  it('has an entry for a delivered answer of cost 0, and none for a failure', async () => {
    await settle([of({ costPico: 0n }), of({ billed: false, costPico: 0n, status: 503 })]);
    expect(await store.ledger.list(account, 10)).toMatchObject([{ kind: 'usage', amountPico: 0n, balancePico: 0n }]);
  });

  it('settles below zero, and for a key that was deleted meanwhile', async () => {
    await store.ledger.post(credit('c-below', 1n));
    await store.keys.delete(account, key);
    await settle([of({ costPico: 1000n })]);
    expect((await store.accounts.find(account))?.balancePico).toBe(-999n);
  });

  it('lists entries newest first with the balance after each', async () => {
    await store.ledger.post(credit('c-list', 100n, at));
    await store.ledger.post({ ...credit('c-list-2', -3n, at), kind: 'adjustment', note: 'n' });
    const usage = of({ costPico: 10n, createdAt: at + 5 });
    await settle([usage]);
    const entries = await store.ledger.list(account, 10);
    expect(entries.map(({ kind, amountPico, balancePico }) => [kind, amountPico, balancePico])).toEqual([
      ['usage', -10n, 87n],
      ['adjustment', -3n, 97n],
      ['credit', 100n, 100n],
    ]);
    expect(entries[0]).toMatchObject({ generationId: usage.id, createdAt: at + 5, accountId: account });
    expect(await store.ledger.list(account, 2)).toEqual(entries.slice(0, 2));
  });

  it('posts an entry once, however often and however parallel it is sent', async () => {
    const sent = await Promise.all(Array.from({ length: 10 }, () => store.ledger.post(credit('c-once', 50n))));
    expect(new Set(sent.map(({ balancePico }) => balancePico))).toEqual(new Set([50n]));
    expect((await store.accounts.find(account))?.balancePico).toBe(50n);
    await store.ledger.post(credit('c-once-later', 3n, at + 5));
    await settle([of({ costPico: 7n, createdAt: at + 6 })]);
    const again = await store.ledger.post(credit('c-once', 50n));
    expect(again).toEqual((await store.ledger.list(account, 10)).at(-1));
    expect(again.balancePico).toBe(50n);
  });

  it('keeps amounts exact far beyond what a float holds', async () => {
    const huge = 9_007_199_254_740_993_000_000_000_001n;
    const posted = await store.ledger.post(credit('c-huge', huge));
    expect(posted.balancePico).toBe(huge);
    await settle([of({ costPico: 1n })]);
    expect((await store.accounts.find(account))?.balancePico).toBe(huge - 1n);
  });

  it('keeps each balance equal to the sum of its ledger under parallel settlements and credits', async () => {
    const accounts = [account, await newAccount(), await newAccount()];
    const mixed = Array.from({ length: 12 }, () =>
      Array.from({ length: 40 }, (_, i) => of({ accountId: accounts[i % 3]!, costPico: BigInt(i) })),
    );
    await Promise.all([
      ...mixed.map((batch, i) => repeated(() => settle(i % 2 ? batch : batch.toReversed()))),
      ...mixed.map((batch) => repeated(() => settle(batch.slice(0, 20)))),
      ...mixed.map((_, i) =>
        repeated(() => store.ledger.post({ ...credit(`c-par-${i}`, 1000n), accountId: accounts[i % 3]! })),
      ),
    ]);
    for (const id of accounts) {
      const { balancePico, usagePico } = (await store.accounts.find(id))!;
      expect(balancePico).toBe(await ledgerSum(id));
      expect(balancePico).toBe(4000n - usagePico);
    }
  });

  it('writes nothing of a batch that names an unknown account, and says which', async () => {
    const good = of();
    const settled = settle([good, of({ accountId: 'nobody' })]);
    await expect(settled).rejects.toBeInstanceOf(UnknownAccount);
    expect(await store.generations.find(account, good.id)).toBeNull();
    await expect(store.ledger.post({ ...credit('c-nobody', 1n), accountId: 'nobody' })).rejects.toBeInstanceOf(
      UnknownAccount,
    );
  });

  it('writes nothing of a batch with a row that PostgreSQL does not take, and blames the row', async () => {
    const good = of();
    await expect(settle([good, of({ promptTokens: 0.5 })])).rejects.toMatchObject({ code: '22P02' });
    expect(await store.generations.find(account, good.id)).toBeNull();
    await settle([good]);
    expect((await store.accounts.find(account))?.usagePico).toBe(good.costPico);
  });

  it('sums what each key has spent since a moment, to the millisecond', async () => {
    await settle([
      of({ createdAt: at - 1, costPico: 1n }),
      of({ createdAt: at, costPico: 10n }),
      of({ createdAt: at + 5, costPico: 100n }),
      of({ createdAt: at + 5, costPico: 1000n, keyId: 'another' }),
      of({ createdAt: at + 5, costPico: 0n, billed: false }),
    ]);
    const spent = await store.usage.spentSince(account, at);
    expect([spent.get(key), spent.get('another')]).toEqual([110n, 1000n]);
    expect(await store.usage.spentSince(account, at + 6)).toEqual(new Map());
  });

  it('pages through generations newest first, by key and by model', async () => {
    const all = Array.from({ length: 5 }, (_, i) =>
      of({ createdAt: at + i, keyName: i % 2 ? 'odd' : 'even', servedModel: `m${i}` }),
    );
    await settle(all);
    const newest = all.toReversed();
    expect(await store.generations.list({ accountId: account, limit: 2 })).toEqual({
      data: newest.slice(0, 2),
      hasMore: true,
    });
    expect(await store.generations.list({ accountId: account, limit: 3, after: newest[1]!.id })).toEqual({
      data: newest.slice(2),
      hasMore: false,
    });
    expect((await store.generations.list({ accountId: account, limit: 9, key: 'odd' })).data).toEqual([all[3], all[1]]);
    expect((await store.generations.list({ accountId: account, limit: 9, key })).data).toHaveLength(5);
    expect((await store.generations.list({ accountId: account, limit: 9, model: 'm2' })).data).toEqual([all[2]]);
  });
});
