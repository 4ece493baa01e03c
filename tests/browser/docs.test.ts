/**
 * /docs in a real browser: every page on a desktop and on a phone, light and dark, without a request to elsewhere, a violation of its
 * Content-Security-Policy or a finding of axe-core; and by keyboard alone. `LODESTONE_SHOTS=<folder>` keeps a picture of each page.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pages, pathOf, referencePath } from '../../scripts/docs/pages.mjs';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { desktop, newVisitor, phone, type Visitor, type VisitorOptions } from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;
const looks: VisitorOptions[] = [
  { width: desktop, theme: 'light' },
  { width: desktop, theme: 'dark' },
  { width: phone, theme: 'light' },
  { width: phone, theme: 'dark' },
];

/** All pages share their styles, so in the further looks axe-core sees one page of each kind: code, a list, tables. */
const kinds = ['guide/start.md', 'guide/errors.md', 'guide/limits.md'];

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startGateway();
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** The reference is a large program: on a busy machine it takes its time. */
async function openReference(page: Page): Promise<void> {
  page.setDefaultTimeout(45_000);
  await page.goto(gateway.url + referencePath);
  await page.getByRole('heading', { name: 'Create a chat completion' }).waitFor();
}

async function visited<T>(options: VisitorOptions, act: (visitor: Visitor) => Promise<T>): Promise<T> {
  const visitor = await newVisitor(browser, gateway.url, options);
  try {
    return await act(visitor);
  } finally {
    await visitor.close();
  }
}

async function keepShot(page: Page, path: string, { width, theme }: VisitorOptions): Promise<void> {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  const name = path.replaceAll('/', '-').slice(1);
  await page.screenshot({ path: join(shots, `${name}-${width}-${theme}.png`) });
}

const widerThanWindow = 'document.documentElement.scrollWidth - window.innerWidth';

describeInBrowser.each(looks)('the guide at $width px, $theme', (look) => {
  it('has pages without a fault, each within the window', { timeout: 120_000 }, async () => {
    await visited(look, async ({ page, problems, accessibilityFaults }) => {
      // All pages share their colours too.
      for (const one of look.theme === 'dark' ? pages.filter(({ file }) => kinds.includes(file)) : pages) {
        await page.goto(gateway.url + pathOf(one));
        expect(await page.locator('h1').count(), one.file).toBe(1);
        expect(await page.evaluate(widerThanWindow), one.file).toBeLessThanOrEqual(0);
        const ofAKind = kinds.includes(one.file);
        const part = look.theme === 'dark' ? 'colours' : ofAKind ? undefined : 'all but colours';
        if (look === looks[0] || ofAKind) expect(await accessibilityFaults(part), one.file).toEqual([]);
        await keepShot(page, pathOf(one), look);
      }
      expect(problems).toEqual([]);
    });
  });
});

describeInBrowser.each([looks[3]!])('the reference at $width px, $theme', (look) => {
  it('is a page without a fault', { timeout: 120_000 }, async () => {
    await visited(look, async ({ page, problems, accessibilityFaults }) => {
      await openReference(page);
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate(widerThanWindow)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults()).toEqual([]);
      await keepShot(page, referencePath, look);
      expect(problems).toEqual([]);
    });
  });
});

describeInBrowser('the guide by keyboard', () => {
  const focused = (page: Page) => page.evaluate('document.activeElement?.textContent?.trim()');

  it('skips to the content, and walks the pages with Tab and Enter', async () => {
    await visited({}, async ({ page }) => {
      await page.goto(`${gateway.url}/docs`);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement?.id')).toBe('content');
      await page.goto(`${gateway.url}/docs`);
      for (let i = 0; i < 20 && (await focused(page)) !== 'Concepts'; i++) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/concepts');
      await page.getByRole('link', { name: 'Next Ids and regions' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/ids');
      expect(await page.locator('nav.pages [aria-current=page]').textContent()).toBe('Ids and regions');
    });
  });

  it('finds headings with "/", words and Enter', async () => {
    await visited({}, async ({ page, problems }) => {
      await page.goto(`${gateway.url}/docs`);
      await page.keyboard.press('/');
      await page.keyboard.type('how stream ends');
      await page.locator('.found a').first().waitFor();
      expect(await page.getByRole('status').textContent()).toBe('1 heading');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/streaming#how-a-stream-ends');
      expect(problems).toEqual([]);
    });
  });

  it('opens and closes the menu of a phone', async () => {
    await visited({ width: phone }, async ({ page }) => {
      await page.goto(`${gateway.url}/docs/errors`);
      const link = page.getByRole('navigation', { name: 'Guide' }).getByRole('link', { name: 'Billing' });
      expect(await link.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Menu' }).press('Enter');
      expect(await link.isVisible()).toBe(true);
      await page.keyboard.press('Escape');
      expect(await link.isVisible()).toBe(false);
      expect(await focused(page)).toBe('Menu');
    });
  });
});

describeInBrowser('the guide’s buttons', () => {
  it('copies a block of code as it is', async () => {
    await visited({}, async ({ page }) => {
      await page.goto(`${gateway.url}/docs`);
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm start');
    });
  });

  it('switches the theme, keeps it, and takes the reference along', { timeout: 120_000 }, async () => {
    await visited({ theme: 'light' }, async ({ page }) => {
      const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
      await page.goto(`${gateway.url}/docs`);
      const before = await background();
      await page.getByRole('button', { name: 'Switch between light and dark' }).click();
      const after = await background();
      expect(after).not.toBe(before);
      await openReference(page);
      expect(await page.locator('.dark-mode').count()).toBeGreaterThan(0);
      expect(await background()).toBe(after);
    });
  });
});

describeInBrowser('the reference', () => {
  it('sends a request with the reader’s key and shows the answer', { timeout: 120_000 }, async () => {
    const { key } = await gateway.createAccount();
    await visited({}, async ({ page, problems }) => {
      await openReference(page);
      await page.getByPlaceholder('Token').first().fill(key);
      await page
        .getByRole('button', { name: /Test Request/ })
        .first()
        .click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Send post request/ })
        .click();
      await page.getByRole('dialog').getByText('sandbox/lodestone/echo/global').first().waitFor();
      expect(problems).toEqual([]);
    });
  });
});
