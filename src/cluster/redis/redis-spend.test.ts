import { describe, expect, it } from 'vitest';
import { until, useRedis, withinReach } from '../../../tests/support/redis-shared-state.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import type { SpendAnswer, SpendAsk, SpendSubject } from '../shared-spend.js';
import type { SharedState } from './open-shared-state.js';

const redis = useRedis();

const subjectOf = (name: string): SpendSubject => ({
  name,
  accountId: 'a',
  kind: 'balance' as const,
  id: 'a',
  fromMs: 0,
});
const askOf = (limits: [SpendSubject, bigint][], estimatePico: bigint): SpendAsk => ({
  limits: limits.map(([subject, limitPico]) => ({ subject, limitPico })),
  estimatePico,
  atMs: 0,
});
const kindOf = (answer: SpendAnswer | null) => answer?.kind ?? 'away';

/** Two processes of one fleet, and a subject of which so much was spent. */
async function pair(attempt: number, spentPico = 0n) {
  const states = [await redis.open(), await redis.open()] as [SharedState, SharedState];
  const subject = subjectOf(`s${attempt}`);
  await states[0].spend.setSpent(subject, spentPico, 'first');
  return { states, subject };
}

async function inReach(act: (attempt: number) => Promise<void>): Promise<void> {
  await withinReach([await redis.open()], act);
}

describe('a subject of the whole fleet', () => {
  it('admits exactly what its rule says, however many ask at once at two processes', async () => {
    await inReach(async (attempt) => {
      const { states, subject } = await pair(attempt, 5n);
      const ask = askOf([[subject, 100n]], 10n);
      const asked = Array.from({ length: 300 }, (_, i) => states[i % 2]!.spend.take(ask));
      const answers = (await Promise.all(asked)).map(kindOf);
      // 95 are left: nine requests hold 90, and the tenth is admitted beside them.
      expect(answers.filter((kind) => kind === 'held').length).toBe(10);
      expect(answers.filter((kind) => kind === 'refused').length).toBe(290);
      expect(await states[0].spend.inFlight(subject)).toEqual({ heldPico: 100n, requests: 10 });
    });
  });

  it('follows a model of the rule, with amounts that no floating point number can hold', async () => {
    await inReach(async (attempt) => {
      const random = new SeededRandom(7);
      const base = 123_456_789_012_345_678_901n;
      const { states, subject } = await pair(attempt, base);
      const model = { spentPico: base, heldPico: 0n, requests: 0 };
      const running: { by: SharedState; estimate: bigint }[] = [];
      for (let step = 0; step < 300; step++) {
        const by = states[random.below(2)]!;
        if (running.length > 0 && random.chance(0.45)) {
          const [{ by: owner, estimate }] = running.splice(random.below(running.length), 1) as [(typeof running)[0]];
          const cost = (estimate * BigInt(random.below(3))) / 2n;
          owner.spend.release([subject], estimate, cost);
          // The other process may ask next, so its answer must come after this.
          await owner.spend.inFlight(subject);
          model.spentPico += cost;
          model.heldPico -= estimate;
          model.requests--;
          continue;
        }
        const estimate = BigInt(random.below(1_000_000)) * 3_000_001n;
        const leftPico = BigInt(random.below(2_000)) * 1_000_000_000n - 100_000_000_000n;
        const answer = await by.spend.take(askOf([[subject, model.spentPico + leftPico]], estimate));
        const admitted = leftPico > 0n && (model.requests === 0 || leftPico - model.heldPico > 0n);
        expect([step, kindOf(answer)]).toEqual([step, admitted ? 'held' : 'refused']);
        if (answer?.kind === 'refused') expect(answer).toMatchObject(model);
        if (!admitted) continue;
        running.push({ by, estimate });
        model.heldPico += estimate;
        model.requests++;
      }
    });
  });

  it('holds nothing of one limit where another has no room', async () => {
    await inReach(async (attempt) => {
      const { states, subject } = await pair(attempt);
      const other = subjectOf(`other${attempt}`);
      await states[0].spend.setSpent(other, 50n, 'first');
      const both = (limit: bigint) =>
        askOf(
          [
            [subject, 100n],
            [other, limit],
          ],
          10n,
        );
      expect(await states[0].spend.take(both(50n))).toMatchObject({ kind: 'refused', place: 1, spentPico: 50n });
      expect(await states[0].spend.inFlight(subject)).toEqual({ heldPico: 0n, requests: 0 });
      expect(await states[0].spend.take(both(51n))).toEqual({ kind: 'held' });
      expect(await states[1].spend.inFlight(other)).toEqual({ heldPico: 10n, requests: 1 });
    });
  });

  it('is unknown until the store was read, is raised by it, and lowered only while nothing changes', async () => {
    await inReach(async (attempt) => {
      const { spend } = await redis.open();
      const subject = subjectOf(`u${attempt}`);
      const ask = askOf([[subject, 10n]], 1n);
      expect(await spend.take(ask)).toEqual({ kind: 'unknown', place: 0 });
      expect(await spend.setSpent(subject, 20n, 'first')).toBe(true);
      expect(await spend.setSpent(subject, 5n, 'first')).toBe(false);
      expect(await spend.setSpent(subject, 19n, 'least')).toBe(false);
      expect(await spend.setSpent(subject, 21n, 'least')).toBe(true);
      const refused = await spend.take(ask);
      if (refused?.kind !== 'refused') throw new Error(`It was ${kindOf(refused)}.`);
      expect(refused.spentPico).toBe(21n);
      expect(await spend.setSpent(subject, 3n, refused.change - 1)).toBe(false);
      expect(await spend.setSpent(subject, 3n, refused.change)).toBe(true);
      expect(await spend.take(ask)).toEqual({ kind: 'held' });
    });
  });
});

