import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { defaultPolicy } from '../../policy/policy.js';

let fixture: HttpFixture;
beforeEach(async () => {
  fixture = await httpFixture();
});

const call = (method: 'GET' | 'PUT' | 'DELETE', payload?: object) =>
  fixture.app.inject({ method, url: '/v1/routing-policy', headers: fixture.asKey, ...(payload && { payload }) });

const defaults = { object: 'routing_policy', ...defaultPolicy };

describe('/v1/routing-policy', () => {
  it('gives the defaults before anything was set', async () => {
    const answer = await call('GET');
    expect([answer.statusCode, answer.json()]).toEqual([200, defaults]);
  });

  it('PUT replaces all of it, in the store, in memory and in the next answer', async () => {
    await call('PUT', { max_carbon: 100, deny_cloud_act: true });
    const answer = await call('PUT', { max_price: 0.29, regions: { allow: ['de'] } });
    const policy = { ...defaultPolicy, max_price: 0.29, regions: { allow: ['DE'], deny: [] } };
    expect([answer.statusCode, answer.json()]).toEqual([200, { object: 'routing_policy', ...policy }]);
    expect((await call('GET')).json()).toEqual(answer.json());
    expect(fixture.account.policy).toEqual(policy);
    expect(fixture.store.accountRows.get(fixture.account.id)?.policy).toEqual(policy);
  });

  it('gives requests under way the policy that they began with: it is replaced, never changed', async () => {
    await call('PUT', { max_carbon: 100 });
    const before = fixture.account.policy;
    await call('PUT', { max_carbon: 200 });
    expect([before.max_carbon, fixture.account.policy.max_carbon]).toEqual([100, 200]);
  });

  it('DELETE goes back to the defaults, also when there is nothing to delete', async () => {
    await call('PUT', { max_carbon: 100 });
    for (let i = 0; i < 2; i++) {
      const answer = await call('DELETE');
      expect([answer.statusCode, answer.body]).toEqual([204, '']);
      expect((await call('GET')).json()).toEqual(defaults);
      expect(fixture.account.policy).toBe(defaultPolicy);
    }
  });

  it('is in the audit', async () => {
    await call('PUT', { prefer: 'price' });
    await call('DELETE');
    const entries = fixture.store.auditRows.slice(-2);
    const actor = `account:${fixture.account.id}`;
    expect(entries).toMatchObject([
      { actor, action: 'policy.set', subject: fixture.account.id, details: { prefer: 'price' } },
      { actor, action: 'policy.delete', subject: fixture.account.id },
    ]);
  });

  it('400 leaves the policy as it was', async () => {
    await call('PUT', { max_carbon: 100 });
    const answer = await call('PUT', { max_carbon: -1 });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'invalid_request_error', param: 'max_carbon' });
    expect((await call('GET')).json().max_carbon).toBe(100);
  });

  it.each(['PUT', 'DELETE'] as const)(
    '500 on %s when the store is away, and memory keeps the old one',
    async (method) => {
      await call('PUT', { max_carbon: 100 });
      fixture.store.away = true;
      const answer = await call(method, method === 'PUT' ? { max_carbon: 5 } : undefined);
      expect(answer.statusCode).toBe(500);
      expect(fixture.account.policy.max_carbon).toBe(100);
    },
  );
});
