import { expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { RecordingCaller } from '../../../tests/support/played-relay.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import type { TaskReading } from '../../providers/read-task-answer.js';
import type { UpstreamHandler } from '../../providers/transport/transport.js';
import type { Exchange } from '../handover.js';
import type { Attempt, AttemptPorts } from './attempt.js';
import { attemptTask } from './attempt-task.js';

const answered: TaskReading = {
  kind: 'answer',
  answer: { vectors: ['[1]'], relevances: [], tokens: 1, requests: null, model: undefined },
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A request of seven inputs that go out one by one: the test plays the upstream and the reading of its answers. */
class PlayedTask {
  readonly caller = new RecordingCaller();
  readonly upstream: UpstreamHandler[] = [];
  readonly readings: { resolve: (reading: TaskReading) => void; reject: (error: Error) => void }[] = [];
  readonly trail = { attempts: [] as { outcome: string }[], providersAttempted: [], upstreamMs: 0 };
  readonly outcome: Promise<unknown>;
  aborts = 0;

  constructor() {
    const snapshot = smallSnapshot();
    const route = { ...snapshot.routes.get('acme/meta/llama/defra')!, maxBatch: 1 };
    const inputs = Array.from({ length: 7 }, (_, at) => `"${at}"`);
    const request = { task: { kind: 'embedding', inputs, isTokens: false, format: 'float' }, encoding: 'latin1' };
    const exchange = { request, snapshot, caller: this.caller, trail: this.trail } as unknown as Exchange;
    const transport = {
      dispatch: (_request: unknown, handler: UpstreamHandler) => {
        this.upstream.push(handler);
        return { abort: () => this.aborts++ };
      },
    };
    const ports = {
      transportOf: () => transport,
      credentials: { headersFor: () => [] },
      deadlines: { watch: () => {}, unwatch: () => {}, coarseNowMs: 0 },
      clock: new ManualClock(),
      answers: {
        readTask: () => new Promise((resolve, reject) => this.readings.push({ resolve, reject })),
      },
      failures: { read: (failure: object) => ({ ...failure, meaning: 'provider_error', quote: 'no' }) },
    } as unknown as AttemptPorts;
    const budgets = { firstByteMs: 1e6, idleMs: 1e6, overallMs: 1e6, overallNamedMs: 1e6 };
    this.outcome = attemptTask(ports, { exchange, route, budgets, relay: null } as unknown as Attempt).catch(String);
  }

  async answer(at: number, status = 200): Promise<void> {
    await turn();
    const handler = this.upstream[at]!;
    handler.onHeaders(status, ['content-type', 'application/json'], () => {});
    handler.onData(Buffer.from('{}'));
    handler.onEnd();
    await turn();
  }

  async begin(): Promise<this> {
    await this.answer(0);
    expect(this.upstream).toHaveLength(1);
    this.readings[0]!.resolve(answered);
    await turn();
    expect(this.upstream).toHaveLength(5);
    return this;
  }
}

it('is not recorded as served by an answer that is read after another part has failed', async () => {
  const played = await new PlayedTask().begin();
  await played.answer(1);
  await played.answer(2, 500);
  played.readings[1]!.resolve(answered);
  expect(await played.outcome).toMatchObject({ kind: 'failure', failure: { status: 500 } });
  expect(played.trail.attempts).toMatchObject([{ outcome: 'provider_error' }]);
  expect([played.upstream.length, played.aborts]).toEqual([5, 2]);
});

it('sends nothing more after a fault in its own code', async () => {
  const played = await new PlayedTask().begin();
  for (const at of [1, 2, 3, 4]) await played.answer(at);
  played.readings[1]!.reject(new Error('broken'));
  expect(await played.outcome).toBe('Error: broken');
  for (const at of [2, 3, 4]) played.readings[at]!.resolve(answered);
  await turn();
  expect(played.upstream).toHaveLength(5);
});

it('sends nothing more after the caller has left, even while no call runs', async () => {
  const played = new PlayedTask();
  await played.answer(0);
  played.caller.gone = true;
  played.caller.onGone?.();
  played.readings[0]!.resolve(answered);
  expect(await played.outcome).toEqual({ kind: 'gone' });
  expect(played.trail.attempts).toMatchObject([{ outcome: 'client_closed' }]);
  expect(played.upstream).toHaveLength(1);
});
