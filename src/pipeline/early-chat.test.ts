import { describe, expect, it } from 'vitest';
import { identityOf } from '../../tests/support/limited-identity.js';
import { ManualClock } from '../../tests/support/manual-clock.js';
import type { SpendHold } from '../accounts/spending/spending.js';
import { MemoryCounters } from '../cluster/memory.js';
import type { ChatTaken, Counters } from '../cluster/ports.js';
import type { Identity } from '../domain/account.js';
import { GatewayError } from '../errors/gateway-error.js';
import { KeyLimiter } from '../limits/rate-limits.js';
import { EarlyChat } from './early-chat.js';
import type { Arrival, Exchange } from './handover.js';
import type { PipelinePorts } from './ports.js';

const tokens = 40;
const nothing = { release: () => {}, cancel: () => {} };

/** An early chat of a key, or of a key whose project has a limit, and what is held for it. */
function rig(projectLimit: number | null = null) {
  const clock = new ManualClock();
  const counters: Counters = new MemoryCounters(clock);
  const keyLimiter = new KeyLimiter({ keyRequestsPerMinute: 10, keyTokensPerMinute: 1_000 }, counters, counters);
  const identity = identityOf('one');
  Object.assign(identity.project.limits, { tokensPerMinute: projectLimit });
  let held = 0;
  const newHold = (): SpendHold => {
    let isOver = false;
    held++;
    return {
      release() {
        if (!isOver) held--;
        isOver = true;
      },
    };
  };
  const catalogue = { current: {} };
  const ask = { limits: [], estimatePico: 7n, atMs: 0 };
  const ports = {
    keyLimiter,
    catalogue,
    names: { version: 1 },
    validator: { validate: () => ({}) },
    spend: { askOf: () => ask, takeAs: newHold },
  } as unknown as PipelinePorts;
  const caller = { bodyAtHand: () => Buffer.from('{}'), contentType: 'application/json' };
  const open = (_: unknown, __: unknown, by: Identity) =>
    ({
      ...{ identity: by, snapshot: catalogue.current, promptEstimate: tokens, costEstimatePico: 7n },
      ...{ refusal: null, reservation: nothing, hold: nothing },
    }) as unknown as Exchange;
  const early = new EarlyChat(ports, { caller, door: {} } as unknown as Arrival, open);
  /** As the shared state answers: the key's tokens are taken from the same counters. */
  const taken = (kind: 'held' | 'unknown' = 'held'): ChatTaken => ({
    tokens: counters.take('one', tokens, 1_000) as ChatTaken['tokens'],
    spend: kind === 'held' ? { kind } : { kind, place: 0 },
  });
  const usedBy = (name: string) => counters.peek(name).used;
  const usedByProject = () => usedBy(identity.project.id);
  const takeOfProject = (amount: number) => counters.take(identity.project.id, amount, 1_000);
  return { early, identity, taken, catalogue, usedBy, usedByProject, takeOfProject, held: () => held };
}

describe('an early chat', () => {
  it('has its tokens and its hold in its exchange, and gives both back once', async () => {
    const { early, identity, taken, usedBy, held } = rig();
    expect(early.prepare(identity)).toMatchObject({ tokens, spend: { estimatePico: 7n } });
    await early.take(taken());
    expect([early.isHeld, held(), usedBy('one')]).toEqual([true, 1, tokens]);
    const exchange = early.exchangeOf(identity)!;
    exchange.reservation.correct(5);
    early.undo();
    early.undo();
    expect([held(), usedBy('one')]).toEqual([0, 5]);
  });

  it('that holds nothing yet has its tokens, and what is to be asked again', async () => {
    const { early, identity, taken, held } = rig();
    early.prepare(identity);
    await early.take(taken('unknown'));
    expect([early.isHeld, held(), early.answer]).toEqual([false, 0, { kind: 'unknown', place: 0 }]);
    expect(early.exchangeOf(identity)).not.toBeNull();
  });

  it('that its project refuses keeps neither tokens nor hold, and knows the refusal', async () => {
    const { early, identity, taken, takeOfProject, usedBy, usedByProject, held } = rig(tokens);
    takeOfProject(1);
    early.prepare(identity);
    await early.take(taken());
    expect(early.refusal).toBeInstanceOf(GatewayError);
    expect([usedBy('one'), usedByProject(), held()]).toEqual([0, 1, 0]);
    early.undo();
    expect([usedBy('one'), usedByProject(), held()]).toEqual([0, 1, 0]);
  });

  it('gives the tokens of its project back where the shared state took nothing', async () => {
    const { early, identity, usedByProject } = rig(1_000);
    early.prepare(identity);
    expect(usedByProject()).toBe(tokens);
    await early.take(null);
    expect([usedByProject(), early.exchangeOf(identity)]).toEqual([0, null]);
  });

  it.each(['identity', 'catalogue'] as const)('gives everything back where the %s is another now', async (what) => {
    const { early, identity, taken, catalogue, usedBy, usedByProject, held } = rig(1_000);
    early.prepare(identity);
    await early.take(taken());
    if (what === 'catalogue') catalogue.current = {};
    expect(early.exchangeOf(what === 'identity' ? { ...identity } : identity)).toBeNull();
    expect([usedBy('one'), usedByProject(), held()]).toEqual([0, 0, 0]);
  });
});
