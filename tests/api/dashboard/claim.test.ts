import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { type SpawnedGateway, spawnGateway } from '../../support/gateway.js';

/** The last link that was printed. */
const linkIn = (text: string) => [...text.matchAll(/http\S+\/dashboard\/claim#([\w-]{43})/g)].at(-1)?.[1];

describe('the demo account of a first start', () => {
  let gateway: SpawnedGateway;
  beforeAll(async () => {
    gateway = await spawnGateway({ config: { demo: true } });
    await vi.waitUntil(() => linkIn(gateway.output.stdout), { timeout: 10_000 });
  }, 60_000);
  afterAll(() => gateway?.stop());

  it('is claimed with the printed link, once; a restart prints a new one until there is a password', async () => {
    const client = new DashboardClient(gateway.url);
    const token = linkIn(gateway.output.stdout)!;
    const claimed = await client.call('POST', 'claim', { token });
    expect(claimed.json).toMatchObject({ demo: true, operator: true, has_password: false, registration: 'open' });
    expect(Number(claimed.json.account.balance_usd)).toBeGreaterThan(0);
    expect((await client.call('GET', 'keys')).json.data).toHaveLength(1);
    expect((await client.call('GET', 'operator/accounts')).status).toBe(200);
    expect((await new DashboardClient(gateway.url).call('POST', 'claim', { token })).status).toBe(401);

    await gateway.restart();
    await vi.waitUntil(() => linkIn(gateway.output.stdout) !== token, { timeout: 10_000 });
    const again = new DashboardClient(gateway.url);
    expect((await again.call('POST', 'claim', { token: linkIn(gateway.output.stdout) })).status).toBe(200);
    const changed = await again.call('POST', 'change-password', { new_password: 'my own now' });
    expect(changed.json).toMatchObject({ has_password: true, operator: true });

    const printed = gateway.output.stdout.length;
    await gateway.restart();
    const signIn = { email: claimed.json.account.email, password: 'my own now' };
    expect((await new DashboardClient(gateway.url).call('POST', 'sign-in', signIn)).status).toBe(200);
    expect(linkIn(gateway.output.stdout.slice(printed))).toBeUndefined();
  }, 90_000);
});

describe('a start', () => {
  it('ends the links of earlier starts', async () => {
    const gateway = await spawnGateway({ config: { demo: true } });
    try {
      const newLink = async (earlier?: string) => {
        await vi.waitUntil(() => ![undefined, earlier].includes(linkIn(gateway.output.stdout)), { timeout: 10_000 });
        return linkIn(gateway.output.stdout)!;
      };
      const first = await newLink();
      await gateway.restart();
      const second = await newLink(first);
      const claimWith = (token: string) => new DashboardClient(gateway.url).call('POST', 'claim', { token });
      expect((await claimWith(first)).status).toBe(401);
      expect((await claimWith(second)).status).toBe(200);
    } finally {
      await gateway.stop();
    }
  }, 60_000);

  it('ends an unused link when the account gets a password in another way', async () => {
    const gateway = await spawnGateway({ config: { demo: true } });
    try {
      await vi.waitUntil(() => linkIn(gateway.output.stdout), { timeout: 10_000 });
      const token = linkIn(gateway.output.stdout)!;
      const [demo] = (await gateway.admin('GET', '/accounts')).json.data;
      await gateway.admin('PUT', `/accounts/${demo.id}/password`, { password: 'set by an operator' });
      expect((await new DashboardClient(gateway.url).call('POST', 'claim', { token })).status).toBe(401);
    } finally {
      await gateway.stop();
    }
  }, 60_000);
});
