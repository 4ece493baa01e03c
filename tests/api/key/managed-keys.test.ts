import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { unrestricted } from '../../support/key-terms.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway();

/** An account with a management key. */
async function manager() {
  const account = await bench.gateway.createAccount();
  const made = await bench.gateway.admin('POST', `/accounts/${account.accountId}/keys`, {
    ...{ name: 'manager', kind: 'management', expires: 'never' },
  });
  const { token: key, id } = made.json;
  const call = (method: string, path = '', body?: unknown) =>
    bench.gateway.call(method, `/v1/keys${path}`, body, { key });
  return { ...account, call, managerId: id as string };
}
const invalid = (param: string) => ({
  ...{ status: 422, type: 'invalid_request_error', code: 'invalid_request_error', param },
});

describe('/v1/keys', () => {
  it('201 with the token, then get, list, change and delete', async () => {
    const { call, key, managerId } = await manager();
    const fields = {
      ...{ limit_usd: '10.50', limit_reset: 'weekly', disabled: false, requests_per_minute: 5, tokens_per_minute: 900 },
      ...{ allowed_models: ['acme/meta/llama/DEFRA', 'meta/*'], allowed_providers: ['Acme'] },
      allowed_ips: ['127.0.0.1', '::1/128', '127.0.0.1/32'],
    };
    const made = await call('POST', '', { name: 'team', ...fields });
    expect(made.status, made.text).toBe(201);
    const { token, ...shown } = made.json;
    expect(token).toMatch(/^sk-lr-[A-Za-z0-9_-]{43}$/);
    expect(shown).toMatchObject({
      ...{ ...unrestricted, ...fields, name: 'team', state: 'active', limit_usd: '10.5', limit_remaining_usd: '10.5' },
      ...{ allowed_models: ['acme/meta/llama/defra', 'meta/*'], allowed_providers: ['acme'] },
      allowed_ips: ['127.0.0.1/32', '::1/128'],
    });
    expect((await call('GET', `/${shown.id}`)).json).toEqual(shown);
    const list = (await call('GET')).json;
    expect(list.data.map(({ id }: Json) => id).sort()).toEqual([key.slice(6, 16), managerId, shown.id].sort());
    expect(list.data).toContainEqual(shown);
    expect(JSON.stringify(list)).not.toContain(token.slice(16));
    const changed = await call('PATCH', `/${shown.id}`, { name: 'team b', limit_usd: null, allowed_models: null });
    expect(changed.json).toEqual({
      ...{ ...shown, name: 'team b', limit_usd: null, limit_remaining_usd: null, allowed_models: null },
    });
    expect((await call('DELETE', `/${shown.id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await call(method, `/${shown.id}`)).status).toBe(404);
    expectError(await call('PATCH', `/${shown.id}`, {}), { status: 404, type: 'not_found', code: 'not_found' });
  });

  it('403 management_key_required for an ordinary key, before its body is looked at', async () => {
    const { key } = await bench.gateway.createAccount();
    const row = { status: 403, type: 'permission_error', code: 'management_key_required', says: ['management'] };
    for (const [method, path] of [
      ...[
        ['GET', ''],
        ['POST', ''],
        ['GET', '/x'],
        ['PATCH', '/x'],
        ['DELETE', '/x'],
      ],
    ] as [string, string][]) {
      const body = method === 'POST' || method === 'PATCH' ? {} : undefined;
      expectError(await bench.gateway.call(method, `/v1/keys${path}`, body, { key }), row);
    }
  });

  it('a key of another account does not exist', async () => {
    const { call } = await manager();
    const other = await bench.gateway.createAccount();
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const reply = await call(method, `/${other.keyId}`, method === 'PATCH' ? { disabled: true } : undefined);
      expect([method, reply.status]).toEqual([method, 404]);
    }
    expect((await bench.gateway.chat(ask(), { key: other.key })).status).toBe(200);
  });

  it.each<[string, unknown]>([
    ['name', ''],
    ['expires', '13mo'],
    ['kind', 'admin'],
    ['disabled', 'yes'],
    ['limit_usd', '-1'],
    ['limit_usd', 5],
    ['limit_usd', '1e3'],
    ['limit_usd', '0.0000000000001'],
    ['limit_reset', 'yearly'],
    ['allowed_models', []],
    ['allowed_models', 'meta/*'],
    ['allowed_models', ['llama']],
    ['allowed_models', ['alias/fast']],
    ['allowed_models', ['auto/meta']],
    ['allowed_models', ['auto/*']],
    ['allowed_models', ['auto/meta/*']],
    ['allowed_models', ['auto/meta/llama/defra']],
    ['allowed_models', ['meta/*', 'a/b/c/d/e']],
    ['allowed_providers', ['not a provider']],
    ['allowed_ips', ['10.0.0.0/33']],
    ['allowed_ips', ['example.com']],
    ['requests_per_minute', 0],
    ['requests_per_minute', 1.5],
    ['tokens_per_minute', 2_000_000_000],
    ['colour', 'red'],
  ])('422 with param %s for %j', async (param, value) => {
    const { call } = await manager();
    const reply = await call('POST', '', { name: 'k', [param]: value });
    expectError(reply, invalid(param));
  });

  it('names the entry of a list that is wrong', async () => {
    const { call } = await manager();
    for (const id of ['llama', 'alias/fast']) {
      const reply = await call('POST', '', { name: 'k', allowed_models: ['meta/*', id] });
      expectError(reply, { ...invalid('allowed_models'), says: [`\`allowed_models[1]\` is "${id}"`] });
    }
  });

  it('422 for a limit above the account’s, at creation and by PATCH, also in the admin API; kind cannot be changed', async () => {
    const { call, accountId, managerId } = await manager();
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { limits: { requests_per_minute: 70 } });
    for (const reply of [
      await call('POST', '', { name: 'k', requests_per_minute: 71 }),
      await call('PATCH', `/${managerId}`, { requests_per_minute: 71 }),
      await bench.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k', requests_per_minute: 71 }),
      await bench.gateway.admin('PATCH', `/accounts/${accountId}/keys/${managerId}`, { requests_per_minute: 71 }),
    ]) {
      expectError(reply, { ...invalid('requests_per_minute'), says: ['71', '70'] });
    }
    expectError(await call('PATCH', `/${managerId}`, { kind: 'inference' }), invalid('kind'));
  });

  it('parallel changes of different fields are all kept', async () => {
    const { call, keyId } = await manager();
    const changes = [{ name: 'n' }, { limit_usd: '1' }, { limit_reset: 'daily' }, { allowed_models: ['meta/*'] }];
    await Promise.all(changes.map((change) => call('PATCH', `/${keyId}`, change)));
    expect((await call('GET', `/${keyId}`)).json).toMatchObject(Object.assign({}, ...changes));
  });
});

