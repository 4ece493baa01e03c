/** A page that throws while it is drawn: the rest of the dashboard stays, the page says what to do, and it recovers. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import type { Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let browser: Browser;
let gateway: TestGateway;
let visitor: Visitor;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

beforeEach(async () => {
  visitor = await visitorOf(browser, gateway, await signUp(gateway, newEmail('thrown')));
});

afterEach(() => visitor.close());

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

/** No key has this shape, so that the page throws where it draws the first one. */
const broken = { object: 'list', data: [null] };

describeInBrowser('a page that throws', () => {
  it('says what to do, the menu and the other pages work, and Try again shows it once the cause is gone', async () => {
    const { page } = visitor;
    await page.route('**/dashboard/api/keys', (route) => route.fulfill({ json: broken }));
    await visitor.visit('/keys');
    const failed = page.getByRole('alert').filter({ hasText: 'This page has failed' });
    await failed.waitFor();
    await expect.poll(() => failed.textContent()).toContain('Nothing was changed, and the other pages work.');
    // The message of the browser, for the operator.
    expect(await failed.locator('code').textContent()).toMatch(/null/);
    expect(await visitor.accessibilityFaults()).toEqual([]);

    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Aliases' }).click();
    await page.getByText('No aliases yet').waitFor();
    expect(await failed.count()).toBe(0);

    await menu.getByRole('link', { name: 'Keys' }).click();
    await failed.waitFor();
    await page.unroute('**/dashboard/api/keys');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No API keys yet').waitFor();
    expect(await failed.count()).toBe(0);
  });

  it('a page whose code cannot be loaded says so in its place', async () => {
    const { page } = visitor;
    await visitor.visit('/aliases');
    await page.route('**/dashboard/assets/keys-page-*.js', (route) => route.abort());
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).click();
    const failed = page.getByRole('alert').filter({ hasText: 'This page has failed' });
    await failed.waitFor();
    await failed.getByRole('button', { name: 'Reload the dashboard' }).waitFor();
    await page.unroute('**/dashboard/assets/keys-page-*.js');
    await failed.getByRole('button', { name: 'Reload the dashboard' }).click();
    await page.getByText('No API keys yet').waitFor();
  });
});
