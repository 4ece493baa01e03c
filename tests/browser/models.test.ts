/** Models in a real browser: filters in the address, one model's page, badges by keyboard, a comparison, and the policy over all models. */
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { type Member, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import { phone, type Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let member: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
  member = await signUp(gateway, 'chooser@example.test');
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

/** The texts of the boxes whose content is wider than they are. */
const tooWide = (boxes: unknown[]) =>
  (boxes as { scrollWidth: number; clientWidth: number; textContent: string }[])
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent);

const four = 'meta/llama-3.3-70b,mistral/small-3.2,qwen/qwen3-32b,lodestone/echo';

async function withVisitor(path: string, test: (visitor: Visitor) => Promise<void>): Promise<void> {
  const visitor = await visitorOf(browser, gateway, member);
  await visitor.visit(path);
  await test(visitor);
  expect(visitor.problems).toEqual([]);
  await visitor.close();
}

describeInBrowser('Models', () => {
  it('keeps filters and order in the address, and compares what is ticked', () =>
    withVisitor('/models?data=eu&sort=price', async ({ page, accessibilityFaults }) => {
      const names = () => page.getByRole('row').getByRole('link').allTextContents();
      await expect.poll(names).toEqual(['Mistral Small 3.2', 'Llama 3.3 70B']);
      await page.getByLabel('Promise').selectOption('');
      await page.getByLabel('Search').fill('qwen');
      await expect.poll(names).toEqual(['Qwen3 32B']);
      expect(new URL(page.url()).search).toBe('?q=qwen&sort=price');
      await page.reload();
      await expect.poll(names).toEqual(['Qwen3 32B']);
      await page.getByLabel('Compare Qwen3 32B').check();
      await page.getByLabel('Search').fill('');
      await page.getByLabel('Compare Llama 3.3 70B').check();
      await page.getByRole('link', { name: 'Compare 2 models' }).click();
      const grid = page.getByRole('group', { name: 'Models side by side' });
      await grid.getByRole('link', { name: 'Llama 3.3 70B' }).waitFor();
      expect(await grid.textContent()).toContain('$0.40');
      expect(await accessibilityFaults()).toEqual([]);
    }));

  it('compares four models side by side on a small laptop', () =>
    withVisitor(`/models/compare?ids=${four}`, async ({ page, showAt }) => {
      await showAt(1024);
      const grid = page.getByRole('group', { name: 'Models side by side' });
      await grid.getByRole('link', { name: 'Echo' }).waitFor();
      await expect.poll(() => grid.evaluateAll(tooWide)).toEqual([]);
      // Nothing of a cell reaches into the next one.
      expect(await grid.locator('th, td').evaluateAll(tooWide)).toEqual([]);
    }));

  it('has the box to compare in the line of the name on a phone', () =>
    withVisitor('/models', async ({ page, showAt }) => {
      await showAt(phone);
      const box = page.getByLabel('Compare Llama 3.3 70B');
      const name = page.getByRole('link', { name: 'Llama 3.3 70B' });
      const middle = async (one: Locator) => {
        const { y, height } = (await one.boundingBox())!;
        return y + height / 2;
      };
      await expect.poll(async () => Math.abs((await middle(box)) - (await middle(name)))).toBeLessThan(8);
      await box.check();
      await page.getByRole('link', { name: 'Compare 1 model' }).waitFor();
    }));

  it('has a page for each: routes, promises by keyboard, what requests cost, and the way to the playground', () =>
    withVisitor('/models/meta/llama-3.3-70b', async ({ page, accessibilityFaults }) => {
      const badges = page.getByRole('button', { name: /^Data policy of northwind\/.*\/defra/ });
      const card = page.getByText('Source: https://northwind.example/privacy, as of 2026-11-15.').first();
      expect(await card.isVisible()).toBe(false);
      await badges.focus();
      await card.waitFor();
      await page.keyboard.press('Escape');
      await card.waitFor({ state: 'hidden' });
      await page.getByLabel('Requests').fill('2000');
      const costs = page.getByRole('table', { name: 'Cost by route' });
      // 1000 × 0.40 and 500 × 0.52 USD a million, 2000 times.
      await costs.getByText('$1.32').waitFor();
      await page.getByRole('heading', { name: 'Availability' }).waitFor();
      expect(await accessibilityFaults()).toEqual([]);
      await page.getByRole('link', { name: 'Try it' }).click();
      await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('auto/meta/llama-3.3-70b');
    }));

  it('says that there is no such model, and where the others are', () =>
    withVisitor('/models/meta/nothing', async ({ page }) => {
      await page.getByText('No such model').waitFor();
      await page.getByRole('link', { name: 'See all models' }).click();
      await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    }));
});

describeInBrowser('the policy over all models', () => {
  it('counts every route, says what a switch would leave, and names the models that would be refused', () =>
    withVisitor('/routing-policy', async ({ page }) => {
      await page.getByLabel('Model').selectOption('');
      await expect.poll(() => page.getByTestId('routes-left').textContent()).toContain('12 of 12 routes allowed');
      // Northwind and Boreal: two routes of one model, one of the other each.
      await expect
        .poll(() => page.getByTestId('gate-deny_training').textContent())
        .toBe('Off. Turning it on keeps 5 of 12.');
      await page.getByRole('region', { name: 'Training' }).getByRole('switch').click();
      await expect.poll(() => page.getByTestId('routes-left').textContent()).toContain('5 of 12 routes allowed');
      await page.getByText('2 of 4 models would be refused').waitFor();
    }));
});
