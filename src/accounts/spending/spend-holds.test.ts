import { describe, expect, it } from 'vitest';
import { identityOf } from '../../../tests/support/limited-identity.js';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import type { Account, Identity, KeyTerms } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { type SpendHold, SpendHolds } from './spend-holds.js';

const noon = Date.UTC(2026, 10, 16, 12);
const day = 24 * 60 * 60 * 1000;

function rig({ overdraft = 'open' as 'open' | 'bounded', spent = 0n } = {}) {
  const clock = new ManualClock(noon);
  const asked: number[] = [];
  const holds = new SpendHolds({
    clock,
    overdraft,
    settled: async () => {},
    spentSince: async (_node, fromMs) => {
      asked.push(fromMs);
      return spent;
    },
  });
  return { clock, holds, asked };
}

function caller(account: Partial<Account>, terms: Partial<KeyTerms> = {}): Identity {
  const identity = identityOf('k');
  const key = { ...identity.key, terms: { ...identity.key.terms, ...terms } };
  return { ...identity, key, account: Object.assign(identity.account, account) };
}

async function refusal(holds: SpendHolds, identity: Identity, estimate = 10n): Promise<string> {
  try {
    await holds.take(identity, estimate);
    return 'admitted';
  } catch (error) {
    return (error as GatewayError).condition;
  }
}

describe('holds on a balance', () => {
  it('do not limit an account with an open overdraft', async () => {
    const { holds } = rig();
    const identity = caller({ balancePico: 1n });
    for (let i = 0; i < 5; i++) expect(await refusal(holds, identity)).toBe('admitted');
    expect(holds.inFlight(identity.account)).toEqual({ heldPico: 50n, requests: 5 });
  });

  it('admit the first request whatever its estimate, and others only beside what is held', async () => {
    const { holds } = rig({ overdraft: 'bounded' });
    const identity = caller({ balancePico: 15n });
    const first = (await holds.take(identity, 10n)) as SpendHold;
    expect(await refusal(holds, identity)).toBe('admitted');
    expect(await refusal(holds, identity)).toBe('insufficient_credits');
    first.release(0n);
    first.release(0n);
    expect(holds.inFlight(identity.account)).toEqual({ heldPico: 10n, requests: 1 });
    expect(await refusal(holds, identity)).toBe('admitted');
  });

  it('say in the refusal what is held, and for how many requests', async () => {
    const { holds } = rig({ overdraft: 'bounded' });
    const identity = caller({ balancePico: 5_000_000_000_000n });
    await holds.take(identity, 6_000_000_000_000n);
    const error = await Promise.resolve()
      .then(() => holds.take(identity, 1n))
      .catch((thrown) => thrown as GatewayError);
    expect((error as GatewayError).message).toContain('balance is 5 USD, of which 6 USD are held for 1 requests');
  });

  it('follow the account where it says otherwise, and its credit limit', async () => {
    const bounded = rig();
    const own = caller({ balancePico: 1n, overdraft: 'bounded', creditLimitPico: 12n });
    expect(await refusal(bounded.holds, own)).toBe('admitted');
    expect(await refusal(bounded.holds, own)).toBe('admitted');
    expect(await refusal(bounded.holds, own)).toBe('insufficient_credits');
    const open = rig({ overdraft: 'bounded' });
    const free = caller({ balancePico: 1n, overdraft: 'open' });
    for (let i = 0; i < 3; i++) expect(await refusal(open.holds, free)).toBe('admitted');
  });

  it('count a request that cost more than it held', async () => {
    const { holds } = rig();
    ((await holds.take(caller({}), 10n)) as SpendHold).release(11n);
    ((await holds.take(caller({}), 10n)) as SpendHold).release(10n);
    expect(holds.exceeded).toBe(1);
  });
});

