import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { useGateway } from '../harness.js';

const bench = useGateway();

describe('GET /admin/v1/audit', () => {
  it('says who did what, newest first, without a secret', async () => {
    const { gateway } = bench;
    const { accountId, key, keyId } = await gateway.createAccount();
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'active' });
    await gateway.call('POST', '/v1/aliases', { name: 'a', target: 'acme/meta/llama/defra' }, { key });
    await gateway.admin('PUT', '/models/meta/llama/availability', { state: 'available' });
    await gateway.admin('POST', '/catalogue/reload');
    await gateway.admin('DELETE', `/accounts/${accountId}/keys/${keyId}`);
    const { json, text } = await gateway.admin('GET', '/audit');
    expect(json.object).toBe('list');
    const entries = json.data as Json[];
    for (const entry of entries) {
      expect(entry).toMatchObject({
        id: expect.any(String),
        created_at: expect.stringMatching(/Z$/),
        actor: expect.any(String),
        action: expect.any(String),
      });
    }
    const times = entries.map(({ created_at }) => Date.parse(created_at as string));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const actions = entries.map(({ action }) => action as string);
    expect(actions.slice(0, 8)).toEqual([
      'key.delete',
      'catalogue.reload',
      'model.availability',
      'alias.create',
      'account.update',
      'account.update',
      'key.create',
      'credits.post',
    ]);
    expect(entries.find(({ action }) => action === 'alias.create')!.actor).toBe(`account:${accountId}`);
    expect(entries[0]).toMatchObject({ actor: 'operator' });
    expect(text).not.toContain(key.slice(16));
    expect(text).not.toContain('test-admin-token');
  });

  it('a call of an operator that was refused leaves no entry', async () => {
    const { gateway } = bench;
    const before = (await gateway.admin('GET', '/audit')).json.data.length;
    await gateway.admin('POST', '/accounts', { email: 'nonsense' });
    await gateway.admin('PUT', '/models/meta/none/availability', { state: 'disabled' });
    expect((await gateway.admin('GET', '/audit')).json.data.length).toBe(before);
  });
});

describe('GET /admin/v1/routes', () => {
  it('lists every route with its state, also those that cannot be served', async () => {
    const { json } = await bench.gateway.admin('GET', '/routes');
    const routes = json.data as Json[];
    expect(json.object).toBe('list');
    expect(routes).toHaveLength(9);
    expect(routes.find(({ id }) => id === 'keyless/meta/llama/defra')).toMatchObject({
      configured: false,
      priced: true,
    });
    expect(routes.find(({ id }) => id === 'acme/meta/unpriced/defra')).toMatchObject({
      configured: true,
      priced: false,
    });
    expect(routes.find(({ id }) => id === 'acme/meta/llama/defra')).toMatchObject({
      default: true,
      breaker: 'closed',
      hold: null,
      model_state: 'available',
    });
  });

  it('404 for lifting a hold of a route that has none, or that there is not', async () => {
    for (const id of ['acme/meta/llama/defra', 'acme/meta/none/defra']) {
      const reply = await bench.gateway.admin('DELETE', `/routes/${id}/hold`);
      expect([reply.status, reply.json.error.code]).toEqual([404, 'not_found']);
    }
  });
});
