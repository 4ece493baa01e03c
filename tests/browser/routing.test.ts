/** Routing pages in a real browser: live counts of the gates, a chain ordered by keyboard, and the playground's receipt. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import type { Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let member: Member;
let visitor: Visitor;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

beforeEach(async () => {
  member = await signUp(gateway, newEmail('router'));
  visitor = await visitorOf(browser, gateway, member);
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
const text = (testId: string) => visitor.page.getByTestId(testId).textContent();

describeInBrowser('Routing policy', () => {
  it('shows what each gate leaves of the chosen model while it is edited, and explains an empty set', async () => {
    await visitor.visit('/routing-policy');
    const { page } = visitor;
    await page.getByLabel('Model').selectOption('meta/llama-3.3-70b');
    await expect.poll(() => text('routes-left')).toContain('6 of 6 routes allowed');

    // Cascade is under the act, and of Tsukimi it is not known.
    await page.getByRole('switch', { name: 'Deny CLOUD Act providers' }).click();
    await expect.poll(() => text('gate-deny_cloud_act')).toBe('leaves 4 of 6 routes, removes 2');
    // Frankfurt's 342 is over it; London's 216, Paris's 44 and Stockholm's 36 are not.
    await page.getByLabel('Highest grid intensity').fill('300');
    await expect.poll(() => text('gate-max_carbon')).toBe('leaves 3 of 6 routes, removes 1');
    await expect.poll(() => text('routes-left')).toContain('3 of 6 routes allowed');

    await page.getByLabel('Highest price').fill('0.1');
    await expect.poll(() => text('gate-max_price')).toBe('leaves 0 of 6 routes, removes 3');
    await page.getByText('Every auto request for this model would be refused.').waitFor();
    await page.getByRole('heading', { name: 'How to allow routes' }).waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);

    await press('Save policy');
    await page.getByText('Routing policy saved.').first().waitFor();
    const asked = { model: 'auto/meta/llama-3.3-70b', messages: [{ role: 'user', content: 'Hi' }] };
    await expect(dashboardCall(gateway, 'POST', 'playground/chat', asked, member)).rejects.toThrow(
      /403 .*routing_policy_exhausted/,
    );
  });

  it('adds and removes entries of a list by keyboard', async () => {
    await visitor.visit('/routing-policy');
    const { page } = visitor;
    await page.getByLabel('Model').selectOption('meta/llama-3.3-70b');
    const regions = page.getByRole('region', { name: 'Regions' });
    await regions.getByLabel('Only these').pressSequentially('se');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => text('gate-regions')).toBe('leaves 1 of 6 routes, removes 5');
    await regions.getByRole('button', { name: /^Remove / }).press('Enter');
    await expect.poll(() => text('gate-regions')).toBe('Off.');
  });
});

describeInBrowser('Fallback', () => {
  it('is ordered by keyboard, keeps the focus on what is moved, and is saved', async () => {
    const models = ['auto/qwen/qwen3-32b', 'auto/mistral/small-3.2'];
    await dashboardCall(gateway, 'PUT', 'v1/fallback', { fallback: { models } }, member);
    await visitor.visit('/fallback');
    const { page } = visitor;
    await page.getByLabel('Entry to add').fill('auto/meta/llama-3.3-70b');
    await page.keyboard.press('Enter');
    const up = page.getByRole('button', { name: 'Move auto/meta/llama-3.3-70b up' });
    await up.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('auto/meta/llama-3.3-70b is now number 1 of 3.').waitFor();
    const focused = await page.evaluate('document.activeElement.getAttribute("aria-label")');
    expect(focused).toBe('Move auto/meta/llama-3.3-70b down');
    await press('Remove auto/qwen/qwen3-32b');
    await press('Save chain');
    await page.getByText('Fallback chain saved.').first().waitFor();
    const saved = await (await dashboardCall(gateway, 'GET', 'v1/fallback', undefined, member)).json();
    expect(saved).toMatchObject({ fallback: { models: ['auto/meta/llama-3.3-70b', 'auto/mistral/small-3.2'] } });
  });
});

describeInBrowser('Playground', () => {
  it('streams the answer, shows its receipt, cost and timing, and the same request as code', async () => {
    await visitor.visit('/playground');
    const { page } = visitor;
    await page.getByLabel('Model').fill('auto/meta/llama-3.3-70b');
    const message = 'The quick brown fox jumps over the lazy dog. '.repeat(6).trim();
    await page.getByLabel('Message').fill(message);
    const answered = page.waitForResponse((response) => response.url().endsWith('/playground/chat'));
    await page.evaluate(watchAnswer);
    await press('Send');
    expect((await answered).headers()['content-type']).toContain('text/event-stream');
    const receipt = page.getByTestId('receipt');
    await receipt.waitFor();
    expect(await page.getByRole('log').textContent()).toContain('lazy dog');
    expect(await page.evaluate('answerLengths.size'), 'the answer came in one piece').toBeGreaterThan(3);
    const { router_metadata: metadata } = await lastReceipt(message);
    const shown = (await receipt.textContent())!;
    for (const part of [metadata.provider, metadata.locode, 'First byte', 'complete']) expect(shown).toContain(part);
    expect(shown).toMatch(/Cost\$0\.0000\d+/);
    expect(await visitor.accessibilityFaults()).toEqual([]);

    for (const [tab, holds] of [
      ['curl', 'curl -N '],
      ['Python', 'client.chat.completions.create('],
      ['TypeScript', "import OpenAI from 'openai'"],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').getByText(holds).waitFor();
    }
  });

  it('an error of the gateway is shown as it is, and the page goes on', async () => {
    await visitor.visit('/playground');
    const { page } = visitor;
    await page.getByLabel('Model').fill('northwind/meta/llama-3.3-70b/jptyo');
    await page.getByLabel('Message').fill('Hi');
    await press('Send');
    await page.getByText('HTTP 404 · not_found').waitFor();
    await page.getByLabel('Model').fill('sandbox/lodestone/echo');
    await page.getByLabel('Message').fill('Hi again');
    await press('Send');
    await page.getByTestId('receipt').waitFor();
  });
});

/** Notes every length that the conversation had on its way. */
const watchAnswer = `
  globalThis.answerLengths = new Set();
  new MutationObserver(() => answerLengths.add(document.querySelector('[role=log]')?.textContent.length ?? 0))
    .observe(document.body, { subtree: true, childList: true, characterData: true });`;

/** What a chat of the same message says of itself: the route that the playground must have been given too. */
async function lastReceipt(content: string) {
  const asked = { model: 'auto/meta/llama-3.3-70b', messages: [{ role: 'user', content }] };
  const answer = await dashboardCall(gateway, 'POST', 'playground/chat', asked, member);
  return (await answer.json()) as { router_metadata: { provider: string; locode: string } };
}

describeInBrowser('by keyboard and by choice', () => {
  it('the first Tab reaches the skip link, and a chosen theme stays', async () => {
    await visitor.visit('/keys');
    const { page } = visitor;
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByText('Dark', { exact: true }).filter({ visible: true }).click();
    await visitor.visit('/aliases');
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
  });
});
