/** Chats that customers' own credentials at providers serve: which one, what it costs, and what its failures do. */
import { describe, expect, it } from 'vitest';
import { completion, hang, json } from '../../support/scripted-upstream.js';
import { ask } from '../harness.js';
import { keyed, keyless, own, refused, useCustomer } from './customer.js';

const rig = useCustomer();
const { bench, bring, chat, sentKeys } = rig;

describe('a chat with an own credential', () => {
  it('costs the fee, and names the credential in the answer, the record and the ledger', async () => {
    const { json: made } = await bring();
    bench.upstream.enqueue(json(completion()));
    const reply = await chat(keyed);
    expect(reply.status, reply.text).toBe(200);
    expect(sentKeys()).toEqual([own]);
    // 9 × 0.6 + 3 × 0.8 USD a million. A tenth of it, and 0.001 a request.
    expect(reply.json.usage).toMatchObject({
      ...{ cost: 0.00100078, is_byok: true, notional_cost: 0.0000078 },
      notional_cost_details: { input: '0.0000054', output: '0.0000024' },
      cost_details: { fee: '0.00100078' },
    });
    expect(reply.json.router_metadata.credential).toEqual({ id: made.id, owner: 'account' });
    const record = await bench.gateway.call('GET', `/v1/generation?id=${reply.json.id}`, undefined, {
      key: rig.customer.key,
    });
    expect(record.json.data, record.text).toMatchObject({
      ...{
        cost_usd: '0.00100078',
        notional_usd: '0.0000078',
        is_byok: true,
        credential: { id: made.id, owner: 'account' },
      },
    });
    const exported = await bench.gateway.admin(
      'GET',
      `/export/generations?format=ndjson&account=${rig.customer.accountId}`,
    );
    const row = JSON.parse(exported.text.trim());
    expect([row.cost_usd, JSON.parse(row.cost_details), JSON.parse(row.notional_cost_details)]).toEqual([
      ...['0.00100078', { fee: '0.00100078' }, { input: '0.0000054', output: '0.0000024' }],
    ]);
    const [entry] = await bench.gateway.ledger(rig.customer.accountId);
    expect(entry).toMatchObject({ amount_usd: '-0.00100078', generation_id: reply.json.id });
    const stored = await rig.customer.call('GET', `/credentials/${made.id}`);
    expect(stored.json).toMatchObject({ state: { status: 'ok' }, last_used_at: expect.any(String) });
  });

  it('uses the operator’s for everybody else', async () => {
    await bring();
    bench.upstream.enqueue(json(completion()));
    const reply = await bench.gateway.chat(ask({ model: keyed }));
    expect(sentKeys()).toEqual(['the-key-of-the-operator']);
    expect(reply.json.router_metadata.credential).toEqual({ id: null, owner: 'operator' });
    expect(reply.json.usage.is_byok).toBeUndefined();
  });

  it('serves a route that the operator has not configured, and lists it', async () => {
    expect((await chat(keyless)).json.error.code).toBe('provider_not_configured');
    await bring({ provider: 'keyless' });
    bench.upstream.enqueue(json(completion()));
    expect((await chat(keyless)).status).toBe(200);
    const listed = await bench.gateway.call('GET', '/v1/models', undefined, { key: rig.customer.key });
    expect(listed.json.data.map(({ id }: { id: string }) => id)).toContain(keyless);
    const others = await bench.gateway.call('GET', '/v1/models');
    expect(others.json.data.map(({ id }: { id: string }) => id)).not.toContain(keyless);
  });

  it('serves entries of a fallback chain that the operator has not configured, for itself alone', async () => {
    const fallback = { models: [keyless] };
    const sent = (key = rig.customer.key) => bench.gateway.chat(ask({ fallback }), { key });
    const save = () => bench.gateway.call('PUT', '/v1/fallback', { fallback }, { key: rig.customer.key });
    expect((await sent()).json.error.code).toBe('invalid_fallback_model');
    expect((await save()).json.error.code).toBe('invalid_fallback_model');
    const project = (await rig.customer.call('POST', '/projects', { name: 'search' })).json.id;
    const { json: made } = await bring({ provider: 'keyless', project });
    const key = (await rig.customer.call('POST', `/projects/${project}/keys`, { name: 'k' })).json.token;
    bench.upstream.enqueue(refused(500), json(completion()));
    const reply = await sent(key);
    expect(reply.json.router_metadata?.credential, reply.text).toEqual({ id: made.id, owner: 'project' });
    expect((await sent()).json.error.code).toBe('invalid_fallback_model');
    expect((await bench.gateway.chat(ask({ fallback }))).json.error.code).toBe('invalid_fallback_model');
    expect((await save()).status).toBe(200);
    bench.upstream.enqueue(refused(500), json(completion()));
    const bySaved = await bench.gateway.chat(ask(), { key });
    expect(bySaved.json.router_metadata?.served_model, bySaved.text).toBe(keyless);
  });

  it('is never replaced by the operator’s with `only`, and its error names it', async () => {
    await bring();
    bench.upstream.enqueue(refused(401));
    const reply = await chat(keyed);
    expect(reply.status).toBe(503);
    expect(reply.json.error.message).toContain('your credential “our key”');
    expect(reply.text).not.toContain(own);
    expect(sentKeys()).toEqual([own]);
  });

  it('is tried by `auto/` again once a check has found it good, and is named where it is not tried', async () => {
    const { json: made } = await bring();
    const auto = () => chat('auto/meta/llama', { provider: { only: ['keyed'] } });
    bench.upstream.enqueue(refused(401));
    await auto();
    const skipped = await auto();
    expect(skipped.json.error.message, skipped.text).toContain('your credential “our key”');
    expect(sentKeys()).toEqual([own]);
    bench.upstream.enqueue(json(completion()), json(completion()));
    await rig.customer.call('POST', `/credentials/${made.id}/check`);
    expect((await auto()).status).toBe(200);
    bench.upstream.enqueue(refused(403));
    await rig.customer.call('POST', `/credentials/${made.id}/check`);
    expect((await auto()).status).toBe(503);
    expect(sentKeys()).toHaveLength(4);
  });

  it.each([
    ['401', refused(401), 'failing', 'skipped'],
    ['403', refused(403), 'failing', 'skipped'],
    ['402', refused(402), 'unchecked', 'tried'],
    ['407, which is a proxy’s', refused(407), 'unchecked', 'tried'],
    [
      '404, which is of a model',
      json({ error: { message: 'The model `x` does not exist or you do not have access to it.' } }, { status: 404 }),
      'unchecked',
      'tried',
    ],
    [
      '404, in words of access',
      json({ error: { message: 'No access to it.' } }, { status: 404 }),
      'unchecked',
      'tried',
    ],
    [
      '429 with a time',
      json({ error: { message: 'slow' } }, { status: 429, headers: { 'retry-after': '60' } }),
      'unchecked',
      'skipped',
    ],
    [
      'daily quota',
      json({ error: { message: 'tokens per day (TPD) limit reached' } }, { status: 429 }),
      'unchecked',
      'skipped',
    ],
    ['500', refused(500), 'unchecked', 'tried'],
  ] as const)('%s: the state and what `auto/` does next; a pin tries all the same', async (_, answer, status, next) => {
    const { json: made } = await bring();
    const auto = () => chat('auto/meta/llama', { provider: { only: ['keyed'] } });
    bench.upstream.enqueue(answer);
    expect((await auto()).status).toBe(503);
    expect((await rig.customer.call('GET', `/credentials/${made.id}`)).json.state.status).toBe(status);
    if (next === 'tried') bench.upstream.enqueue(json(completion()));
    expect((await auto()).status).toBe(next === 'tried' ? 200 : 503);
    bench.upstream.enqueue(json(completion()));
    expect((await chat(keyed)).status).toBe(200);
    expect(sentKeys()).toHaveLength(next === 'tried' ? 3 : 2);
  });

  it.each([401, 402, 403, 429])('goes on to the operator’s after a %i with `first`, also for a pin', async (status) => {
    await bring({ use: 'first' });
    bench.upstream.enqueue(refused(status), json(completion()));
    const reply = await chat(keyed);
    expect(reply.status, reply.text).toBe(200);
    expect(sentKeys()).toEqual([own, 'the-key-of-the-operator']);
    expect(reply.json.router_metadata).toMatchObject({
      ...{
        fallback_occurred: false,
        providers_attempted: ['keyed', 'keyed'],
        credential: { id: null, owner: 'operator' },
      },
    });
  });

  it('does not go on after a failure of the provider with `first`', async () => {
    await bring({ use: 'first' });
    bench.upstream.enqueue(refused(500));
    expect((await chat(keyed)).status).toBe(503);
    expect(sentKeys()).toEqual([own]);
  });

  it('comes after any failure of the operator’s with `last`', async () => {
    await bring({ use: 'last' });
    bench.upstream.enqueue(refused(500), json(completion()));
    const reply = await chat(keyed);
    expect(reply.status, reply.text).toBe(200);
    expect(sentKeys()).toEqual(['the-key-of-the-operator', own]);
  });

  it('of the project wins over that of the account', async () => {
    const project = (await rig.customer.call('POST', '/projects', { name: 'search' })).json.id;
    const { json: made } = await bring({ project, secret: { api_key: 'key-of-the-project' } });
    await bring({ use: 'first' });
    const key = (await rig.customer.call('POST', `/projects/${project}/keys`, { name: 'k' })).json.token;
    bench.upstream.enqueue(json(completion()), json(completion()));
    const reply = await bench.gateway.chat(ask({ model: keyed }), { key });
    expect(reply.json.router_metadata.credential).toEqual({ id: made.id, owner: 'project' });
    expect((await chat(keyed)).status).toBe(200);
    expect(sentKeys()).toEqual(['key-of-the-project', own]);
  });

  it('opens no breaker and holds nothing of anybody else', async () => {
    await bring();
    const healthOf = async () => {
      const { json: routes } = await bench.gateway.admin('GET', '/routes');
      return routes.data.find(({ id }: { id: string }) => id === keyed);
    };
    const before = await healthOf();
    for (let n = 0; n < 8; n++) {
      bench.upstream.enqueue(refused(n % 2 ? 401 : 500));
      expect((await chat(keyed)).status).toBe(503);
    }
    expect(await healthOf()).toEqual(before);
  });

  it('is gone with the next request once it is deleted', async () => {
    const { json: made } = await bring();
    await rig.customer.call('DELETE', `/credentials/${made.id}`);
    bench.upstream.enqueue(json(completion()));
    await chat(keyed);
    expect(sentKeys()).toEqual(['the-key-of-the-operator']);
  });
});

