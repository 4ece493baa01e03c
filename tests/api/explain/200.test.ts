import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { broken, type Lane, useRouting } from '../../support/routing.js';

const routing = useRouting();

interface Explained {
  object: string;
  requested_model: string;
  resolved: string[];
  candidates: Json[];
  would_serve: string | null;
  error: { error: Json } | null;
  counterfactuals: Json[];
}

async function explained(lane: Lane, more: Json = {}): Promise<Explained> {
  const reply = await lane.explain(more);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
}

const verdicts = ({ candidates }: Explained) => candidates.map(({ id, verdict }) => [id, verdict]);

describe('POST /v1/routes/explain: what would happen, without a call and without a cost', () => {
  it('the order of the walk with rank and score; who would serve; the chat then does so', async () => {
    const lane = await routing.lane(['gamma', 'alpha', 'beta']);
    const answer = await explained(lane);
    expect(answer).toMatchObject({
      ...{ object: 'route_explanation', requested_model: lane.auto, resolved: [lane.auto] },
      ...{ would_serve: lane.pin('alpha'), error: null },
    });
    expect(answer.candidates.map(({ id, rank, verdict, gate, param }) => ({ id, rank, verdict, gate, param }))).toEqual(
      (['alpha', 'beta', 'gamma'] as const).map((name, i) => ({
        ...{ id: lane.pin(name), rank: i + 1, verdict: 'eligible', gate: null, param: null },
      })),
    );
    const totals = answer.candidates.map(({ score }) => (score as { total: number }).total);
    expect(totals).toEqual([...totals].sort((a, b) => b - a));
    expect(answer.candidates[0]!.score).toMatchObject({ price: 1, latency: 1, failures: 1 });
    expect(routing.called).toEqual([]);
    expect((await lane.chat()).json.router_metadata.served_model).toBe(answer.would_serve);
  });

  it('leaves no record, no charge, and no mark on a route', async () => {
    const lane = await routing.lane(['alpha']);
    for (let i = 0; i < 10; i++) await explained(lane);
    expect([await lane.record(), await lane.charges()]).toEqual([undefined, []]);
    expect(await lane.route('alpha')).toMatchObject({ breaker: 'closed', latency_ms: null, error_rate: null });
  });

  it('every verdict: eligible, gated, breaker_open, quota_held, unconfigured, unpriced, cannot_apply', async () => {
    const routes = [
      ...(['alpha', 'keyless'] as const),
      ['beta', { price: undefined }] as const,
      ['gamma', { capabilities: [] }] as const,
      ...(['delta', 'epsilon', 'zeta'] as const),
    ];
    const lane = await routing.lane(routes, { policy: { prefer: 'price', providers: { deny: ['zeta'] } } });
    await lane.hold('alpha');
    await lane.open('delta');
    const answer = await explained(lane, { logprobs: true });
    expect(verdicts(answer)).toEqual([
      [lane.pin('alpha'), 'quota_held'],
      [lane.pin('keyless'), 'unconfigured'],
      [lane.pin('gamma'), 'cannot_apply'],
      [lane.pin('delta'), 'breaker_open'],
      [lane.pin('epsilon'), 'eligible'],
      [lane.pin('beta'), 'unpriced'],
      [lane.pin('zeta'), 'gated'],
    ]);
    expect(answer.candidates[2]!.param).toBe('logprobs');
    expect(answer.candidates[6]).toMatchObject({ gate: 'providers', rank: null });
    expect([answer.would_serve, answer.error]).toEqual([lane.pin('epsilon'), null]);
    const { json } = await lane.chat({ logprobs: true });
    expect(json.router_metadata).toMatchObject({ provider: 'epsilon', breaker_skipped: ['delta/defra'] });
  });

  it('gated: each with the first gate that removes it; the 403, and what change would admit a route', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma'], { policy: { deny_cloud_act: true, max_carbon: 50 } });
    const answer = await explained(lane);
    expect(answer.candidates.map(({ id, gate }) => [id, gate])).toEqual([
      [lane.pin('alpha'), 'max_carbon'],
      [lane.pin('beta'), 'max_carbon'],
      [lane.pin('gamma'), 'deny_cloud_act'],
    ]);
    expect(answer.would_serve).toBeNull();
    expect(answer.error).toEqual((await lane.chat()).json);
    expect(answer.counterfactuals).toMatchObject([{ gate: 'max_carbon', setting: 56, admits: 1 }]);
    await lane.policy({ deny_cloud_act: true, max_carbon: 56 });
    expect((await lane.chat()).json.router_metadata.provider).toBe('beta');
  });

  it('a pin: one candidate, no gate touches it, and an open breaker does not stop it', async () => {
    const lane = await routing.lane(['alpha', 'beta'], { policy: { max_carbon: 0 } });
    await lane.open('alpha');
    const answer = await explained(lane, { model: `alpha/meta/${lane.model}` });
    expect(answer.resolved).toEqual([lane.pin('alpha')]);
    expect(verdicts(answer)).toEqual([[lane.pin('alpha'), 'eligible']]);
    expect(answer.would_serve).toBe(lane.pin('alpha'));
  });

  it('an alias is resolved to its target', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const alias = await lane.alias('mine', lane.auto);
    const answer = await explained(lane, { model: alias });
    expect([answer.requested_model, answer.resolved]).toEqual([alias, [lane.auto]]);
  });

  it('a chain is explained entry by entry, as far as it would be walked', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const other = await routing.lane(['gamma'], { account: lane.account });
    await lane.hold('alpha');
    await lane.hold('beta');
    await lane.saveChain(lane.pin('alpha'), other.auto, other.pin('gamma'));
    const answer = await explained(lane);
    expect(answer.resolved).toEqual([lane.auto, lane.pin('alpha'), other.auto, other.pin('gamma')]);
    expect(verdicts(answer)).toEqual([
      [lane.pin('alpha'), 'quota_held'],
      [lane.pin('beta'), 'quota_held'],
      [lane.pin('alpha'), 'quota_held'],
      [other.pin('gamma'), 'eligible'],
    ]);
    expect(answer.would_serve).toBe(other.pin('gamma'));
    expect((await lane.chat()).json.router_metadata.served_model).toBe(answer.would_serve);
    expect((await explained(lane, { fallback: { models: [] } })).would_serve).toBeNull();
  });

  it('an entry that repeats the requested id has its candidates after it, each entry in its own place', async () => {
    const policy = { prefer: 'price', providers: { deny: ['beta'] } };
    const lane = await routing.lane(['alpha', 'beta'], { policy });
    await lane.hold('alpha');
    const answer = await explained(lane, { fallback: { models: [lane.auto] } });
    const once = [
      [lane.pin('alpha'), 'quota_held'],
      [lane.pin('beta'), 'gated'],
    ];
    expect(verdicts(answer)).toEqual([...once, ...once]);
  });

  it('a failing upstream is not foreseen: explain calls nobody', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    expect((await explained(lane)).would_serve).toBe(lane.pin('alpha'));
    expect(routing.called).toEqual([]);
  });
});

