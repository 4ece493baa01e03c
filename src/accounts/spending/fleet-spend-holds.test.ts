import { describe, expect, it } from 'vitest';
import { identityOf } from '../../../tests/support/limited-identity.js';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { silentLogger } from '../../base/logger.js';
import type { FleetSpend, SpendAnswer, SpendAsk, SpendSubject } from '../../cluster/shared-spend.js';
import type { Account, Identity, KeyTerms } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { StoreUnavailable } from '../../storage/store.js';
import { FleetSpendHolds } from './fleet-spend-holds.js';
import type { SpendHold } from './spend-holds.js';

const noon = Date.UTC(2026, 10, 16, 12);
const day = 24 * 60 * 60 * 1000;
const held: SpendAnswer = { kind: 'held' };
const refused = (spentPico: bigint, more: Partial<SpendAnswer> = {}): SpendAnswer => ({
  ...{ kind: 'refused', place: 0, spentPico, heldPico: 0n, requests: 0, change: 1, unchangedMs: 60_000 },
  ...(more as object),
});

/** A shared state that answers as scripted and writes down what it is asked. */
class ScriptedSpend implements FleetSpend {
  answers: (SpendAnswer | null)[] = [];
  readonly asked: SpendAsk[] = [];
  readonly log: string[] = [];
  isInRedis = true;
  missed: (subject: SpendSubject) => void = () => {};
  away: () => void = () => {};

  async take(ask: SpendAsk): Promise<SpendAnswer | null> {
    this.asked.push(ask);
    const answer = this.answers.shift();
    return answer === undefined ? held : answer;
  }
  note({ estimatePico }: SpendAsk): void {
    this.log.push(`note ${estimatePico}`);
  }
  release(subjects: readonly SpendSubject[], estimatePico: bigint, costPico: bigint): void {
    this.log.push(`release ${subjects.map(({ name }) => name).join(' ')} ${estimatePico} ${costPico}`);
  }
  addCost({ name }: SpendSubject, costPico: bigint): void {
    this.log.push(`cost ${name} ${costPico}`);
  }
  async setSpent({ name }: SpendSubject, spentPico: bigint, when: 'first' | 'least' | number): Promise<boolean> {
    this.log.push(`spent ${name} ${spentPico} ${when}`);
    return true;
  }
  async inFlight() {
    return { heldPico: 77n, requests: 7 };
  }
  onMissed(listener: (subject: SpendSubject) => void): void {
    this.missed = listener;
  }
  onAway(listener: () => void): void {
    this.away = listener;
  }
}

function rig({ stored = 5n, storeAway = false } = {}) {
  const clock = new ManualClock(noon);
  const shared = new ScriptedSpend();
  const store = { away: storeAway };
  const read = async () => {
    if (store.away) throw new StoreUnavailable('away');
    return stored;
  };
  const holds = new FleetSpendHolds({
    ...{ clock, shared, overdraft: 'open' as const, logger: silentLogger },
    settled: async () => {},
    spentSince: read,
    spentOf: read,
  });
  return { clock, shared, holds, store };
}

function caller(account: Partial<Account>, terms: Partial<KeyTerms> = {}): Identity {
  const identity = identityOf('k');
  const key = { ...identity.key, terms: { ...identity.key.terms, ...terms } };
  return { ...identity, key, account: Object.assign(identity.account, account) };
}

async function outcome(holds: FleetSpendHolds, identity: Identity): Promise<string> {
  try {
    await holds.take(identity, 10n);
    return 'admitted';
  } catch (error) {
    return (error as GatewayError).condition ?? String(error);
  }
}

const bounded = (more: Partial<Account> = {}) =>
  caller({ balancePico: 30n, usagePico: 12n, overdraft: 'bounded', ...more });
const accountName = (identity: Identity) => `{${identity.account.id}}:account`;
const keyName = ({ account, key }: Identity, fromMs = 0) => `{${account.id}}:${key.id}:${fromMs}`;

