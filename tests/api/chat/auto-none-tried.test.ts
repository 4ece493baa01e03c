import { describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.js';
import { broken, expectReceipt, type Lane, useRouting } from '../../support/routing.js';
import { expectError } from '../harness.js';

const routing = useRouting();
const unpriced = { price: undefined };
const unable = { capabilities: [] };

/** By the id of the request, which failures have too. */
const skippedOf = async (lane: Lane, { headers }: Reply) =>
  (await lane.call('GET', `/v1/generation/${headers['x-request-id']}`)).json.data.skipped;

describe('when no candidate of auto/ can be tried', () => {
  it('all held: 503 model_unavailable, without a receipt and without Retry-After', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.hold('alpha');
    await lane.hold('beta');
    const row = { status: 503, type: 'provider_unavailable', code: 'model_unavailable', param: 'model' };
    expectError(await lane.chat(), { ...row, says: [lane.auto, 'quota'] });
    expect(routing.called).toEqual([]);
  });

  it('all unconfigured: 503 provider_not_configured', async () => {
    const lane = await routing.lane(['keyless', ['keyless', { locode: 'frpar' }]]);
    const row = { status: 503, type: 'provider_unavailable', code: 'provider_not_configured' };
    expectError(await lane.chat(), { ...row, says: ['keyless', 'credentials'] });
  });

  it('all unable to apply a parameter: a 400 without a code', async () => {
    const lane = await routing.lane({ alpha: unable, beta: unable });
    expectError(await lane.chat({ logprobs: true }), {
      ...{ status: 400, type: 'invalid_request_error', param: 'logprobs' },
      says: [/^Lodestone rejected the request before it reached the provider/, 'alpha'],
    });
    expect(routing.called).toEqual([]);
  });

  it('every candidate skipped by its breaker: 503 provider_error with the receipt, nobody attempted', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.open('alpha');
    await lane.open('beta');
    const skipped = ['alpha/defra', 'beta/frpar'];
    expectReceipt(await lane.chat(), 'provider_error', { attempted: [], skipped, last: '' });
    expect(routing.called).toEqual([]);
    expect(await lane.record()).toMatchObject({
      ...{ status: 503, providers_attempted: [], attempts: [], cost_usd: '0' },
      skipped: (['alpha', 'beta'] as const).map((name) => ({
        route: lane.pin(name),
        reason: 'breaker_open',
        param: null,
      })),
    });
  });

  it('none with a price: 503 provider_error with the receipt; they are candidates that are skipped', async () => {
    const lane = await routing.lane({ alpha: unpriced, beta: unpriced });
    expectReceipt(await lane.chat(), 'provider_error', { attempted: [], last: '' });
    expect(routing.called).toEqual([]);
  });

  const mixed = ['held', 'unconfigured', 'unpriced', 'unable', 'open'] as const;
  const pairs = mixed.flatMap((one, i) => mixed.slice(i + 1).map((other) => [one, other] as const));

  it.each(pairs)('one %s, one %s: 503 provider_error with the receipt', async (one, other) => {
    const kinds = [one, other];
    const has = (kind: (typeof mixed)[number]) => kinds.includes(kind);
    const lane = await routing.lane([
      ...(has('held') ? (['alpha'] as const) : []),
      ...(has('unconfigured') ? (['keyless'] as const) : []),
      ...(has('unpriced') ? [['beta', unpriced] as const] : []),
      ...(has('unable') ? [['gamma', unable] as const] : []),
      ...(has('open') ? (['delta'] as const) : []),
    ]);
    if (has('held')) await lane.hold('alpha');
    if (has('open')) await lane.open('delta');
    const skipped = has('open') ? ['delta/defra'] : [];
    const reply = await lane.chat({ logprobs: true });
    expectReceipt(reply, 'provider_error', { attempted: [], skipped, last: '' });
    expect(routing.called).toEqual([]);
    const reasons = { held: 'quota_held', unconfigured: 'unconfigured', unpriced: 'unpriced' } as const;
    const of = { ...reasons, unable: 'cannot_apply', open: 'breaker_open' } as const;
    const names = { held: 'alpha', unconfigured: 'keyless', unpriced: 'beta', unable: 'gamma', open: 'delta' } as const;
    const recorded = [one, other].map((kind) => ({
      ...{ route: lane.pin(names[kind]), reason: of[kind], param: kind === 'unable' ? 'logprobs' : null },
    }));
    expect(await skippedOf(lane, reply)).toEqual(expect.arrayContaining(recorded));
  });

  it('the state of a gated route does not matter: what is left is all held, so model_unavailable', async () => {
    const lane = await routing.lane(['alpha', 'beta'], { policy: { providers: { deny: ['beta'] } } });
    await lane.hold('alpha');
    expect((await lane.chat()).json.error.code).toBe('model_unavailable');
  });
});

describe('routes that are ruled out are passed by, and the others are tried', () => {
  it('held, unconfigured, unpriced, unable and open ones are skipped without a call; only an open one is named', async () => {
    const lane = await routing.lane([
      ...(['alpha', 'keyless'] as const),
      ['beta', unpriced],
      ['gamma', unable],
      ...(['delta', 'epsilon'] as const),
    ]);
    await lane.hold('alpha');
    await lane.open('delta');
    const reply = await lane.chat({ n: 2 });
    expect(reply.json.router_metadata).toMatchObject({
      ...{ provider: 'epsilon', providers_attempted: ['epsilon'], fallback_occurred: false },
      breaker_skipped: ['delta/defra'],
    });
    expect(routing.called).toEqual(['epsilon']);
    expect(await skippedOf(lane, reply)).toEqual([
      { route: lane.pin('alpha'), reason: 'quota_held', param: null },
      { route: lane.pin('gamma'), reason: 'cannot_apply', param: 'n' },
      { route: lane.pin('delta'), reason: 'breaker_open', param: null },
    ]);
  });

  it('where some are ruled out and the others failed, the failure answers, and nothing remains', async () => {
    const lane = await routing.lane({ alpha: {}, beta: unable, gamma: unpriced, keyless: {}, delta: {} });
    await lane.open('delta');
    routing.on('alpha', broken);
    const reply = await lane.chat({ logit_bias: { '5': 1 } });
    const last = 'out of order (HTTP 500)';
    expectReceipt(reply, 'provider_error', { attempted: ['alpha'], skipped: ['delta/defra'], last });
    expect(routing.called).toEqual(['alpha']);
  });

  it.each([
    ['held', 'provider_quota_exhausted'],
    ['unconfigured', 'provider_not_configured'],
    ['unpriced', 'provider_error'],
  ])('a pin of a route that is %s is told %s, without a receipt', async (kind, code) => {
    const lane = await routing.lane({ alpha: {}, keyless: {}, beta: unpriced });
    if (kind === 'held') await lane.hold('alpha');
    const pins = { held: lane.pin('alpha'), unconfigured: lane.pin('keyless'), unpriced: lane.pin('beta') };
    const reply = await lane.chat({ model: pins[kind as keyof typeof pins] });
    expect([reply.status, reply.json.error.code, reply.json.error.last_error]).toEqual([503, code, undefined]);
    expect(reply.headers['retry-after'] !== undefined).toBe(kind === 'held');
    expect(routing.called).toEqual([]);
  });

  it('a pin of a held route is always told of the quota, also where it cannot apply a parameter', async () => {
    const lane = await routing.lane({ alpha: unable });
    await lane.hold('alpha');
    const reply = await lane.chat({ model: lane.pin('alpha'), logprobs: true });
    expect(reply.json.error.code).toBe('provider_quota_exhausted');
  });
});
