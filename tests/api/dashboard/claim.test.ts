import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';

/** The last link that was printed. */
const linkIn = (text: string) => [...text.matchAll(/http\S+\/dashboard\/claim#([\w-]{43})/g)].at(-1)?.[1];

describe('the demo account of a first start', () => {
  let gateway: TestGateway;
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  beforeAll(async () => {
    gateway = await startGateway({ embedded: true, config: { demo: true }, print });
  }, 180_000);
  afterAll(() => gateway?.stop());

  const newLink = (earlier?: string): string => {
    expect([undefined, earlier]).not.toContain(linkIn(printed));
    return linkIn(printed)!;
  };
  const claimWith = (token: string, client = new DashboardClient(gateway.url)) =>
    client.call('POST', 'claim', { token });

  it('is claimed with the printed link, once; a restart prints a new one, and ends the earlier, until there is a password', async () => {
    const unused = newLink();
    await gateway.restart();
    const token = newLink(unused);
    expect((await claimWith(unused)).status, 'the link of an earlier start').toBe(401);
    const client = new DashboardClient(gateway.url);
    const claimed = await claimWith(token, client);
    expect(claimed.json).toMatchObject({ demo: true, operator: true, has_password: false, registration: 'open' });
    expect(Number(claimed.json.account.balance_usd)).toBeGreaterThan(0);
    expect((await client.call('GET', 'keys')).json.data).toHaveLength(1);
    expect((await client.call('GET', 'operator/accounts')).status).toBe(200);
    expect((await claimWith(token)).status, 'the same link').toBe(401);

    await gateway.restart();
    const again = new DashboardClient(gateway.url);
    expect((await claimWith(newLink(token), again)).status).toBe(200);
    const changed = await again.call('POST', 'change-password', { new_password: 'my own now' });
    expect(changed.json).toMatchObject({ has_password: true, operator: true });

    const before = printed.length;
    await gateway.restart();
    const signIn = { email: claimed.json.account.email, password: 'my own now' };
    expect((await new DashboardClient(gateway.url).call('POST', 'sign-in', signIn)).status).toBe(200);
    expect(linkIn(printed.slice(before))).toBeUndefined();
  }, 180_000);
});