describe('the routing policy', () => {
  it('is judged for each candidate: an own agreement counts for the own credential alone', async () => {
    const policy = { max_retention_days: 0 };
    expect((await rig.customer.call('PUT', '/routing-policy', policy)).status).toBe(200);
    const auto = 'auto/meta/llama';
    expect((await chat(auto)).json.error.code).toBe('routing_policy_exhausted');
    await bring({ use: 'first', agreement: { retention_days: 0, reference: 'ours' } });
    bench.upstream.enqueue(json(completion()));
    const reply = await chat(auto);
    expect(reply.status, reply.text).toBe(200);
    expect(sentKeys()).toEqual([own]);
    const listed = await bench.gateway.call('GET', `/v1/models/${keyed}`, undefined, { key: rig.customer.key });
    expect(listed.json.data_policy).toEqual({ retention_days: 0, basis: 'own_agreement' });
    const explained = await bench.gateway.call('POST', '/v1/routes/explain', ask({ model: auto }), {
      key: rig.customer.key,
    });
    expect(explained.json.would_serve).toBe(keyed);
  });
});

describe('a walk that runs out of time', () => {
  const hasty = useCustomer({ timeouts: { overall: '500ms' } });

  it('does not count a credential that waits among the candidates that remain', async () => {
    const withKey = async (provider: string) => (await hasty.bring({ provider })).json.id as string;
    await Promise.all([withKey('keyed'), withKey('keyless')]);
    hasty.bench.upstream.enqueue(refused(401));
    expect((await hasty.chat(keyed)).status).toBe(503);
    hasty.bench.upstream.enqueue(hang());
    const reply = await hasty.chat('auto/meta/llama', {
      provider: { only: ['keyless', 'keyed'], order: ['keyless', 'keyed'] },
    });
    expect([reply.status, reply.json.error.providers_attempted], reply.text).toEqual([504, ['keyless']]);
    expect(reply.json.error.candidates_remaining).toBe(0);
  });
});
