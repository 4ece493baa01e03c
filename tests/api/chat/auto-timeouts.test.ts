import { describe, expect, it } from 'vitest';
import { expectAt } from '../../faults/fixture.js';
import { broken, expectReceipt, serving, silent, useRouting } from '../../support/routing.js';
import { chunk, completion, json, slowBody, sse } from '../../support/scripted-upstream.js';

/** The time budgets of docs/behaviour/limits.md#time-budgets, far shorter. */
const timeouts = {
  ...{ first_byte_streaming: '500ms', first_byte_streaming_after_timeout: '250ms', first_byte_non_streaming: '700ms' },
  ...{ stream_idle: '350ms', overall: '1800ms' },
};
const routing = useRouting({ config: { timeouts } });
const roleOnly = sse([chunk({ role: 'assistant', content: '' })], { hangAfter: 1 });

/** How long each attempt was let to live, in order. */
async function lengths(): Promise<number[]> {
  const { upstream } = routing;
  await upstream.waitFor(() => upstream.calls.every(({ finished, aborted }) => finished || aborted));
  return upstream.calls.map(({ requestAt, abortedAt, finishedAt }) => (abortedAt ?? finishedAt)! - requestAt!);
}

async function expectLengths(...expected: number[]): Promise<void> {
  const found = await lengths();
  expect(found).toHaveLength(expected.length);
  for (const [i, ms] of expected.entries()) expectAt(found[i]!, ms);
}

describe('each attempt’s length in an auto/ walk', () => {
  it('after a timeout every later streaming attempt has the shorter first-byte budget', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    for (const name of ['alpha', 'beta', 'gamma'] as const) routing.on(name, silent);
    const last = 'the first-byte budget of 250ms expired';
    const reply = await lane.stream();
    expectReceipt(reply, 'provider_timeout', { attempted: ['alpha', 'beta', 'gamma'], last });
    expect(reply.json.error.message).toContain('gamma did not answer in time: the first-byte budget of 250ms expired');
    await expectLengths(500, 250, 250);
    expect(await lane.charges()).toEqual([]);
  });

  it('the shorter budget holds also when another failure came in between, and when it was the idle budget that expired', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    routing.on('alpha', roleOnly);
    routing.on('beta', broken);
    routing.on('gamma', silent);
    const receipt = { attempted: ['alpha', 'beta', 'gamma'], last: 'the first-byte budget of 250ms expired' };
    expectReceipt(await lane.stream(), 'provider_timeout', receipt);
    await expectLengths(350, 0, 250);
  });

  it('a failure that is no timeout shortens nothing', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    routing.on('beta', silent);
    const receipt = { attempted: ['alpha', 'beta'], last: 'the first-byte budget of 500ms expired' };
    expectReceipt(await lane.stream(), 'provider_timeout', receipt);
    await expectLengths(0, 500);
  });

  it('only the first byte is hurried; the stream that follows keeps its idle budget', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', silent);
    routing.on(
      'beta',
      sse([chunk({ content: 'one' }), chunk({ content: ' two', finishReason: 'stop' })], { gapMs: 300 }),
    );
    expect((await lane.stream()).content).toBe('one two');
  });

  it('non-streaming attempts are never shortened, the last gets what remains, and the error names the overall budget', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma', 'delta', 'epsilon']);
    for (const name of ['alpha', 'beta', 'gamma', 'delta'] as const) routing.on(name, silent);
    const startedAt = performance.now();
    const reply = await lane.chat();
    expectAt(performance.now() - startedAt, 1_800);
    const last = 'the overall budget of 1.8s expired';
    expectReceipt(reply, 'provider_timeout', { attempted: ['alpha', 'beta', 'gamma'], remaining: 2, last });
    await expectLengths(700, 700, 400);
    expect(await lane.record()).toMatchObject({ status: 504, error_code: 'provider_timeout', cost_usd: '0' });
  });

  it('a later non-streaming attempt may take its whole budget and serve', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', silent);
    routing.on('beta', json(completion(), { delayMs: 550 }));
    expect((await lane.chat()).json.router_metadata?.providers_attempted).toEqual(['alpha', 'beta']);
  });

  it('the walk’s overall budget is one for all of its attempts: what drips uses it up', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    routing.on('alpha', silent);
    routing.on('beta', slowBody(completion({ content: 'x'.repeat(2_000) }), { gapMs: 100 }));
    const last = 'the overall budget of 1.8s expired';
    expectReceipt(await lane.chat(), 'provider_timeout', { attempted: ['alpha', 'beta'], remaining: 1, last });
    await expectLengths(700, 1_100);
  });

  it('a pin after all this has the full budget again', async () => {
    const lane = await routing.lane(['alpha']);
    routing.on('alpha', silent);
    const { error } = (await lane.stream({ model: lane.pin('alpha') })).json;
    expect([error.code, error.candidates_remaining]).toEqual(['provider_timeout', undefined]);
    await expectLengths(500);
  });
});

describe('candidates_remaining is above 0 only when the walk stopped on its budget', () => {
  const drip = slowBody(completion({ content: 'x'.repeat(2_000) }), { gapMs: 100 });

  it('what could not have been tried is not counted: held, unpriced, unable, unconfigured, and open, which is named', async () => {
    const lane = await routing.lane([
      ...(['alpha', 'beta', 'keyless'] as const),
      ['gamma', { capabilities: [] }],
      ['delta', { price: undefined }],
      ...(['epsilon', 'zeta'] as const),
    ]);
    await lane.hold('epsilon');
    await lane.open('zeta');
    routing.on('alpha', drip);
    expectReceipt(await lane.chat({ logprobs: true }), 'provider_timeout', {
      ...{ attempted: ['alpha'], skipped: ['zeta/usnyc'], remaining: 1 },
      last: 'the overall budget of 1.8s expired',
    });
    expect(routing.called).toEqual(['alpha']);
  });

  it('pinning a remaining candidate works', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', drip);
    expect((await lane.chat()).json.error.candidates_remaining).toBe(1);
    routing.on('beta', serving);
    expect((await lane.chat({ model: lane.pin('beta') })).status).toBe(200);
  });

  it('the overall budget spent on the last candidate leaves 0', async () => {
    const lane = await routing.lane(['alpha']);
    routing.on('alpha', drip);
    const last = 'the overall budget of 1.8s expired';
    expectReceipt(await lane.chat(), 'provider_timeout', { attempted: ['alpha'], last });
  });
});