describe('usage_usd, limit_remaining_usd and last_used_at', () => {
  it('are the key’s own, exact, and there at once; what is left is never below zero', async () => {
    const { call, key, keyId } = await manager();
    const before = Date.now();
    bench.upstream.reply(json(completion({ usage: usage(10, 10) })));
    expect((await bench.gateway.chat(ask(), { key })).status).toBe(200);
    await call('PATCH', `/${keyId}`, { limit_usd: '0.000020', limit_reset: 'monthly' });
    const shown = (await call('GET', `/${keyId}`)).json;
    expect(shown).toMatchObject({ usage_usd: '0.000014', limit_remaining_usd: '0.000006' });
    expect(Date.parse(shown.last_used_at)).toBeGreaterThanOrEqual(before);
    const lowered = (await call('PATCH', `/${keyId}`, { limit_usd: '0', limit_reset: 'never' })).json;
    expect(lowered).toMatchObject({ usage_usd: '0.000014', limit_usd: '0', limit_remaining_usd: '0' });
  });
});

it('changes are in the audit log, as the operator or the account made them', async () => {
  const { call, accountId, keyId } = await manager();
  await call('PATCH', `/${keyId}`, { limit_usd: '2.50', disabled: true });
  await bench.gateway.admin('PATCH', `/accounts/${accountId}/keys/${keyId}`, { name: 'b' });
  const { data } = (await bench.gateway.admin('GET', '/audit')).json;
  const updates = data.filter(({ action, subject }: Json) => action === 'key.update' && subject === keyId);
  expect(updates).toMatchObject([
    { actor: 'operator', details: { account_id: accountId, name: 'b' } },
    { actor: `account:${accountId}`, details: { account_id: accountId, limit_usd: '2.5', disabled: true } },
  ]);
});
