/** An account's life in a real browser: from sign-up to the first bill, an alias, and a key that is deleted. */
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, newEmail, password, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import type { Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let visitor: Visitor;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

afterEach(async () => {
  expect(visitor.problems).toEqual([]);
  await visitor.close();
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

const follow = (name: string) => visitor.page.getByRole('link', { name, exact: true }).click();

/** Opens a page by its link in the menu. Until it is there the page before it still is, with buttons of the same name. */
async function open(name: string): Promise<void> {
  await follow(name);
  await visitor.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

const press = (name: string) => visitor.page.getByRole('button', { name, exact: true }).click();

async function createKey(name: string, expiry: string): Promise<string> {
  await open('Keys');
  await press('Create key');
  await visitor.page.getByLabel('Name').fill(name);
  await visitor.page.getByLabel('Expiry').selectOption(expiry);
  await press('Create');
  const token = await visitor.page.getByTestId('new-token').textContent();
  await press('Copy API key');
  expect(await visitor.page.evaluate('navigator.clipboard.readText()')).toBe(token);
  await press('Done');
  return token!;
}

async function giveCredit(email: string): Promise<void> {
  const { data } = (await gateway.admin('GET', '/accounts')).json as { data: { id: string; email: string }[] };
  const account = data.find((one) => one.email === email)!;
  await gateway.admin('POST', `/accounts/${account.id}/credits`, { amount_usd: '5.00' });
}

describeInBrowser('from sign-up to the bill', () => {
  it('sign up, create a key, use it with the official client, see the cost, alias it, delete it: 401', async () => {
    visitor = await visitorOf(browser, gateway, null);
    const email = newEmail('first');
    await visitor.signUp(email, password);
    await visitor.page.getByRole('heading', { name: 'Overview' }).waitFor();
    // Nobody has given it credit yet, and the first screen says what that means.
    await visitor.page.getByText('Your balance is $0.00. All requests are refused until you add credit').waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await giveCredit(email);

    const token = await createKey('first key', '30 days');
    expect(token).toMatch(/^sk-lr-[\w-]{43}$/);
    const row = visitor.page.getByRole('row').filter({ hasText: 'first key' });
    expect(await row.textContent()).toContain(`sk-lr-…${token.slice(-4)}`);

    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: token, maxRetries: 0 });
    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'What does this cost?' }] });
    const answer = await ask('northwind/meta/llama-3.3-70b/defra');

    await open('Usage');
    await visitor.page.getByRole('cell').getByRole('link').first().click();
    await visitor.page.getByText(answer.id).waitFor();
    const { prompt_tokens: prompt, completion_tokens: completion } = answer.usage!;
    // 0.59 and 0.79 USD a million tokens, in units of 10⁻⁸ USD.
    const cost = `$${((prompt * 59 + completion * 79) / 1e8).toFixed(8).replace(/0+$/, '')}`;
    await visitor.page.getByText(cost, { exact: true }).waitFor();

    await open('Aliases');
    await press('Create alias');
    await visitor.page.getByLabel('Name').fill('fast');
    await visitor.page.getByLabel('Target').fill('auto/meta/llama-3.3-70b');
    await press('Save');
    await visitor.page.getByRole('cell', { name: 'alias/fast' }).waitFor();
    const aliased = (await ask('alias/fast')) as unknown as { router_metadata: { alias: string } };
    expect(aliased.router_metadata.alias).toBe('fast');
    await open('Usage');
    await visitor.page.getByRole('cell', { name: 'alias/fast' }).waitFor();

    await open('Keys');
    await press('Delete');
    await press('Delete key');
    await visitor.page.getByText('No API keys yet').waitFor();
    await expect(ask('alias/fast')).rejects.toMatchObject({ status: 401, code: 'api_key_not_registered' });
  });
});

describeInBrowser('keys', () => {
  it('an expired key stays listed with its badge, and is refused', async () => {
    const member = await signUp(gateway, newEmail('expired'));
    visitor = await visitorOf(browser, gateway, member);
    // A busy machine takes a second to make the key, which must still lie ahead then.
    const expires = new Date(Date.now() + 2_000).toISOString();
    const made = await dashboardCall(gateway, 'POST', 'keys', { name: 'short-lived', expires }, member);
    const { token } = (await made.json()) as { token: string };
    await expect.poll(async () => (await gateway.call('GET', '/v1/key', undefined, { key: token })).status).toBe(401);
    await visitor.visit('/keys');
    const row = visitor.page.getByRole('row').filter({ hasText: 'short-lived' });
    await row.getByText('expired', { exact: true }).waitFor();
    const refused = await gateway.call('GET', '/v1/key', undefined, { key: token });
    expect(refused.json.error.code).toBe('api_key_expired');
  });

  it('a name that looks like markup is text, wherever it is shown', async () => {
    const member = await signUp(gateway, newEmail('markup'));
    visitor = await visitorOf(browser, gateway, member);
    const name = '<img src=x onerror="document.title=\'taken over\'">';
    await visitor.visit('/keys');
    const token = await createKey(name, 'Never');
    await visitor.page.getByText(name).first().waitFor();
    await press('Delete');
    await visitor.page.getByRole('dialog').getByText(name).waitFor();
    await press('Cancel');
    const body = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await gateway.chat(body, { key: token })).status).toBe(200);
    await open('Usage');
    await visitor.page.getByRole('cell', { name, exact: true }).waitFor();
    expect(await visitor.page.title()).toBe('Usage · Lodestone');
    expect(await visitor.page.locator('img').count()).toBe(0);
  });
});

describeInBrowser('the history', () => {
  it('is exported as CSV with the filters that are set', async () => {
    const member = await signUp(gateway, newEmail('csv'));
    visitor = await visitorOf(browser, gateway, member);
    const made = await dashboardCall(gateway, 'POST', 'keys', { name: 'csv', expires: 'never' }, member);
    const { token } = (await made.json()) as { token: string };
    for (const model of ['sandbox/lodestone/echo', 'boreal/mistral/small-3.2']) {
      await gateway.chat({ model, messages: [{ role: 'user', content: 'Hi' }] }, { key: token });
    }
    await visitor.visit('/usage');
    await visitor.page.getByLabel('Provider').selectOption('boreal');
    await visitor.page.getByRole('cell', { name: 'sandbox' }).first().waitFor({ state: 'detached' });
    const download = visitor.page.waitForEvent('download');
    await follow('Export CSV');
    const lines = await linesOf(await (await download).createReadStream());
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('cost_usd');
    expect(lines[1]).toContain('boreal/mistral/small-3.2');
  });
});

async function linesOf(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8').trim().split(/\r?\n/);
}
