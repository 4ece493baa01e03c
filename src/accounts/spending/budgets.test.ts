import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { scaled } from '../../../tests/support/scaled.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { type Account, type Identity, identityOf, newAccount, openTerms } from '../../domain/account.js';
import type { Budget, BudgetPeriod, Project } from '../../domain/organisation.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { dayMs, periodStart } from '../keys/limit-period.js';
import { boundsOf, spendableIn } from './spend-bounds.js';
import { type SpendHold, SpendHolds } from './spend-holds.js';

const monday = Date.UTC(2026, 10, 16);
const callers = 64;

interface Spent {
  readonly by: Identity;
  readonly createdAt: number;
  readonly costPico: bigint;
}

const idsOf = ({ key, project, account }: Identity): string[] => [account.id, project.id, key.id];

/** An account with three projects of two keys each, and a store that has every cost at once. */
function rig() {
  const clock = new ManualClock(monday);
  const account: Account = newAccount({
    id: 'acct-1',
    email: 'a@x.example',
    name: null,
    billingCountry: null,
    createdAt: 0,
  });
  account.balancePico = 1n;
  const [first] = [...account.projects.values()] as [Project];
  for (const name of ['search', 'chat'])
    account.projects.set(`proj-${name}`, { ...first, id: `proj-${name}`, name, isDefault: false });
  const identities: Identity[] = [];
  for (const project of account.projects.values())
    for (const number of [1, 2]) {
      const id = `${project.name}-${number}`;
      const named = {
        id,
        accountId: account.id,
        name: id,
        lastFour: 'wxyz',
        hash: null,
        expiresAt: null,
        createdAt: 0,
      };
      identities.push(identityOf({ ...named, terms: openTerms, projectId: project.id, holderId: null }, account));
    }
  const spent: Spent[] = [];
  let reads = 0;
  const sum = (id: string, fromMs: number): bigint =>
    spent.reduce((all, one) => (idsOf(one.by).includes(id) && one.createdAt >= fromMs ? all + one.costPico : all), 0n);
  const holds = new SpendHolds({
    ...{ clock, overdraft: 'open' as const, settled: async () => {} },
    spentSince: async ({ id }, fromMs) => {
      reads++;
      return sum(id, fromMs);
    },
  });
  return {
    clock,
    account,
    projects: [...account.projects.values()],
    identities,
    spent,
    sum,
    holds,
    reads: () => reads,
  };
}

function capped(identity: Identity, limitPico: bigint | null, limitReset: BudgetPeriod): Identity {
  return { ...identity, key: { ...identity.key, terms: { ...identity.key.terms, limitPico, limitReset } } };
}

const budget = (limitPico: bigint, period: BudgetPeriod = 'monthly', more: Partial<Budget> = {}): Budget => ({
  ...{ limitPico, period, alertAt: [0.8, 1] },
  ...more,
});

async function taken(holds: SpendHolds, identity: Identity, estimate: bigint): Promise<SpendHold | GatewayError> {
  try {
    return await holds.take(identity, estimate);
  } catch (error) {
    return error as GatewayError;
  }
}

const isHold = (outcome: SpendHold | GatewayError): outcome is SpendHold => 'release' in outcome;
const codeOf = (outcome: SpendHold | GatewayError) => (isHold(outcome) ? 'admitted' : outcome.condition);

describe('a budget', () => {
  it('of the account is named before that of the project, and that before the cap of the key', async () => {
    const { holds, account, identities } = rig();
    account.budget = budget(0n);
    identities[2]!.project.budget = budget(0n, 'daily');
    const identity = capped(identities[2]!, 0n, 'never');
    const refused = (await taken(holds, identity, 1n)) as GatewayError;
    expect(refused.message).toContain('The account has a budget of 0 USD (period: monthly); 0 USD are spent and 0 USD');
    expect(refused.message).toContain('ends at 2026-12-01T00:00:00.000Z');
    account.budget = null;
    const second = (await taken(holds, identity, 1n)) as GatewayError;
    expect([second.condition, second.message]).toEqual([
      'budget_exceeded',
      expect.stringContaining('"search" (proj-search)'),
    ]);
    expect(second.message).toContain('ends at 2026-11-17T00:00:00.000Z');
    identities[2]!.project.budget = null;
    expect(codeOf(await taken(holds, identity, 1n))).toBe('key_limit_exceeded');
    // By what is spent, all three are checked before the body is read.
    await expect((async () => holds.checkLimits(identity))()).rejects.toMatchObject({
      condition: 'key_limit_exceeded',
    });
  });

  it('counts what was spent elsewhere in its period, and not in the next one', async () => {
    const { holds, clock, account, identities } = rig();
    const opening = { day: monday / dayMs, spentPico: 90n };
    account.budget = budget(100n, 'weekly', { opening });
    const first = (await taken(holds, identities[0]!, 10n)) as SpendHold;
    expect(codeOf(await taken(holds, identities[1]!, 10n))).toBe('budget_exceeded');
    first.release(10n);
    const refused = (await taken(holds, identities[0]!, 10n)) as GatewayError;
    expect(refused.values).toMatchObject({ limit: '0.0000000001', used: '0.0000000001', held: '0' });
    clock.advance(7 * dayMs);
    expect(codeOf(await taken(holds, identities[0]!, 10n))).toBe('admitted');
  });

  it('that was away for a time counts what was spent meanwhile', async () => {
    const { holds, clock, spent, identities } = rig();
    const identity = identities[0]!;
    const { project } = identity;
    project.budget = budget(100n, 'daily');
    ((await taken(holds, identity, 10n)) as SpendHold).release(0n);
    project.budget = null;
    clock.advance(dayMs);
    const free = (await taken(holds, identity, 10n)) as SpendHold;
    spent.push({ by: identity, createdAt: clock.now(), costPico: 100n });
    free.release(100n);
    project.budget = budget(100n, 'daily');
    expect(codeOf(await taken(holds, identity, 10n))).toBe('budget_exceeded');
  });

  it('costs no read of the store once it is known, and no wait', async () => {
    const { holds, account, identities, reads } = rig();
    account.budget = budget(1_000n);
    identities[0]!.project.budget = budget(1_000n);
    const identity = capped(identities[0]!, 1_000n, 'monthly');
    await taken(holds, identity, 1n);
    expect(reads()).toBe(3);
    expect(holds.take(identity, 1n)).not.toBeInstanceOf(Promise);
    expect(holds.checkLimits(identity)).toBeUndefined();
    expect(holds.heldOf(boundsOf(identity))).toEqual([2n, 2n, 2n]);
  });
});