describe('what the chat would have answered is in `error`, and the status is 200', () => {
  it.each<[string, (lane: Lane) => Json | Promise<Json>, string | undefined]>([
    ['an unknown model', () => ({ model: 'auto/meta/none' }), 'not_found'],
    ['an id of another shape', () => ({ model: 'none' }), 'invalid_request_error'],
    ['an unknown alias', () => ({ model: 'alias/none' }), 'alias_not_found'],
    ['a region that is not served', (lane) => ({ model: lane.pin('alpha', 'usnyc') }), 'not_found'],
    ['a chain with an unknown entry', () => ({ fallback: { models: ['auto/meta/none'] } }), 'invalid_fallback_model'],
    [
      'a model that is disabled',
      async (lane) => {
        await lane.state('disabled');
        return {};
      },
      'model_not_found',
    ],
    [
      'a model that is soft-disabled',
      async (lane) => {
        await lane.state('soft_disabled', 'under repair');
        return {};
      },
      'model_unavailable',
    ],
    ['a parameter that no route can apply', () => ({ n: 2 }), undefined],
    ['a pin of a provider without credentials', (lane) => ({ model: lane.pin('keyless') }), 'provider_not_configured'],
    [
      'a held pin',
      async (lane) => {
        await lane.hold('alpha');
        return { model: lane.pin('alpha') };
      },
      'provider_quota_exhausted',
    ],
    [
      'breakers that are all open',
      async (lane) => {
        await lane.open('alpha');
        return {};
      },
      'provider_error',
    ],
    [
      'breakers that are all open, and those of its chain, which the receipt names together',
      async (lane) => {
        const entry = await routing.lane(['beta'], { account: lane.account });
        await lane.open('alpha');
        await entry.open('beta');
        return { fallback: { models: [entry.auto] } };
      },
      'provider_error',
    ],
  ])('%s', async (_what, prepare, code) => {
    const lane = await routing.lane({ alpha: { capabilities: [] }, keyless: { capabilities: [] } });
    if (code === undefined) await routing.withdraw(lane, { alpha: { capabilities: [] } });
    const more = await prepare(lane);
    const answer = await explained(lane, more);
    expect([answer.would_serve, answer.error?.error.code]).toEqual([null, code]);
    expect(answer.error).toEqual((await lane.chat(more)).json);
  });

  it('no credit: the 402, with the candidates all the same', async () => {
    const lane = await routing.lane(['alpha']);
    await routing.gateway.admin('POST', `/accounts/${lane.account.accountId}/credits`, { amount_usd: '-10.00' });
    const answer = await explained(lane);
    expect(answer.error).toEqual((await lane.chat()).json);
    expect([answer.error?.error.code, answer.would_serve]).toEqual(['insufficient_credits', null]);
    expect(answer.candidates).toHaveLength(1);
  });
});