describe('a process that is gone', () => {
  it('holds nothing once its lease has ended, while one that lives holds on to what it has', async () => {
    await inReach(async (attempt) => {
      const { states, subject } = await pair(attempt);
      const ask = askOf([[subject, 100n]], 60n);
      expect([await states[0].spend.take(ask), await states[1].spend.take(ask)].map(kindOf)).toEqual(['held', 'held']);
      // Closed without a word, as by a kill.
      await states[0].close();
      let held: { heldPico: bigint; requests: number } | null = null;
      const lookAgain = setInterval(async () => {
        held = await states[1].spend.inFlight(subject);
      }, 100);
      try {
        await until(() => held?.requests === 1, 30_000);
      } finally {
        clearInterval(lookAgain);
      }
      expect(held).toEqual({ heldPico: 60n, requests: 1 });
    });
  }, 60_000);
});

describe('a sum that is forgotten', () => {
  it('has to be told again, and what is held stays', async () => {
    await inReach(async (attempt) => {
      const { states, subject } = await pair(attempt, 5n);
      const ask = askOf([[subject, 100n]], 10n);
      expect(kindOf(await states[0].spend.take(ask))).toBe('held');
      await states[1].spend.forget([subject]);
      expect(kindOf(await states[0].spend.take(ask))).toBe('unknown');
      expect(await states[0].spend.setSpent(subject, 80n, 'first')).toBe(true);
      expect(await states[1].spend.inFlight(subject)).toEqual({ heldPico: 10n, requests: 1 });
      expect(kindOf(await states[1].spend.take(ask))).toBe('held');
      expect(kindOf(await states[1].spend.take(ask))).toBe('refused');
    });
  });
});

describe('a Redis that was away', () => {
  it('gets what is held again, and what it missed is reported', async () => {
    const state = await redis.open();
    const subject = subjectOf('away');
    const missed: string[] = [];
    state.spend.onMissed(async ({ name }) => void missed.push(name));
    await state.spend.setSpent(subject, 0n, 'first');
    const ask = askOf([[subject, 100n]], 10n);
    await withinReach([state], async () => {
      expect(kindOf(await state.spend.take(ask))).toBe('held');
    });
    await redis.server.kill();
    await until(() => !state.link.up);
    expect(await state.spend.take(ask)).toBeNull();
    state.spend.note(ask);
    state.spend.note(ask);
    state.spend.release([subject], 10n, 7n);
    missed.length = 0;
    await redis.server.restart();
    await until(() => state.link.up, 30_000);
    expect(missed).toEqual(['away']);
    expect((await state.spend.inFlight(subject))?.requests).toBeGreaterThanOrEqual(2);
    expect(kindOf(await state.spend.take(ask))).toBe('unknown');
  }, 60_000);
});
