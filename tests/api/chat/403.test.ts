import { describe, expect, it } from 'vitest';
import { ask, expectError, expectRefused, useGateway } from '../harness.js';

const bench = useGateway();
const suspended = { status: 403, type: 'permission_error', code: 'account_suspended', says: ['suspended', 'operator'] };

describe('403 account_suspended', () => {
  it('from the suspension to its end, on every endpoint, and no upstream is called', async () => {
    const { gateway, upstream } = bench;
    const account = await gateway.createAccount();
    const setStatus = (status: string) => gateway.admin('PATCH', `/accounts/${account.accountId}`, { status });
    const { key } = account;
    expect((await gateway.chat(ask(), { key })).status).toBe(200);
    expect((await setStatus('suspended')).json.status).toBe('suspended');
    await expectRefused(bench, ask(), suspended, account);
    await expectRefused(bench, ask({ stream: true }), suspended, account);
    for (const path of ['/v1/models', '/v1/aliases', '/v1/generations', '/v1/credits', '/v1/key']) {
      expectError(await gateway.call('GET', path, undefined, { key }), suspended);
    }
    expect(upstream.calls).toHaveLength(1);
    await setStatus('active');
    expect((await gateway.chat(ask(), { key })).status).toBe(200);
  });
});