interface Running extends Omit<Spent, 'costPico'> {
  readonly hold: SpendHold;
  readonly estimate: bigint;
  /** The ids of those that had a limit when it came. */
  readonly bounded: ReadonlySet<string>;
}

/** The rule, from all that was ever spent and is in flight. */
function expected(state: ReturnType<typeof rig>, running: readonly Running[], identity: Identity): string {
  for (const bound of boundsOf(identity)) {
    const fromMs = periodStart(bound.period, state.clock.now()) ?? 0;
    const left = spendableIn(bound, fromMs) - state.sum(bound.id, fromMs);
    const beside = running.filter((one) => one.bounded.has(bound.id) && one.createdAt >= fromMs);
    const held = beside.reduce((all, { estimate }) => all + estimate, 0n);
    if (left <= 0n || (beside.length > 0 && left - held <= 0n))
      return bound.kind === 'key' ? 'key_limit_exceeded' : 'budget_exceeded';
  }
  return 'admitted';
}

const periods: readonly BudgetPeriod[] = ['never', 'daily', 'weekly', 'monthly'];

describe('random limits of account, projects and keys', () => {
  it.each(Array.from({ length: scaled(4, 100) }, (_, seed) => seed + 1))(
    `admit what the rule says, with up to ${callers} requests at once over days and weeks (seed %i)`,
    async (seed) => {
      const random = new SeededRandom(seed);
      const state = rig();
      const { clock, account, projects, spent, holds } = state;
      const identities = [...state.identities];
      let running: Running[] = [];
      const limit = (): bigint => BigInt(random.below(5_000));
      const change = () => {
        // Whether a hold of before counts in another period is not part of the rule.
        const period = running.length === 0 ? periods[random.below(4)]! : null;
        const place = random.below(1 + projects.length + identities.length);
        if (place <= projects.length) {
          const node = place === 0 ? account : projects[place - 1]!;
          const kept = node.budget?.period ?? 'monthly';
          node.budget = random.chance(0.2) ? null : budget(limit() * 3n, period ?? kept);
        } else {
          const at = place - 1 - projects.length;
          const { limitReset } = identities[at]!.key.terms;
          identities[at] = capped(identities[at]!, random.chance(0.3) ? null : limit(), period ?? limitReset);
        }
      };
      const end = () => {
        const [one] = running.splice(random.below(running.length), 1) as [Running];
        const costPico = (one.estimate * BigInt(random.below(5))) / 3n;
        spent.push({ by: one.by, createdAt: one.createdAt, costPico });
        one.hold.release(costPico);
      };
      const come = async (step: number) => {
        const by = identities[random.below(identities.length)]!;
        const estimate = BigInt(random.below(300));
        const should = expected(state, running, by);
        const outcome = await taken(holds, by, estimate);
        expect([step, codeOf(outcome)]).toEqual([step, should]);
        if (!isHold(outcome)) return;
        const bounded = new Set(boundsOf(by).map(({ id }) => id));
        running.push({ by, createdAt: clock.now(), hold: outcome, estimate, bounded });
      };
      for (let step = 0; step < 1_500; step++) {
        if (random.chance(0.05)) change();
        else if (random.chance(0.03)) clock.advance(random.below(3 * dayMs));
        else if (running.length >= callers || (running.length > 0 && random.chance(0.45))) end();
        else await come(step);
        if (random.chance(0.01)) while (running.length > 0) end();
      }
      running = [];
    },
    60_000,
  );

  it(`${callers} requests at the same moment go no further beyond a limit than one of them`, async () => {
    const { holds, account, identities } = rig();
    account.budget = budget(305n);
    identities[0]!.project.budget = budget(95n);
    // What was spent is known then, so that they are judged in the order in which they come.
    for (const i of [0, 4]) ((await taken(holds, identities[i]!, 1n)) as SpendHold).release(0n);
    const outcomes = await Promise.all(
      Array.from({ length: callers }, (_, i) => taken(holds, identities[i % 2 === 0 ? 0 : 4]!, 10n)),
    );
    // Ten hold 100 of the project's 95, and the rest of 305 is left to the other project.
    const admitted = outcomes.flatMap((outcome, i) => (isHold(outcome) ? [i % 2] : []));
    expect([admitted.filter((odd) => odd === 0).length, admitted.filter((odd) => odd === 1).length]).toEqual([10, 21]);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set(['admitted', 'budget_exceeded']));
  });
});
