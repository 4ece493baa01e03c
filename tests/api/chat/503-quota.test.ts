import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { json, sse } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, expectError, expectWalkFailed, newestRecord, useGateway } from '../harness.js';

const clock = new ManualClock();
/** A route of its own for each case: one that has said that its quota is spent may be held. */
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const bench = useGateway({ clock, models: names.map((name) => model(name, [route()])) });
let next = 0;
let id = '';

beforeEach(() => {
  clock.setWall('2026-01-15T12:00:00Z');
  id = `acme/meta/${names[next++]}/defra`;
});

const exhausted = (retryAfter: string) => ({
  status: 503,
  type: 'provider_unavailable',
  code: 'provider_quota_exhausted',
  param: 'model',
  says: ['acme', `"${id}"`, 'midnight UTC', 'another region or provider'],
  retryAfter,
});
const spent = (message: string, status = 429) =>
  json({ error: { message, type: 'tokens' } }, { status, headers: { 'retry-after': '5' } });

describe('503 provider_quota_exhausted on a pin', () => {
  it.each([
    ['Rate limit reached on tokens per day (TPD): Limit 500000', 429],
    ['You have exceeded your daily quota of tokens', 403],
    ['Quota exceeded for metric: GenerateRequestsPerDay', 429],
  ])(
    '"%s" (HTTP %i): Retry-After is the time to midnight, not the upstream’s; one call, nothing billed',
    async (message, status) => {
      bench.upstream.reply(spent(message, status));
      await expectWalkFailed(bench, ask({ model: id }), exhausted('43200'), {
        upstreamCalls: 1,
        account: await bench.gateway.createAccount(),
        record: { providers_attempted: ['acme'], attempts: [expect.objectContaining({ outcome: 'quota' })] },
      });
    },
  );

  it.each([
    ['2026-01-15T23:59:59.500Z', '1'],
    ['2026-01-16T00:00:00.000Z', '86400'],
  ])('at %s Retry-After is %s: 1 to 86400, never 0', async (now, seconds) => {
    clock.setWall(now);
    bench.upstream.reply(spent('tokens per day (TPD)'));
    expectError(await bench.gateway.chat(ask({ model: id })), exhausted(seconds));
  });

  it('the same inside a stream’s first frame', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(sse([{ error: { code: 429, message: 'tokens per day (TPD)' } }]));
    const { key } = await gateway.createAccount();
    expectError(await gateway.stream(ask({ model: id }), { key }), exhausted('43200'));
    expect(await newestRecord(gateway, key)).toMatchObject({
      error_code: 'provider_quota_exhausted',
      cost_usd: '0',
      streamed: true,
    });
  });

  it('a limit a minute, a monthly cap or an empty wallet is no daily quota: provider_error, no Retry-After', async () => {
    for (const message of [
      'Rate limit: 60 requests per minute',
      'Monthly spending limit reached',
      'insufficient_quota: check your billing',
    ]) {
      bench.upstream.reply(spent(message));
      const row = { status: 503, type: 'provider_error', code: 'provider_error', says: ['acme'] };
      expectError(await bench.gateway.chat(ask({ model: id })), row);
    }
  });
});
