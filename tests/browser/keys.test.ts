/** The Keys page in a real browser: a key with limits is created, edited, disabled and enabled. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import type { Visitor } from '../support/visitor.js';

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

const press = (name: string) => visitor.page.getByRole('button', { name, exact: true }).click();
const status = async (token: string) => (await gateway.call('GET', '/v1/key', undefined, { key: token })).status;

describeInBrowser('keys with limits', () => {
  it('create, edit, disable and enable; a wrong value is shown at its field', async () => {
    const member = await signUp(gateway, newEmail('limits'));
    visitor = await visitorOf(browser, gateway, member);
    const { page } = visitor;
    await visitor.visit('/keys');
    await press('Create key');
    await page.getByLabel('Name').fill('team');
    await page.getByText('Limits and scope').click();
    await page.getByLabel('Spend limit (USD)').fill('lots');
    await page.getByLabel('Limit starts again').selectOption('Every month');
    await page.getByLabel('Allowed models').fill('lodestone/*');
    await page.getByLabel('Allowed models').press('Enter');
    await press('Create');
    await page.getByRole('alert').filter({ hasText: 'limit_usd' }).waitFor();
    await page.getByLabel('Spend limit (USD)').fill('25.00');
    await press('Create');
    const token = (await page.getByTestId('new-token').textContent())!;
    await press('Done');
    const row = page.getByRole('row').filter({ hasText: 'team' });
    await row.getByText('of $25.00').waitFor();
    await row.getByText('lodestone/*').waitFor();

    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Spend limit (USD)').fill('');
    await page.getByLabel('Allowed addresses').fill('127.0.0.1');
    await page.getByLabel('Allowed addresses').press('Enter');
    await page.getByLabel('Allowed addresses').fill('::1');
    await page.getByLabel('Allowed addresses').press('Enter');
    await press('Save');
    await row.getByText('2 address ranges').waitFor();
    expect(await row.getByText('of $25.00').count()).toBe(0);

    expect(await status(token)).toBe(200);
    await row.getByRole('button', { name: 'Disable' }).click();
    await row.getByText('disabled', { exact: true }).waitFor();
    expect(await status(token)).toBe(401);
    await row.getByRole('button', { name: 'Enable' }).click();
    await row.getByRole('button', { name: 'Disable' }).waitFor();
    expect(await status(token)).toBe(200);
  });

  it('a new key comes with a request in three languages; keys are found and deleted together', async () => {
    const member = await signUp(gateway, newEmail('several'));
    visitor = await visitorOf(browser, gateway, member);
    const { page } = visitor;
    await visitor.visit('/keys');
    const tokens: string[] = [];
    for (const name of ['alpha', 'beta', 'gamma']) {
      await press('Create key');
      await page.getByLabel('Name').fill(name);
      await press('Create');
      tokens.push((await page.getByTestId('new-token').textContent())!);
      for (const language of ['curl', 'Python', 'TypeScript']) {
        await page.getByRole('tab', { name: language }).click();
        await page.getByRole('tabpanel').getByText(tokens.at(-1)!).waitFor();
      }
      await press('Done');
    }
    await page.getByLabel('Search', { exact: true }).fill('BET');
    await page.getByRole('row').filter({ hasText: 'alpha' }).waitFor({ state: 'detached' });
    await page.getByLabel('Search', { exact: true }).fill('');
    for (const name of ['alpha', 'gamma']) await page.getByLabel(`Choose the key ${name}`).check();
    await press('Delete 2 keys');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 keys' }).click();
    // Rows behind a dialog are hidden, so only the message says that it is done.
    await page.getByText('Deleted. The next request').first().waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'gamma' }).count()).toBe(0);
    expect(await Promise.all(tokens.map(status))).toEqual([401, 200, 401]);
  });
});
