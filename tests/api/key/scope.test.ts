import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { broken, type Lane, useRouting } from '../../support/routing.js';
import { expectError } from '../harness.js';

const routing = useRouting();

/** A second key of the lane's account, with these fields. */
async function keyWith(lane: Lane, fields: Json): Promise<{ id: string; token: string }> {
  const path = `/accounts/${lane.account.accountId}/keys`;
  const reply = await routing.gateway.admin('POST', path, { name: 'scoped', ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.json;
}
const chat = (lane: Lane, key: string, more: Json = {}) => routing.gateway.chat(lane.body(more), { key });
const outOfScope = { status: 403, type: 'permission_error', code: 'key_scope', param: 'model' };

describe('allowed_models', () => {
  const entries = (lane: Lane): [string, boolean, boolean][] => [
    [lane.pin('alpha'), true, false],
    [lane.pin('beta'), false, false],
    [lane.pin('alpha').split('/').slice(0, 3).join('/'), true, false],
    [lane.auto, false, true],
    [`meta/${lane.model}`, true, true],
    ['meta/*', true, true],
    ['qwen/*', false, false],
  ];

  it('each form admits what it says: a pin, its alias, an auto/ id, its alias', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const { key } = lane;
    await routing.gateway.call('POST', '/v1/aliases', { name: 'p', target: lane.pin('alpha') }, { key });
    await routing.gateway.call('POST', '/v1/aliases', { name: 'a', target: lane.auto }, { key });
    const { id, token } = await keyWith(lane, { allowed_models: ['x/*'] });
    for (const [entry, admitsPin, admitsAuto] of entries(lane)) {
      const path = `/accounts/${lane.account.accountId}/keys/${id}`;
      expect((await routing.gateway.admin('PATCH', path, { allowed_models: [entry] })).status).toBe(200);
      for (const model of [lane.pin('alpha'), 'alias/p', lane.auto, 'alias/a']) {
        const admits = model === lane.auto || model === 'alias/a' ? admitsAuto : admitsPin;
        const reply = await chat(lane, token, { model });
        if (admits) expect([entry, model, reply.status]).toEqual([entry, model, 200]);
        else expectError(reply, { ...outOfScope, says: [`"${model}"`, 'allowed_models'] });
      }
    }
  });

  it('a refused request calls nobody and is not recorded; the dry run says the same', async () => {
    const lane = await routing.lane(['alpha']);
    const { token } = await keyWith(lane, { allowed_models: ['qwen/*'] });
    expectError(await chat(lane, token), outOfScope);
    expect(routing.called).toEqual([]);
    const { json } = await routing.gateway.call('POST', '/v1/routes/explain', lane.body(), { key: token });
    expect(json.error.error).toMatchObject({ code: 'key_scope', param: 'model' });
    expect(json.candidates).toMatchObject([{ id: lane.pin('alpha'), verdict: 'gated', gate: 'key_scope' }]);
    expect(json.counterfactuals).toEqual([]);
  });
});

describe('allowed_providers', () => {
  it('a pin of another provider is 403 key_scope', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const { token } = await keyWith(lane, { allowed_providers: ['BETA'] });
    expectError(await chat(lane, token, { model: lane.pin('alpha') }), { ...outOfScope, says: ['allowed_providers'] });
    expect((await chat(lane, token, { model: lane.pin('beta') })).status).toBe(200);
  });

  it('an auto/ id has only the candidates that the key leaves; the dry run names the gate', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    const { token } = await keyWith(lane, { allowed_providers: ['beta'] });
    expect((await chat(lane, token)).status).toBe(200);
    expect(routing.called).toEqual(['beta']);
    const { json } = await routing.gateway.call('POST', '/v1/routes/explain', lane.body(), { key: token });
    const gates = json.candidates.map(({ id, gate }: Json) => [String(id).split('/')[0], gate]);
    expect(gates).toEqual([
      ['beta', null],
      ['alpha', 'key_scope'],
      ['gamma', 'key_scope'],
    ]);
  });

  it('403 routing_policy_exhausted with the gate, where the key leaves none', async () => {
    const lane = await routing.lane(['alpha', 'beta'], { policy: { max_carbon: 1 } });
    const { token } = await keyWith(lane, { allowed_providers: ['gamma'] });
    const row = { status: 403, type: 'permission_error', code: 'routing_policy_exhausted', param: 'model' };
    expectError(await chat(lane, token), { ...row, says: ['key_scope removed 2 routes'] });
    expect(routing.called).toEqual([]);
  });

  it('an entry of a chain outside the scope is passed over', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    const { token } = await keyWith(lane, { allowed_models: [lane.pin('alpha'), lane.pin('gamma')] });
    routing.on('alpha', broken);
    const models = [lane.pin('beta'), lane.pin('gamma')];
    const reply = await chat(lane, token, { model: lane.pin('alpha'), fallback: { models } });
    expect(reply.status).toBe(200);
    expect(new Set(routing.called)).toEqual(new Set(['alpha', 'gamma']));
  });
});