describe('a spent balance', () => {
  it('is refused with what is held where it is bounded, and alone where it is not', async () => {
    const dollar = 10n ** 12n;
    const spent = caller({ balancePico: -2n * dollar }).account;
    for (const overdraft of ['open', 'bounded'] as const) {
      const { holds } = rig({ overdraft });
      await holds.take(caller({ balancePico: 5n * dollar }), 3n * dollar);
      expect(await holds.spentBalance(caller({ balancePico: 1n }).account)).toBeNull();
      expect((await holds.spentBalance(spent))?.message).toBe(
        overdraft === 'bounded'
          ? 'The account balance is -2 USD, 3 USD are held for 1 requests in flight, and a request needs a balance above zero. Add credits and send it again.'
          : 'The account balance is -2 USD, and a request needs a balance above zero. Add credits and send it again.',
      );
    }
  });
});

describe('the cap of a key', () => {
  it('admits exactly what its rule says: something is left, and beside the requests in flight too', async () => {
    const { holds } = rig({ spent: 70n });
    const identity = caller({}, { limitPico: 100n });
    const first = (await holds.take(identity, 20n)) as SpendHold;
    expect(await refusal(holds, identity, 20n)).toBe('admitted');
    expect(await refusal(holds, identity, 20n)).toBe('key_limit_exceeded');
    first.release(5n);
    expect(await refusal(holds, identity, 20n)).toBe('admitted');
    expect(await refusal(holds, identity, 20n)).toBe('key_limit_exceeded');
  });

  it('of 0 admits nothing', async () => {
    expect(await refusal(rig().holds, caller({}, { limitPico: 0n }))).toBe('key_limit_exceeded');
  });

  it('is known to be spent or not, whatever is in flight; where the balance has no room either, that answers', async () => {
    const { holds } = rig({ overdraft: 'bounded', spent: 90n });
    const identity = caller({ balancePico: 5n }, { limitPico: 100n });
    const first = (await holds.take(identity, 20n)) as SpendHold;
    await holds.checkLimits(identity);
    expect(await refusal(holds, identity)).toBe('insufficient_credits');
    first.release(10n);
    await expect((async () => holds.checkLimits(identity))()).rejects.toMatchObject({
      condition: 'key_limit_exceeded',
    });
    expect(holds.checkLimits(caller({}))).toBeUndefined();
  });

  it('is read from the store once, and then kept', async () => {
    const { holds, asked } = rig({ spent: 99n });
    const identity = caller({}, { limitPico: 100n });
    const answers = await Promise.all([refusal(holds, identity), refusal(holds, identity)]);
    expect(answers).toEqual(['admitted', 'key_limit_exceeded']);
    expect(asked).toEqual([0]);
  });

  it('begins anew with its period, and a request that came before belongs to the old one', async () => {
    const { holds, clock } = rig({ spent: 99n });
    const identity = caller({}, { limitPico: 100n, limitReset: 'daily' });
    const late = (await holds.take(identity, 10n)) as SpendHold;
    expect(await refusal(holds, identity)).toBe('key_limit_exceeded');
    clock.advance(day);
    expect(await refusal(holds, identity, 10n)).toBe('admitted');
    late.release(95n);
    expect(await refusal(holds, identity, 10n)).toBe('admitted');
  });

  it('counts a cost that is added while the store is read', async () => {
    const { clock } = rig();
    let reads = 0;
    let other: SpendHold | undefined;
    const holds = new SpendHolds({
      clock,
      overdraft: 'open',
      settled: async () => {},
      spentSince: async () => {
        if (++reads === 2) other?.release(50n);
        return reads < 3 ? 0n : 50n;
      },
    });
    other = (await holds.take(caller({}, { limitPico: 60n }), 10n)) as SpendHold;
    const daily = caller({}, { limitPico: 60n, limitReset: 'daily' });
    await holds.take(daily, 10n);
    expect(reads).toBe(3);
    expect(await refusal(holds, daily)).toBe('key_limit_exceeded');
  });
});
