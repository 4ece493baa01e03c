import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { MemoryVersions } from '../../tests/support/memory-versions.js';
import { silentLogger as logger } from '../base/logger.js';
import { type SettlementRow, settlementRow } from '../domain/settlement-row.js';
import { type Store, StoreUnavailable } from '../storage/store.js';
import { Fleet } from './fleet.js';

const accountId = 'acct-1';

/** One process with the account's balance in memory and an answer that is charged but not settled. */
async function charged(balancePico: bigint, costPico: bigint, creditLimitPico = 0n) {
  const store = new MemoryStore();
  const versions = new MemoryVersions();
  const row = { id: accountId, email: 'a@example.com', name: null, billingCountry: null, createdAt: 1 };
  await store.accounts.create(row);
  Object.assign(store.accountRows.get(accountId)!, { balancePico, creditLimitPico });
  /** What the journal does when it is asked to settle at once. */
  let settled = (): Promise<void> => fleet.settle(rows);
  const fleet: Fleet = new Fleet({
    store: store as unknown as Store,
    ...{ versions, logger, clock: new ManualClock(), admission: { ask: async () => null } },
    ...{
      replayed: async () => {},
      settled: () => settled(),
      readStates: async () => {},
      readCatalogue: async () => {},
    },
  });
  const account = (await fleet.identities.account(accountId))!;
  fleet.identities.charge(accountId, costPico, 'gen-1', 0n);
  const rows = [settlementRow(aGeneration({ id: 'gen-1', accountId, costPico }))];
  const version = () => versions.all.get(`account:${accountId}`);
  const settling = (next: () => Promise<void>) => {
    settled = next;
  };
  return { store, versions, fleet, account, rows, version, settling };
}

/** A store that settles or not, and then fails with this error. */
function failing(store: MemoryStore, error: Error, settles: boolean): void {
  const { settle } = store.ledger;
  store.ledger.settle = async (rows: readonly SettlementRow[]) => {
    if (settles) await settle(rows);
    store.ledger.settle = settle;
    throw error;
  };
}

