import { expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { RecordingCaller } from '../../tests/support/played-relay.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { Deadlines } from '../providers/transport/deadlines.js';
import { newTrail } from './exchange.js';
import type { Exchange } from './handover.js';
import { type WalkPorts, walk } from './walk.js';

it('asks no upstream for a caller that has left already', async () => {
  const clock = new ManualClock();
  const snapshot = smallSnapshot();
  const route = snapshot.routes.get('acme/meta/llama/defra')!;
  let dispatched = 0;
  const transport = { dispatch: () => ({ abort: () => dispatched++ }), close: async () => {} };
  const ports = {
    clock,
    deadlines: new Deadlines(clock),
    timeouts: { overallMs: 1_000, firstByteNonStreamingMs: 1_000 },
    transportOf: () => transport,
  } as unknown as WalkPorts;
  const caller = Object.assign(new RecordingCaller(), { gone: true });
  const request = { model: route.id, stream: false, needs: [], members: '"messages":[]', encoding: 'latin1' };
  const trail = newTrail();
  const exchange = { caller, request, snapshot, trail } as unknown as Exchange;
  const plan = { id: route.id, alias: null, name: null, kind: 'pin', routes: [route], hasOwn: false } as const;
  const outcome = await walk(ports, { exchange, plan, candidates: [route], relay: null });
  expect([outcome.kind, dispatched, trail.attempts]).toEqual(['gone', 0, []]);
});
