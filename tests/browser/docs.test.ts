/**
 * /docs in a real browser: pages of every layout on a desktop and on a phone, light and dark, without a request to elsewhere, a violation
 * of their Content-Security-Policy or a finding of axe-core; and by keyboard alone. `LODESTONE_FULL=1` looks at every page, and
 * `LODESTONE_SHOTS=<folder>` keeps a picture of each. tests/docs/site.test.ts reads all of them over HTTP.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pages, pathOf, referencePath } from '../../scripts/docs/pages.mjs';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { full } from '../support/scaled.js';
import {
  type AccessibilityPart,
  desktop,
  newVisitor,
  phone,
  type Visitor,
  type VisitorOptions,
} from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;
const looks = [
  { width: desktop, theme: 'light' },
  { width: desktop, theme: 'dark' },
  { width: phone, theme: 'light' },
  { width: phone, theme: 'dark' },
] as const;
type Look = (typeof looks)[number];

/** All pages share their styles, so in the further looks axe-core sees one page of each kind: code, a list, tables. */
const kinds = ['guide/start.md', 'guide/errors.md', 'guide/limits.md'];

/** One renderer makes all pages. These have what is wide or nested: pictures, long tables, long lists, long words of code. */
const layouts = [...kinds, 'guide/capacity.md', 'guide/configuration.md', 'guide/deploy.md', 'behaviour/policy.md'];
const looked = full || shots ? pages : pages.filter(({ file }) => layouts.includes(file));

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startGateway();
}, 180_000);

afterAll(async () => {
  await closeWindows();
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

async function keepShot(page: Page, path: string, { width, theme }: Look): Promise<void> {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  const name = path.replaceAll('/', '-').slice(1);
  await page.screenshot({ path: join(shots, `${name}-${width}-${theme}.png`) });
}

const widerThanWindow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Each page is loaded once, and looked at without being loaded again. */
describeInBrowser('the guide at 1440 and at 390 px, light and dark', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await newVisitor(browser, gateway.url);
  });
  afterAll(() => visitor?.close());

  it.each(looked)('$file is a page without a fault, within the window', async (one) => {
    const { page, problems } = visitor;
    const ofAKind = kinds.includes(one.file);
    await visitor.showAt(desktop);
    await page.goto(gateway.url + pathOf(one));
    expect(await page.locator('h1').count()).toBe(1);
    // All pages share their colours too.
    for (const look of ofAKind ? looks : looks.filter(({ theme }) => theme === 'light')) {
      await lookAt(visitor, look);
      expect(await page.evaluate(widerThanWindow)).toBeLessThanOrEqual(0);
      const part = partOf(look, ofAKind);
      if (part !== 'nothing') expect(await visitor.accessibilityFaults(part)).toEqual([]);
      await keepShot(page, pathOf(one), look);
    }
    expect(problems).toEqual([]);
  });

  /** Which of axe-core's rules are looked at: a theme changes colours and nothing else, and colours are the same at every width. */
  function partOf({ width, theme }: Look, ofAKind: boolean): AccessibilityPart | 'nothing' | undefined {
    if (!ofAKind) return width === desktop ? 'all but colours' : 'nothing';
    if (width === desktop) return theme === 'dark' ? 'colours' : undefined;
    if (theme === 'dark') return full ? 'colours' : 'nothing';
    return full ? undefined : 'all but colours';
  }

  it('has pages that open on a phone in the dark', async () => {
    await visited(looks[3], async ({ page, problems }) => {
      // The status page has the same frame.
      for (const path of [...pages.filter(({ file }) => kinds.includes(file)).map(pathOf), '/status']) {
        await page.goto(gateway.url + path);
        expect(await page.locator('h1').count()).toBe(1);
        expect(await page.evaluate(widerThanWindow)).toBeLessThanOrEqual(0);
      }
      expect(problems).toEqual([]);
    });
  });
});

async function lookAt({ page, showAt }: Visitor, { width, theme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await showAt(width);
  await expect.poll(() => page.evaluate('innerWidth')).toBe(width);
}

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
      expect(await page.getByRole('status').textContent()).toMatch(/^\d+ results?$/);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/streaming#how-a-stream-ends');
      expect(problems).toEqual([]);
    });
  });

  it('finds words of the text, also with a letter wrong, and shows the reader’s own address in commands', async () => {
    await visited({}, async ({ page, problems }) => {
      await page.goto(`${gateway.url}/docs/doors`);
      expect(await page.locator('pre', { hasText: '/v1/messages' }).first().textContent()).toContain(
        `${gateway.url}/v1`,
      );
      await page.keyboard.press('/');
      await page.keyboard.type('quantizaton');
      await page
        .locator('.found a', { hasText: /quantization/i })
        .first()
        .waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/docs\/(?!doors)/);
      expect(problems).toEqual([]);
    });
  });

  it('an address that leads nowhere is a page with the navigation, and / leads to the dashboard', async () => {
    await visited({}, async (visitor) => {
      const { page } = visitor;
      for (const path of ['/docs/nothing', '/nothing/here']) {
        const answer = await page.goto(gateway.url + path);
        expect(answer?.status()).toBe(404);
        await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
      }
      expect(await visitor.accessibilityFaults()).toEqual([]);
      await page.getByRole('navigation', { name: 'Guide' }).getByRole('link', { name: 'Billing' }).click();
      await page.waitForURL('**/docs/billing');
      await page.goto(gateway.url);
      await page.waitForURL('**/dashboard/sign-in');
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
});

/** A large program, so it is loaded once: it is opened on a desktop with the theme that the guide was switched to, and then looked at on a phone. */
describeInBrowser('the reference', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await newVisitor(browser, gateway.url, { theme: 'light' });
  });
  afterAll(() => visitor?.close());

  it('has the theme that the guide was switched to', { timeout: 180_000 }, async () => {
    const { page } = visitor;
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    await page.goto(`${gateway.url}/docs`);
    // Where the test is repeated, the theme was switched already.
    await page.evaluate('localStorage.clear()');
    await page.reload();
    const before = await background();
    await page.getByRole('button', { name: 'Switch between light and dark' }).click();
    const after = await background();
    expect(after).not.toBe(before);
    await openReference(page);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('.dark-mode').count()).toBeGreaterThan(0);
    expect(await background()).toBe(after);
  });

  it('sends a request with the reader’s key and shows the answer', { timeout: 180_000 }, async () => {
    const { key } = await gateway.createAccount();
    const { page, problems } = visitor;
    // Where the test is repeated, the dialog may be open.
    await page.keyboard.press('Escape');
    await page.getByPlaceholder('Token').first().fill(key);
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Send post request/ }).click();
    await dialog.getByText('sandbox/lodestone/echo/global').first().waitFor();
    expect(problems).toEqual([]);
  });

  it('is a page without a fault on a phone in the dark', { timeout: 180_000 }, async () => {
    const { page, problems } = visitor;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await lookAt(visitor, looks[3]);
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate(widerThanWindow)).toBeLessThanOrEqual(0);
    // Its thousands of words are in a few colours of its own, and contrast takes axe-core longest: looked at with LODESTONE_FULL=1.
    expect(await visitor.accessibilityFaults(full ? undefined : 'all but colours')).toEqual([]);
    await keepShot(page, referencePath, looks[3]);
    expect(problems).toEqual([]);
  });
});
