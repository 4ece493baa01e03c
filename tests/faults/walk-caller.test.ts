/** A caller that leaves ends the walk, and the chain, at once. */
import { describe, expect, it } from 'vitest';
import { type Lane, silent, useRouting } from '../support/routing.js';
import { chunk, type Script, sse } from '../support/scripted-upstream.js';
import { expectWithin, pause } from './fixture.js';

const routing = useRouting();

const firsts: [string, boolean, Script][] = [
  ['a whole answer', false, silent],
  ['a stream', true, silent],
  ['a stream that has sent its role', true, sse([chunk({ role: 'assistant', content: '' })], { hangAfter: 1 })],
];

async function leave(lane: Lane, more: Record<string, unknown>): Promise<number> {
  const leaving = new AbortController();
  const gone = routing.gateway.chat(lane.body(more), { key: lane.key, signal: leaving.signal }).catch(() => 'gone');
  const { upstream } = routing;
  await upstream.waitForCalls(1);
  await pause(50);
  const leftAt = performance.now();
  leaving.abort();
  expect(await gone).toBe('gone');
  await upstream.waitFor(() => upstream.calls[0]!.aborted);
  return upstream.calls[0]!.abortedAt! - leftAt;
}

describe('the caller leaves while the first candidate is waited for', () => {
  it.each(firsts)(
    '%s: its call is ended within 100 ms, nobody else is asked, nothing is billed',
    async (_, stream, script) => {
      const lane = await routing.lane(['alpha', 'beta', 'gamma']);
      routing.on('alpha', script);
      expectWithin(await leave(lane, { stream, fallback: { models: [lane.pin('gamma')] } }), 100);
      await pause(300);
      expect(routing.called).toEqual(['alpha']);
      expect(await lane.charges()).toEqual([]);
      expect(await lane.route('alpha')).toMatchObject({ breaker: 'closed', error_rate: null });
      expect(await lane.record()).toMatchObject({
        ...{ error_code: 'client_closed', cost_usd: '0', providers_attempted: ['alpha'], requested_model: lane.auto },
      });
    },
  );
});

it('the caller leaves while an entry of the chain is waited for: the next entry is not asked', async () => {
  const lane = await routing.lane(['alpha', 'beta', 'gamma']);
  await lane.hold('alpha');
  routing.on('beta', silent);
  await leave(lane, { model: lane.pin('alpha'), fallback: { models: [lane.pin('beta'), lane.pin('gamma')] } });
  await pause(300);
  expect(routing.called).toEqual(['beta']);
  expect(await lane.charges()).toEqual([]);
});
