/** `npm run pictures` would refuse a picture of a page that shows an error: what it reads there is a fault. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readPage } from '../pictures/read-page.js';
import { shownFaults } from '../pictures/record.js';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

describeInBrowser('a page for a picture', () => {
  it('is refused while it shows an error, or what is promised is outside of the window, and taken else', async () => {
    const member = await signUp(gateway, newEmail('painter'));
    const { page, visit, close } = await visitorOf(browser, gateway, member);
    await visit('/playground');
    const faults = async (...shows: string[]) => shownFaults({ ...(await readPage(page)), shows });
    const send = async (model: string) => {
      await page.getByLabel('Model').fill(model);
      await page.getByLabel('Message').fill('Hi');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    };
    await send('sandbox/lodestone/echo');
    await page.getByTestId('receipt').waitFor();
    expect(await faults('Playground', 'Receipt', 'Cost')).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 300 });
    expect(await faults('Playground', 'First byte')).toEqual(['does not show "First byte"']);
    await send('northwind/meta/llama-3.3-70b/jptyo');
    await page.getByText('HTTP 404 · not_found').waitFor();
    expect(await faults()).toContainEqual(expect.stringContaining('shows an error'));
    await close();
  });
});
