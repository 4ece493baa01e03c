import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { expectError } from '../harness.js';

const clock = new ManualClock();
const warnings: Record<string, unknown>[] = [];
const logger = { ...silentLogger, warn: (fields: Record<string, unknown>) => void warnings.push(fields) } as never;

/** Each test calls from an address of its own, which the trusted proxy on this host names. */
let gateway: TestGateway;
let host = 0;
beforeAll(async () => {
  gateway = await startGateway({ clock, logger, config: { server: { trusted_proxies: ['127.0.0.0/8'] } } });
});
afterAll(() => gateway?.stop());

const newAddress = () => `203.0.113.${++host}`;
const call = (path: string, token: string, address: string) =>
  gateway.call('GET', path, undefined, { key: token, headers: { 'x-forwarded-for': address } });
const repeat = async (times: number, path: string, token: string, address: string) => {
  const replies = await Promise.all(Array.from({ length: times }, () => call(path, token, address)));
  return replies.map(({ status }) => status);
};
const wrongToken = 'a-wrong-admin-token-of-no-value';
const limited = { status: 429, type: 'invalid_request_error', code: 'rate_limit_exceeded', retryAfter: '60' };

describe('failed admin authentications', () => {
  it.each(['/admin/v1/accounts', '/metrics'])('the 21st in a minute from one address gets 429 at %s', async (path) => {
    const address = newAddress();
    expect(await repeat(20, path, wrongToken, address)).toEqual(Array(20).fill(401));
    expectError(await call(path, wrongToken, address), limited);
    expectError(await call(path, adminToken, address), limited);
    expect((await call(path, adminToken, newAddress())).status, 'from another address').toBe(200);
    clock.advance(60_000);
    expect((await call(path, adminToken, address)).status, 'a minute later').toBe(200);
  });

  it('do not lock out an address that has sent the right token before', async () => {
    const address = newAddress();
    expect((await call('/admin/v1/accounts', adminToken, address)).status).toBe(200);
    await repeat(21, '/admin/v1/accounts', wrongToken, address);
    expectError(await call('/metrics', wrongToken, address), limited);
    expect((await call('/admin/v1/accounts', adminToken, address)).status).toBe(200);
  });

  it('are no failures where no token was sent', async () => {
    const address = newAddress();
    const replies = await Promise.all(
      Array.from({ length: 25 }, () =>
        gateway.call('GET', '/admin/v1/accounts', undefined, { key: null, headers: { 'x-forwarded-for': address } }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(25).fill(401));
  });

  it('count together, whatever the path, also when they arrive at the same time', async () => {
    const address = newAddress();
    const statuses = (
      await Promise.all(
        ['/metrics', '/admin/v1/accounts', '/admin/v1/nothing', '/admin/v1/audit'].map((path) =>
          repeat(10, path, wrongToken, address),
        ),
      )
    ).flat();
    expect(statuses.filter((status) => status === 401 || status === 404)).toHaveLength(30);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  it('a right token takes nothing of the limit', async () => {
    const address = newAddress();
    expect(await repeat(30, '/admin/v1/routes', adminToken, address)).toEqual(Array(30).fill(200));
    expect(await repeat(20, '/admin/v1/routes', wrongToken, address)).toEqual(Array(20).fill(401));
  });

  it('are logged and audited with the address and the path, and never with the token', async () => {
    const address = newAddress();
    warnings.length = 0;
    await call('/metrics', wrongToken, address);
    await call('/admin/v1/accounts?limit=1', wrongToken, address);
    expect(warnings).toEqual([
      expect.objectContaining({ address, path: '/metrics' }),
      expect.objectContaining({ address, path: '/admin/v1/accounts' }),
    ]);
    const audited = async () => {
      const { data } = (await gateway.admin('GET', '/audit?limit=1000')).json;
      return data.filter(({ subject }: { subject: string }) => subject === address);
    };
    await expect.poll(async () => (await audited()).length).toBe(2);
    for (const entry of await audited()) expect(entry).toMatchObject({ actor: 'anonymous', action: 'admin.refused' });
    expect(JSON.stringify([warnings, (await gateway.admin('GET', '/audit')).json])).not.toContain(wrongToken);
  });
});