describe('a settlement in a fleet', () => {
  it('changes no version while the balance lasts, and tells the others once it is used up', async () => {
    const lasting = await charged(100n, 99n);
    const before = lasting.version();
    await lasting.fleet.settle(lasting.rows);
    expect(lasting.account.balancePico).toBe(1n);
    expect(lasting.version()).toBe(before);

    const usedUp = await charged(100n, 100n);
    const first = usedUp.version();
    await usedUp.fleet.settle(usedUp.rows);
    expect(usedUp.account.balancePico).toBe(0n);
    expect(usedUp.version()).not.toBe(first);
  });

  it('of an account with a credit limit tells the others only once balance and limit together are used up', async () => {
    const lasting = await charged(-100n, 99n, 200n);
    const before = lasting.version();
    await lasting.fleet.settle(lasting.rows);
    expect(lasting.account.balancePico).toBe(-199n);
    expect(lasting.version()).toBe(before);

    const usedUp = await charged(-100n, 100n, 200n);
    const first = usedUp.version();
    await usedUp.fleet.settle(usedUp.rows);
    expect(usedUp.version()).not.toBe(first);
  });

  it('that uses a balance up is not over before the others know, however slowly the shared state answers', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { fleet, rows, versions } = await charged(100n, 100n);
    let raised = () => {};
    const raising = new Promise<void>((resolve) => {
      raised = resolve;
    });
    versions.raiseWithinReach = () => raising;
    let isOver = false;
    const settling = fleet.settle(rows).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isOver).toBe(false);
    raised();
    await settling;
  });

  it('whose balances cannot be read sends nobody to a store that is away; the next one makes up for it', async () => {
    const { store, fleet, rows, version } = await charged(100n, 100n);
    const before = version();
    const { balances } = store.accounts;
    store.accounts.balances = () => Promise.reject(new StoreUnavailable(new Error('gone')));
    await fleet.settle(rows);
    expect(version()).toBe(before);
    store.accounts.balances = balances;
    await fleet.settle([settlementRow(aGeneration({ id: 'gen-2', accountId, costPico: 0n }))]);
    expect(version()).not.toBe(before);
  });

  it('that a silent store may have is not counted twice: that could make up a 402', async () => {
    const { store, fleet, account, rows, versions } = await charged(100n, 60n);
    failing(store, new StoreUnavailable(new Error('no answer')), true);
    await expect(fleet.settle(rows)).rejects.toThrow(StoreUnavailable);
    await versions.raise([`account:${accountId}`]);
    await fleet.identities.account(accountId);
    expect(account.balancePico).toBe(40n);
    await fleet.settle(rows);
    expect(account.balancePico).toBe(40n);
  });

  it('that a silent store does not have leaves no credit behind when the account is read again: it is settled first', async () => {
    const { store, fleet, account, rows, versions } = await charged(100n, 160n);
    failing(store, new StoreUnavailable(new Error('no answer')), false);
    await expect(fleet.settle(rows)).rejects.toThrow(StoreUnavailable);
    await versions.raise([`account:${accountId}`]);
    await fleet.identities.account(accountId);
    expect(account.balancePico).toBe(-60n);
  });

  it('that a silent store may have is an absent store to whoever needs the balance, until it is settled', async () => {
    const { store, fleet, rows, versions, settling } = await charged(100n, 160n);
    failing(store, new StoreUnavailable(new Error('no answer')), false);
    await expect(fleet.settle(rows)).rejects.toThrow(StoreUnavailable);
    settling(() => Promise.reject(new StoreUnavailable(new Error('still no answer'))));
    await versions.raise([`account:${accountId}`]);
    await expect(fleet.identities.account(accountId)).rejects.toThrow(StoreUnavailable);
  });

  it('that is under way is in the balance of whoever asks for the account meanwhile', async () => {
    const { store, fleet, account, rows } = await charged(100n, 60n);
    const { settle } = store.ledger;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    store.ledger.settle = (batch: readonly SettlementRow[]) => released.then(() => settle(batch));
    const settling = fleet.settle(rows);
    await fleet.identities.account(accountId);
    expect(account).toMatchObject({ balancePico: 40n, usagePico: 60n });
    release();
    await settling;
    expect(account).toMatchObject({ balancePico: 40n, usagePico: 60n });
  });

  it('that the store has refused counts on', async () => {
    const { store, fleet, account, rows, versions } = await charged(100n, 60n);
    failing(store, new TypeError('a bad record'), false);
    await expect(fleet.settle(rows)).rejects.toThrow(TypeError);
    await versions.raise([`account:${accountId}`]);
    await fleet.identities.account(accountId);
    expect(account.balancePico).toBe(40n);
  });
});

describe('the last byte of an answer near a used-up balance', () => {
  /** The times for which the settlement is waited for, when the first is over in vain. */
  async function waitsOf(settled: boolean, prepare: (of: Awaited<ReturnType<typeof charged>>) => void = () => {}) {
    const rig = await charged(100n, 60n);
    prepare(rig);
    await rig.fleet.settle(rig.rows).catch(() => {});
    const waits: number[] = [];
    await rig.fleet.confirm(accountId, {
      settled: async (timeoutMs) => {
        waits.push(timeoutMs);
        return settled;
      },
    });
    return waits;
  }

  it('waits for half a second, and for a store that is only slow until its queries fail', async () => {
    expect(await waitsOf(true)).toEqual([500]);
    expect(await waitsOf(false)).toEqual([500, 4_500]);
  });

  it('waits no longer than that for a store that is away', async () => {
    const away = new StoreUnavailable(new Error('gone'));
    expect(await waitsOf(false, ({ store }) => failing(store, away, false))).toEqual([500]);
  });
});

describe('an account whose answers are settled before their last byte', () => {
  const dollar = 1_000_000_000_000n;

  it.each([
    ['a balance above a dollar and a thousand answers: no', 2n * dollar, 0n, false],
    ['a balance below a dollar: yes', dollar - 1n, 0n, true],
    ['a spent balance and a credit limit that lasts: no', -3n * dollar, 5n * dollar, false],
    ['a spent balance and a credit limit of which little is left: yes', 0n, dollar - 1n, true],
  ])('has %s', async (_, balance, limit, near) => {
    const { fleet, account } = await charged(balance, 0n, limit);
    expect(fleet.nearZero(account, 1n)).toBe(near);
    expect(fleet.nearZero(account, 3n * dollar)).toBe(true);
  });
});