describe('a request in a fleet', () => {
  it('asks nobody where nothing limits its spending', () => {
    const { holds, shared } = rig();
    const hold = holds.take(caller({ balancePico: 1n }), 10n) as SpendHold;
    hold.release(3n);
    expect([shared.asked, shared.log]).toEqual([[], []]);
  });

  it('asks for the bounded balance first, then for the cap of its key, and releases both with its cost', async () => {
    const { holds, shared } = rig();
    const identity = caller(
      { balancePico: 30n, usagePico: 12n, creditLimitPico: 5n, overdraft: 'bounded' },
      { limitPico: 100n },
    );
    const hold = await holds.take(identity, 10n);
    expect(shared.asked[0]!.limits.map(({ subject, limitPico }) => [subject.name, limitPico])).toEqual([
      // All credits, whatever of them is spent, and the credit limit.
      [accountName(identity), 47n],
      [keyName(identity), 100n],
    ]);
    hold.release(8n);
    hold.release(8n);
    expect(shared.log).toEqual([`release ${accountName(identity)} ${keyName(identity)} 10 8`]);
  });

  it('asks again where an answer was lost, and counts alone only where nobody answers', async () => {
    const { holds, shared } = rig();
    const identity = bounded();
    const ask = holds.askOf(identity, 10n, noon)!;
    await holds.takeAs(identity, ask, null);
    expect([shared.asked.length, shared.log]).toEqual([1, []]);
    shared.answers = [null];
    await holds.takeAs(identity, ask, null);
    expect([shared.asked.length, shared.log]).toEqual([2, ['note 10']]);
    shared.isInRedis = false;
    expect(holds.askOf(identity, 10n, noon)).toBeNull();
  });

  it('finds the cap of its key spent or not before it is read, and holds nothing for that', async () => {
    const { holds, shared } = rig();
    const identity = caller({ overdraft: 'bounded' }, { limitPico: 100n });
    await holds.checkLimits(identity);
    expect(shared.asked).toMatchObject([{ limits: [{ limitPico: 100n }], estimatePico: 0n }]);
    expect(shared.log).toEqual([`release ${keyName(identity)} 0 0`]);
    const change = { requests: 2, heldPico: 90n, unchangedMs: 0 } as object;
    shared.answers = [refused(50n, change), refused(100n, change)];
    // Something is left, and only other requests are in the way.
    await holds.checkLimits(identity);
    await expect(holds.checkLimits(identity)).rejects.toMatchObject({ condition: 'key_limit_exceeded' });
    await holds.checkLimits(bounded());
    expect(shared.asked).toHaveLength(3);
  });

  it('asks for the balance, the budgets of account and project and the cap in one question, each in its period', async () => {
    const { holds, shared, clock } = rig();
    const identity = bounded();
    const alertAt: number[] = [];
    const opening = { day: Math.floor(noon / day), spentPico: 30n };
    Object.assign(identity.account, { budget: { limitPico: 50n, period: 'monthly', alertAt, opening } });
    identity.project.budget = { limitPico: 40n, period: 'weekly', alertAt };
    const { id } = identity.account;
    await holds.take(identity, 10n, noon);
    expect(shared.asked.map(({ limits }) => limits.map(({ subject, limitPico }) => [subject.name, limitPico]))).toEqual(
      [
        [
          [accountName(identity), 42n],
          [`{${id}}:budget:${Date.UTC(2026, 10, 1)}`, 20n],
          [`{${id}}:${identity.project.id}:${Date.UTC(2026, 10, 16)}`, 40n],
        ],
      ],
    );
    // A request of the week before is counted there, although the next one has begun.
    clock.advance(7 * day);
    await holds.take(identity, 10n, clock.now());
    await holds.take(identity, 10n, noon);
    const names = shared.asked.map(({ limits }) => limits[2]!.subject.name);
    expect(names[2]).toBe(names[0]);
    expect(names[1]).toBe(`{${id}}:${identity.project.id}:${Date.UTC(2026, 10, 23)}`);
  });

  it('finds a budget spent behind one of which only requests in flight are in the way', async () => {
    const { holds, shared } = rig();
    const identity = caller({});
    const alertAt: number[] = [];
    identity.account.budget = { limitPico: 100n, period: 'daily', alertAt };
    identity.project.budget = { limitPico: 50n, period: 'never', alertAt };
    const change = { requests: 2, heldPico: 90n, unchangedMs: 0 } as object;
    shared.answers = [refused(50n, change), refused(50n, change)];
    const error = (await (async () => holds.checkLimits(identity))().catch((thrown) => thrown)) as GatewayError;
    expect(shared.asked.map(({ limits }) => limits.length)).toEqual([2, 1]);
    expect([error.condition, error.message]).toEqual(['budget_exceeded', expect.stringContaining('never ends')]);
    expect(error.message).toContain('The project "default"');
  });

  it('is refused with the figures of the whole fleet', async () => {
    const { holds, shared } = rig();
    shared.answers = [refused(2_000_000_000_000n, { heldPico: 3_000_000_000_000n, requests: 4 } as object)];
    const identity = bounded({ balancePico: 7_000_000_000_000n, usagePico: 0n });
    const error = await Promise.resolve(holds.take(identity, 10n)).catch((thrown) => thrown as GatewayError);
    expect((error as GatewayError).message).toContain('balance is 5 USD, of which 3 USD are held for 4 requests');
    expect(await holds.inFlight(identity.account)).toEqual({ heldPico: 77n, requests: 7 });
    expect(holds.spentBalance(identity.account)).toBeNull();
    const spent = await holds.spentBalance(bounded({ balancePico: 0n }).account);
    expect(spent?.message).toContain('balance is 0 USD, 0.000000000077 USD are held for 7 requests in flight');
  });

  it('reads the store where the shared state does not know what was spent, and again where a cost was missed', async () => {
    const { holds, shared } = rig();
    const identity = caller({}, { limitPico: 100n });
    shared.answers = [{ kind: 'unknown', place: 0 }];
    expect(await outcome(holds, identity)).toBe('admitted');
    expect(shared.log).toEqual([`spent ${keyName(identity)} 5 first`]);
    shared.missed(shared.asked[0]!.limits[0]!.subject);
    await new Promise((resolve) => setImmediate(resolve));
    expect(shared.log.at(-1)).toBe(`spent ${keyName(identity)} 5 least`);
  });

  it('waits where the shared state has missed a cost, until the store has told it', async () => {
    const { holds, shared } = rig();
    const identity = caller({}, { limitPico: 100n });
    await holds.take(identity, 1n);
    shared.missed(shared.asked[0]!.limits[0]!.subject);
    expect(holds.askOf(identity, 1n, noon)).toBeNull();
    const waiting = holds.take(identity, 1n);
    expect(shared.asked.length).toBe(1);
    await waiting;
    expect([shared.asked.length, shared.log[0]]).toEqual([2, `spent ${keyName(identity)} 5 least`]);
    expect(holds.askOf(identity, 1n, noon)).not.toBeNull();
  });

  it('fails with the store where nobody knows what its key has spent, but not in a period that begins', async () => {
    const { holds, shared, clock, store } = rig({ storeAway: true });
    const identity = caller({}, { limitPico: 100n, limitReset: 'daily' });
    shared.answers = [{ kind: 'unknown', place: 0 }];
    expect(await outcome(holds, identity)).toContain('StoreUnavailable');
    store.away = false;
    expect(await outcome(holds, identity)).toBe('admitted');
    store.away = true;
    clock.advance(day);
    shared.answers = [{ kind: 'unknown', place: 0 }];
    expect(await outcome(holds, identity)).toBe('admitted');
    expect(shared.log).toEqual([`spent ${keyName(identity, Date.UTC(2026, 10, 17))} 0 first`]);
  });

  it('is not refused by a sum that is above what the store has once everything is settled', async () => {
    const { holds, shared } = rig({ stored: 5n });
    shared.answers = [refused(42n)];
    expect(await outcome(holds, bounded())).toBe('admitted');
    expect(shared.log).toEqual([`spent ${accountName(bounded())} 5 1`]);
    // Compared once for each change, and not while anything is in flight or may be unsettled.
    shared.answers = [refused(42n)];
    expect(await outcome(holds, bounded())).toBe('insufficient_credits');
    shared.answers = [refused(42n, { change: 2, unchangedMs: 100 } as object)];
    expect(await outcome(holds, bounded())).toBe('insufficient_credits');
    expect(shared.log.length).toBe(1);
  });

  it('counts alone while the shared state is out of reach, and tells it of the request afterwards', async () => {
    const { holds, shared } = rig({ stored: 95n });
    const identity = caller({}, { limitPico: 100n });
    shared.answers = [null, null];
    const hold = await holds.take(identity, 10n);
    expect(await outcome(holds, identity)).toBe('key_limit_exceeded');
    expect(shared.log).toEqual(['note 10']);
    hold.release(1n);
    expect(shared.log.at(-1)).toBe(`release ${keyName(identity)} 10 1`);
  });

  it('adds its cost to a cap that its key got meanwhile', async () => {
    const { holds, shared } = rig();
    const free = caller({ balancePico: 1n });
    const early = holds.take(free, 10n) as SpendHold;
    await holds.take({ ...free, key: { ...free.key, terms: { ...free.key.terms, limitPico: 9n } } }, 1n);
    early.release(4n);
    expect(shared.log).toEqual([`cost ${keyName(free)} 4`]);
  });
});
