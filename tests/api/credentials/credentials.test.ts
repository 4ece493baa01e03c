/** `/v1/credentials`, and chats that customers' own credentials at providers serve. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json } from '../../support/scripted-upstream.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { ask, expectError, useGateway } from '../harness.js';
import { managerOf } from '../projects/manager.js';

const bench = useGateway({
  env: { KEYED_API_KEY: 'the-key-of-the-operator' },
  config: {
    secrets: { key_file: makeSecretsKey() },
    own_keys: { fee_percent: '10', fee_per_request_usd: '0.001' },
    limits: { key_requests_per_minute: 10_000 },
  },
});

const own = 'own-key-of-a-customer-0123456789';
const keyed = 'keyed/meta/llama/defra';
const keyless = 'keyless/meta/llama/defra';

type Customer = Awaited<ReturnType<typeof managerOf>>;
let customer: Customer;
beforeEach(async () => {
  customer = await managerOf(bench);
});

async function bring(fields: Json = {}) {
  const body = { provider: 'keyed', name: 'our key', secret: { api_key: own }, ...fields };
  return customer.call('POST', '/credentials', body);
}

const chat = (model: string, more: Json = {}) => bench.gateway.chat(ask({ model, ...more }), { key: customer.key });
const sentKeys = () => bench.upstream.calls.map(({ headers }) => String(headers.authorization).replace('Bearer ', ''));
const refused = (status: number, more: Json = {}) => json({ error: { message: `no ${own}`, ...more } }, { status });

describe('/v1/credentials', () => {
  it('201 without the secret, GET, PATCH and DELETE', async () => {
    const made = await bring();
    expect(made.status, made.text).toBe(201);
    expect(made.json).toEqual({
      ...{ object: 'credential', id: expect.stringMatching(/^cred-/), provider: 'keyed', name: 'our key' },
      ...{
        project: null,
        use: 'only',
        models: null,
        agreement: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      },
      state: { status: 'unchecked', reason: null, since: expect.any(String) },
      ...{ created_at: expect.any(String), last_used_at: null },
    });
    const path = `/credentials/${made.json.id}`;
    expect((await customer.call('GET', path)).json).toEqual(made.json);
    const changed = await customer.call('PATCH', path, {
      use: 'first',
      name: 'other',
      secret: { api_key: 'another-key' },
    });
    expect(changed.json).toMatchObject({ use: 'first', name: 'other', state: { status: 'unchecked' } });
    expect(changed.json.fingerprint).not.toBe(made.json.fingerprint);
    const listed = await bench.gateway.admin('GET', `/accounts/${customer.accountId}/credentials`);
    expect(listed.json.data).toEqual([changed.json]);
    expect((await customer.call('DELETE', path)).status).toBe(204);
    expect((await customer.call('GET', path)).status).toBe(404);
  });

  it.each([
    ['secret.api_key', { secret: { api_key: 'two\nlines' } }],
    ['secret.api_key', { secret: {} }],
    ['secret.resource', { secret: { api_key: 'x', resource: 'y' } }],
    ['provider', { provider: 'acme' }],
    ['provider', { provider: 'nobody' }],
    ['models[1]', { models: ['meta/llama', 'x'] }],
    ['use', { use: 'always' }],
    ['name', { name: '' }],
    ['project', { project: 'proj-unknown' }],
    ['agreement.trains', { agreement: { trains: 'maybe' } }],
    ['color', { color: 'red' }],
  ])('422 with param %s, 400 for operators, and no secret in the message', async (param, fields) => {
    const reply = await bring(fields);
    expectError(reply, { status: 422, type: 'invalid_request_error', code: 'invalid_request_error', param });
    expect(reply.text).not.toContain('two');
    const body = { provider: 'keyed', name: 'our key', secret: { api_key: own }, ...fields };
    const byOperator = await bench.gateway.admin('POST', `/accounts/${customer.accountId}/credentials`, body);
    expect([byOperator.status, byOperator.json.error.param]).toEqual([400, param]);
  });

  it('409 for a second one of a provider and scope with a common model, and 422 for the 51st', async () => {
    expect((await bring()).status).toBe(201);
    expect((await bring()).json.error).toMatchObject({ code: 'credential_exists' });
    expect((await bring({ models: ['meta/llama'] })).status).toBe(201);
    expect((await bring({ models: ['meta/*'] })).status).toBe(409);
    for (let n = 0; n < 48; n++) expect((await bring({ models: [`other/m${n}`] })).status).toBe(201);
    expectError(await bring({ models: ['other/one-more'] }), {
      ...{ status: 422, type: 'invalid_request_error', code: 'credential_limit_reached', param: 'provider' },
    });
  });

  it('POST check makes one call with it', async () => {
    const { json: made } = await bring();
    bench.upstream.enqueue(json(completion()));
    const checked = await customer.call('POST', `/credentials/${made.id}/check`);
    expect(checked.json, checked.text).toMatchObject({ state: { status: 'ok' }, check: { verdict: 'ok' } });
    expect(sentKeys()).toEqual([own]);
    bench.upstream.enqueue(refused(401));
    const failing = await customer.call('POST', `/credentials/${made.id}/check`);
    expect(failing.json).toMatchObject({ state: { status: 'failing' }, check: { verdict: 'credential_refused' } });
    expect(failing.text).not.toContain(own);
  });
});

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
      key: customer.key,
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
      `/export/generations?format=ndjson&account=${customer.accountId}`,
    );
    const row = JSON.parse(exported.text.trim());
    expect([row.cost_usd, JSON.parse(row.cost_details), JSON.parse(row.notional_cost_details)]).toEqual([
      ...['0.00100078', { fee: '0.00100078' }, { input: '0.0000054', output: '0.0000024' }],
    ]);
    const [entry] = await bench.gateway.ledger(customer.accountId);
    expect(entry).toMatchObject({ amount_usd: '-0.00100078', generation_id: reply.json.id });
    const stored = await customer.call('GET', `/credentials/${made.id}`);
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
    const listed = await bench.gateway.call('GET', '/v1/models', undefined, { key: customer.key });
    expect(listed.json.data.map(({ id }: { id: string }) => id)).toContain(keyless);
    const others = await bench.gateway.call('GET', '/v1/models');
    expect(others.json.data.map(({ id }: { id: string }) => id)).not.toContain(keyless);
  });

  it('serves entries of a fallback chain that the operator has not configured, for itself alone', async () => {
    const fallback = { models: [keyless] };
    const sent = (key = customer.key) => bench.gateway.chat(ask({ fallback }), { key });
    const save = () => bench.gateway.call('PUT', '/v1/fallback', { fallback }, { key: customer.key });
    expect((await sent()).json.error.code).toBe('invalid_fallback_model');
    expect((await save()).json.error.code).toBe('invalid_fallback_model');
    const project = (await customer.call('POST', '/projects', { name: 'search' })).json.id;
    const { json: made } = await bring({ provider: 'keyless', project });
    const key = (await customer.call('POST', `/projects/${project}/keys`, { name: 'k' })).json.token;
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
    await customer.call('POST', `/credentials/${made.id}/check`);
    expect((await auto()).status).toBe(200);
    bench.upstream.enqueue(refused(403));
    await customer.call('POST', `/credentials/${made.id}/check`);
    expect((await auto()).status).toBe(503);
    expect(sentKeys()).toHaveLength(4);
  });

  it.each([
    ['401', refused(401), 'failing', 'skipped'],
    ['403', refused(403), 'failing', 'skipped'],
    ['402', refused(402), 'unchecked', 'tried'],
    ['407, which is a proxy’s', refused(407), 'unchecked', 'tried'],
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
    expect((await customer.call('GET', `/credentials/${made.id}`)).json.state.status).toBe(status);
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
    const project = (await customer.call('POST', '/projects', { name: 'search' })).json.id;
    const { json: made } = await bring({ project, secret: { api_key: 'key-of-the-project' } });
    await bring({ use: 'first' });
    const key = (await customer.call('POST', `/projects/${project}/keys`, { name: 'k' })).json.token;
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
    await customer.call('DELETE', `/credentials/${made.id}`);
    bench.upstream.enqueue(json(completion()));
    await chat(keyed);
    expect(sentKeys()).toEqual(['the-key-of-the-operator']);
  });
});

describe('the routing policy', () => {
  it('is judged for each candidate: an own agreement counts for the own credential alone', async () => {
    const policy = { max_retention_days: 0 };
    expect((await customer.call('PUT', '/routing-policy', policy)).status).toBe(200);
    const auto = 'auto/meta/llama';
    expect((await chat(auto)).json.error.code).toBe('routing_policy_exhausted');
    await bring({ use: 'first', agreement: { retention_days: 0, reference: 'ours' } });
    bench.upstream.enqueue(json(completion()));
    const reply = await chat(auto);
    expect(reply.status, reply.text).toBe(200);
    expect(sentKeys()).toEqual([own]);
    const listed = await bench.gateway.call('GET', `/v1/models/${keyed}`, undefined, { key: customer.key });
    expect(listed.json.data_policy).toEqual({ retention_days: 0, basis: 'own_agreement' });
    const explained = await bench.gateway.call('POST', '/v1/routes/explain', ask({ model: auto }), {
      key: customer.key,
    });
    expect(explained.json.would_serve).toBe(keyed);
  });
});