describe('kind, disabled and allowed_ips', () => {
  it('a management key calls no model, counts no tokens, and reads the rest', async () => {
    const lane = await routing.lane(['alpha']);
    const { token } = await keyWith(lane, { kind: 'management' });
    expectError(await chat(lane, token), { ...outOfScope, says: ['management key'] });
    const explained = await routing.gateway.call('POST', '/v1/routes/explain', lane.body(), { key: token });
    expect(explained.json.error.error).toMatchObject({ code: 'key_scope', param: 'model' });
    const counted = await routing.gateway.call('POST', '/v1/messages/count_tokens', lane.body(), { key: token });
    expect([counted.status, counted.json.error.type]).toEqual([403, 'permission_error']);
    // A malformed body and an unknown model come first.
    expect((await routing.gateway.chat('{', { key: token })).status).toBe(400);
    expect((await routing.gateway.chat(lane.body({ model: 'alpha/meta/nothing' }), { key: token })).status).toBe(404);
    expect((await routing.gateway.call('GET', '/v1/models', undefined, { key: token })).status).toBe(200);
    expect((await routing.gateway.call('GET', '/v1/credits', undefined, { key: token })).status).toBe(200);
  });

  it('a disabled key is 401 at its next request, everywhere; a wrong secret learns nothing; enabled it works again', async () => {
    const lane = await routing.lane(['alpha']);
    const { id, token } = await keyWith(lane, {});
    const path = `/accounts/${lane.account.accountId}/keys/${id}`;
    expect((await chat(lane, token)).status).toBe(200);
    expect((await routing.gateway.admin('PATCH', path, { disabled: true })).json.state).toBe('disabled');
    const row = { status: 401, type: 'authentication_error', code: 'api_key_disabled', says: ['disabled'] };
    expectError(await chat(lane, token), row);
    expectError(await routing.gateway.call('GET', '/v1/key', undefined, { key: token }), row);
    const forged = `${token.slice(0, 16)}${'A'.repeat(33)}`;
    expectError(await chat(lane, forged), { ...row, code: 'api_key_not_registered', says: [] });
    await routing.gateway.admin('PATCH', path, { disabled: false });
    expect((await chat(lane, token)).status).toBe(200);
  });

  it('an address outside allowed_ips is 403 without param for every call, and counts against no limit', async () => {
    const lane = await routing.lane(['alpha']);
    const { id, token } = await keyWith(lane, { allowed_ips: ['10.0.0.0/8'], requests_per_minute: 2 });
    const row = { status: 403, type: 'permission_error', code: 'key_scope', says: [/127\.0\.0\.1|::1/] };
    for (let i = 0; i < 3; i++) {
      expectError(await chat(lane, token), row);
      expectError(await routing.gateway.call('GET', '/v1/models', undefined, { key: token }), row);
    }
    const path = `/accounts/${lane.account.accountId}/keys/${id}`;
    const allowed = { allowed_ips: ['127.0.0.0/8', '::1'] };
    expect((await routing.gateway.admin('PATCH', path, allowed)).json.allowed_ips).toEqual(['127.0.0.0/8', '::1/128']);
    const reply = await chat(lane, token);
    expect([reply.status, reply.headers['x-ratelimit-limit-requests']]).toEqual([200, '2']);
    expect(reply.headers['x-ratelimit-remaining-requests']).toBe('1');
  });
});

describe('limits of its own', () => {
  it('hold for the key alone, in headers and GET /v1/key, and never above the account’s', async () => {
    const lane = await routing.lane(['alpha']);
    const { token } = await keyWith(lane, { requests_per_minute: 2, tokens_per_minute: 5000 });
    const about = await routing.gateway.call('GET', '/v1/key', undefined, { key: token });
    expect(about.json.data.rate_limit).toEqual({ requests_per_minute: 2, tokens_per_minute: 5000 });
    expect((await chat(lane, token)).headers['x-ratelimit-limit-tokens']).toBe('5000');
    expect((await chat(lane, token)).status).toBe(429);
    expect((await chat(lane, lane.key)).status).toBe(200);
    const { accountId } = lane.account;
    await routing.gateway.admin('PATCH', `/accounts/${accountId}`, { limits: { tokens_per_minute: 4000 } });
    const again = await routing.gateway.call('GET', '/v1/key', undefined, { key: token });
    expect(again.headers['x-ratelimit-limit-tokens']).toBe('4000');
  });
});
