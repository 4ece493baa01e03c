import { describe, expect, it } from 'vitest';
import { memorySpend } from '../../../tests/support/memory-budgets.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import type { OwnHold, SpendAnswer, SpendAsk, SpendSubject } from '../../cluster/shared-spend.js';
import { StoreUnavailable } from '../../storage/store.js';
import { StoredSpend } from './stored-spend.js';

const subjectOf = (name: string): SpendSubject => ({
  ...{ name, accountId: 'a', kind: 'account' as const, id: 'a', fromMs: 0 },
});
const budget = subjectOf('budget');

/** A store that answers a little later, each time by another moment, and what was settled there. */
function fleet(processes: number, random = new SeededRandom(1)) {
  const state = { away: false };
  const turns = async (most: number) => {
    for (let turn = random.below(most); turn >= 0; turn--) await new Promise((resolve) => setImmediate(resolve));
  };
  const later = async () => {
    await turns(4);
    if (state.away) throw new StoreUnavailable(new Error('away'));
  };
  const store = memorySpend(async (read) => {
    await later();
    const value = read();
    await later();
    return value;
  });
  const settledPico = new Map<string, bigint>();
  const all = Array.from({ length: processes }, (_, index) => {
    const holds = new Map<string, OwnHold>();
    const unsettled: [string, bigint][] = [];
    const heldOf = (subject: SpendSubject) => holds.get(subject.name) ?? { subject, heldPico: 0n, requests: 0 };
    const count = ({ limits, estimatePico }: SpendAsk, sign: 1 | -1) => {
      for (const { subject } of limits) {
        const { heldPico, requests } = heldOf(subject);
        holds.set(subject.name, {
          subject,
          heldPico: heldPico + BigInt(sign) * estimatePico,
          requests: requests + sign,
        });
      }
    };
    const spend = new StoredSpend({
      ...{ store, process: `p${index}`, heldOf, allHeld: () => holds.values() },
      hold: (ask) => count(ask, 1),
      takeBack: (ask) => count(ask, -1),
      pause: () => turns(40),
      async spentOf({ name }) {
        await later();
        return settledPico.get(name) ?? 0n;
      },
      async settled() {
        const costs = unsettled.splice(0);
        try {
          await later();
        } catch (error) {
          unsettled.push(...costs);
          throw error;
        }
        for (const [name, pico] of costs) settledPico.set(name, (settledPico.get(name) ?? 0n) + pico);
        await later();
      },
    });
    return {
      spend,
      end(ask: SpendAsk, costPico: bigint) {
        count(ask, -1);
        for (const { subject } of ask.limits) unsettled.push([subject.name, costPico]);
        spend.released(
          ask.limits.map(({ subject }) => subject),
          costPico,
        );
      },
    };
  });
  return { all, store, settledPico, state };
}

const askOf = (estimatePico: bigint, ...limits: [SpendSubject, bigint][]): SpendAsk => ({
  limits: limits.map(([subject, limitPico]) => ({ subject, limitPico })),
  estimatePico,
  atMs: 0,
});
const kinds = (answers: readonly SpendAnswer[]) => answers.map(({ kind }) => kind);

describe('takes in the store', () => {
  it('admit together what one process would, however many ask at once', async () => {
    const { all } = fleet(3);
    const ask = askOf(10n, [budget, 95n]);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => all[i % 3]!.spend.take(ask)));
    expect(kinds(answers).filter((kind) => kind === 'held').length).toBe(10);
    const refused = answers.find(({ kind }) => kind === 'refused');
    expect(refused).toMatchObject({ place: 0, spentPico: 0n });
  });

  it('refuse by the first limit without room, with what the fleet has spent and holds', async () => {
    const { all } = fleet(2);
    const project = subjectOf('project');
    const both = (estimate: bigint) => askOf(estimate, [budget, 1_000n], [project, 30n]);
    expect(await all[0]!.spend.take(both(20n))).toEqual({ kind: 'held' });
    expect(await all[1]!.spend.take(both(10n))).toEqual({ kind: 'held' });
    expect(await all[1]!.spend.take(both(1n))).toMatchObject({
      ...{ kind: 'refused', place: 1, spentPico: 0n, heldPico: 30n, requests: 2 },
    });
    all[0]!.end(both(20n), 5n);
    all[1]!.end(both(10n), 25n);
    expect(await all[0]!.spend.take(both(1n))).toMatchObject({ place: 1, spentPico: 30n, requests: 0 });
  });

  it('count a cost once when it is settled while they look: who is refused by nothing else waits for that', async () => {
    const { all, settledPico } = fleet(2);
    const ask = askOf(4n, [budget, 10n]);
    for (let served = 0; served < 3; served++) {
      const { spend, end } = all[served % 2]!;
      expect(await spend.take(ask)).toEqual({ kind: 'held' });
      end(ask, 4n);
    }
    expect(await all[1]!.spend.take(ask)).toMatchObject({ kind: 'refused', spentPico: 12n });
    expect(settledPico.get('budget')).toBe(12n);
  });

  it('follow a model: no limit is passed by more than one cost, and nothing that is left is refused', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = new SeededRandom(seed);
      const { all } = fleet(1 + random.below(4), random);
      const limit = BigInt(1 + random.below(300));
      const other = subjectOf('other');
      let spent = 0n;
      const caller = async (turns: number) => {
        for (let turn = 0; turn < turns; turn++) {
          const process = random.pick(all);
          const estimate = BigInt(1 + random.below(20));
          const ask = askOf(estimate, [other, 1_000_000n], [budget, limit]);
          if ((await process.spend.take(ask)).kind !== 'held') continue;
          for (let wait = random.below(6); wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve));
          const cost = BigInt(random.below(Number(estimate) + 1));
          spent += cost;
          process.end(ask, cost);
        }
      };
      await Promise.all(Array.from({ length: 12 }, () => caller(5)));
      expect(spent, `seed ${seed}`).toBeLessThan(limit + 20n);
      const last = await random.pick(all).spend.take(askOf(1n, [budget, limit]));
      expect(last.kind, `seed ${seed}: ${spent} of ${limit}`).toBe(spent < limit ? 'held' : 'refused');
    }
  });

  it('fail where the store is away, and hold nothing then', async () => {
    const { all, state } = fleet(1);
    state.away = true;
    const ask = askOf(10n, [budget, 15n]);
    await expect(all[0]!.spend.take(ask)).rejects.toThrow(StoreUnavailable);
    state.away = false;
    expect(await all[0]!.spend.take(ask)).toEqual({ kind: 'held' });
    expect(await all[0]!.spend.take(ask)).toEqual({ kind: 'held' });
    expect(await all[0]!.spend.take(ask)).toMatchObject({ kind: 'refused', heldPico: 20n });
  });
});

describe('what a process holds', () => {
  it('is written whole with its costs settled, and removed at the end', async () => {
    const { all, store, settledPico } = fleet(2);
    const ask = askOf(10n, [budget, 100n]);
    const { spend, end } = all[0]!;
    await Promise.all([spend.take(ask), spend.take(ask)]);
    end(ask, 7n);
    await spend.publish();
    expect(settledPico.get('budget')).toBe(7n);
    expect(store.held('p0')).toMatchObject([{ subject: 'budget', heldPico: 10n, requests: 1 }]);
    expect(await all[1]!.spend.inFlight(budget)).toEqual({ heldPico: 10n, requests: 1 });
    await spend.end();
    expect(store.held('p0')).toEqual([]);
  });
});
