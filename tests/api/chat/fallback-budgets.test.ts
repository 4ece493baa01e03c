import { describe, expect, it } from 'vitest';
import { expectAt } from '../../faults/fixture.js';
import { broken, expectReceipt, silent, useRouting } from '../../support/routing.js';
import { completion, slowBody } from '../../support/scripted-upstream.js';

const timeouts = {
  ...{ first_byte_streaming: '500ms', first_byte_streaming_after_timeout: '200ms', first_byte_non_streaming: '600ms' },
  ...{ stream_idle: '400ms', overall: '900ms' },
};
const routing = useRouting({ config: { timeouts } });
const drip = slowBody(completion({ content: 'x'.repeat(2_000) }), { gapMs: 100 });
const chain = (...models: string[]) => ({ fallback: { models } });

async function expectLengths(...expected: number[]): Promise<void> {
  const { upstream } = routing;
  await upstream.waitFor(() => upstream.calls.every(({ finished, aborted }) => finished || aborted));
  const lengths = upstream.calls.map(({ requestAt, abortedAt, finishedAt }) => (abortedAt ?? finishedAt)! - requestAt!);
  expect(lengths).toHaveLength(expected.length);
  for (const [i, ms] of expected.entries()) expectAt(lengths[i]!, ms);
}

describe('each entry of a chain has a budget of its own', () => {
  it('the chain is walked after a 504, and an entry serves though the primary used up its whole budget', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', drip);
    const { json } = await lane.chat({ model: lane.pin('alpha'), ...chain(lane.pin('beta')) });
    expect(json.router_metadata).toMatchObject({ providers_attempted: ['alpha', 'beta'], fallback_occurred: true });
    await expectLengths(900, 0);
  });

  it('whole answers: an entry has the full first byte and overall budgets again', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    for (const name of ['alpha', 'beta', 'gamma'] as const) routing.on(name, silent);
    const reply = await lane.chat({ ...chain(lane.pin('gamma'), lane.auto), model: lane.pin('alpha') });
    const attempted = ['alpha', 'gamma', 'alpha', 'beta'];
    const last = 'the overall budget of 900ms expired';
    expectReceipt(reply, 'provider_timeout', { attempted, remaining: 1, last });
    await expectLengths(600, 600, 600, 300);
  });

  it('streams: a timeout of the primary does not hurry an entry; one within the entry does', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    for (const name of ['alpha', 'beta', 'gamma'] as const) routing.on(name, silent);
    const reply = await lane.stream({ ...chain(lane.auto), model: lane.pin('gamma') });
    const attempted = ['gamma', 'alpha', 'beta', 'gamma'];
    expectReceipt(reply, 'provider_timeout', { attempted, last: /expired/ });
    await expectLengths(500, 500, 200, 200);
  });

  it('candidates_remaining is that of the last entry tried', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    routing.on('alpha', drip);
    routing.on('gamma', broken);
    const reply = await lane.chat(chain(lane.pin('gamma'), lane.auto));
    const attempted = ['alpha', 'gamma', 'alpha'];
    expectReceipt(reply, 'provider_timeout', { attempted, remaining: 2, last: /overall/ });
  });
});
