import { describe, expect, it } from 'vitest';
import { expectWithin } from '../../faults/fixture.js';
import {
  chunk,
  completion,
  hang,
  hangAfterHeaders,
  json,
  type Script,
  slowBody,
  sse,
} from '../../support/scripted-upstream.js';
import { ask, expectError, newestRecord, useGateway } from '../harness.js';

const timeouts = {
  first_byte_streaming: '300ms',
  first_byte_non_streaming: '500ms',
  stream_idle: '350ms',
  overall: '1200ms',
};
const bench = useGateway({ config: { timeouts } });

const timeout = (budget: string, deadline: string) => ({
  status: 504,
  type: 'provider_unavailable',
  code: 'provider_timeout',
  says: ['acme', `${budget} budget of ${deadline}`, 'Nothing was billed'],
});

interface Case {
  what: string;
  stream: boolean;
  script: () => Script;
  budget: string;
  deadline: string;
  ms: number;
}

const roleOnly = chunk({ role: 'assistant', content: '' });
const comments = Array.from({ length: 40 }, () => ': keep-alive\n\n');

const cases: Case[] = [
  { what: 'silence, whole answer', stream: false, script: hang, budget: 'first-byte', deadline: '500ms', ms: 500 },
  { what: 'silence, stream', stream: true, script: hang, budget: 'first-byte', deadline: '300ms', ms: 300 },
  {
    what: 'headers and then silence, stream',
    stream: true,
    script: () => hangAfterHeaders(),
    budget: 'first-byte',
    deadline: '300ms',
    ms: 300,
  },
  {
    what: 'only comments, which are no first byte',
    stream: true,
    script: () => sse(comments, { gapMs: 50 }),
    budget: 'first-byte',
    deadline: '300ms',
    ms: 300,
  },
  {
    what: 'a role frame and then silence',
    stream: true,
    script: () => sse([roleOnly], { hangAfter: 1 }),
    budget: 'stream-idle',
    deadline: '350ms',
    ms: 350,
  },
  {
    what: 'role frames for ever',
    stream: true,
    script: () => sse(Array(60).fill(roleOnly), { gapMs: 100 }),
    budget: 'overall',
    deadline: '1.2s',
    ms: 1_200,
  },
  {
    what: 'a body that drips, whole answer',
    stream: false,
    script: () => slowBody(completion({ content: 'x'.repeat(2_000) }), { gapMs: 100 }),
    budget: 'overall',
    deadline: '1.2s',
    ms: 1_200,
  },
];

describe('504 provider_timeout: names the budget and its deadline, no Retry-After, nothing billed', () => {
  it.each(cases)('$what: $budget, $deadline', async ({ stream, script, budget, deadline, ms }) => {
    const { gateway, upstream } = bench;
    const account = await gateway.account();
    const before = [await gateway.balance(account.accountId), await gateway.ledger(account.accountId)];
    upstream.reply(script());
    const startedAt = performance.now();
    const reply = stream ? await gateway.stream(ask()) : await gateway.chat(ask());
    const tookMs = performance.now() - startedAt;
    expectError(reply, timeout(budget, deadline));
    expect(tookMs).toBeGreaterThanOrEqual(ms - 5);
    expectWithin(tookMs, ms + 500);
    expect([await gateway.balance(account.accountId), await gateway.ledger(account.accountId)]).toEqual(before);
    expect(await newestRecord(gateway, account.key)).toMatchObject({
      status: 504,
      error_code: 'provider_timeout',
      cost_usd: '0',
      streamed: stream,
      providers_attempted: ['acme'],
      attempts: [expect.objectContaining({ outcome: 'timeout' })],
    });
    expect(upstream.calls).toHaveLength(1);
    await upstream.waitFor(() => upstream.calls[0]!.aborted);
  });

  it('the upstream’s call is ended at the deadline, not later', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(hang());
    await gateway.chat(ask());
    await upstream.waitFor(() => upstream.calls[0]!.aborted);
    const { headAt, abortedAt } = upstream.calls[0]!;
    expectWithin(abortedAt! - headAt, 500 + 150);
  });

  it('an answer just inside the budget is served', async () => {
    bench.upstream.reply(json(completion(), { delayMs: 300 }));
    expect((await bench.gateway.chat(ask())).status).toBe(200);
  });

  it('a pin that timed out is not tried again', async () => {
    const { gateway, upstream } = bench;
    upstream.enqueue(hang(), json(completion()));
    expect((await gateway.chat(ask())).status).toBe(504);
    expect(upstream.calls).toHaveLength(1);
  });
});
