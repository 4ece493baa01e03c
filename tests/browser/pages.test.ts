/**
 * Every page, on a desktop and on a phone, light and dark: it shows its data, axe-core finds nothing, nothing is loaded from
 * elsewhere, and the Content-Security-Policy is never violated. `LODESTONE_FULL=1` lets axe-core look at every page at both widths, and
 * `LODESTONE_SHOTS=<folder>` keeps a picture of each.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import type { TestGateway } from '../support/gateway.js';
import { full } from '../support/scaled.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { type AccessibilityPart, desktop, phone, settled, type Visitor } from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let customer: Member;
let newcomer: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard({ secrets: { key_file: makeSecretsKey() } });
  customer = await signUp(gateway, 'ada@example.test');
  newcomer = await signUp(gateway, 'new@example.test');
  await furnish();
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

/** An account that has been in use for a month, and is an operator's. */
async function furnish(): Promise<void> {
  const path = `/accounts/${customer.accountId}`;
  const keys: { id: string; name: string }[] = [];
  for (const [name, expires] of [
    ['production', 'never'],
    ['staging', '90d'],
    ['laptop', new Date(Date.now() + 2_000).toISOString()],
  ]) {
    keys.push((await gateway.admin('POST', `${path}/keys`, { name, expires })).json as { id: string; name: string });
  }
  await gateway.admin('PATCH', path, { operator: true });
  const state = { state: 'soft_disabled', reason: 'Being moved' };
  await gateway.admin('PUT', '/models/mistral/small-3.2/availability', state);
  const put = (method: string, at: string, body: unknown) => dashboardCall(gateway, method, at, body, customer);
  await put('POST', 'projects', { name: 'search', budget: { limit_usd: '50', period: 'monthly' } });
  await gateway.admin('POST', `${path}/members`, { email: 'grace@example.test', role: 'developer', projects: null });
  await put('POST', 'credentials', { provider: 'meridian', name: 'our Meridian key', secret: { api_key: 'own-key' } });
  await put('POST', 'v1/aliases', { name: 'fast', target: 'auto/meta/llama-3.3-70b' });
  await put('POST', 'v1/aliases', { name: 'eu-only', target: 'northwind/meta/llama-3.3-70b/defra' });
  await put('PUT', 'v1/fallback', {
    fallback: { models: ['auto/meta/llama-3.3-70b', 'alias/eu-only', 'auto/qwen/qwen3-32b'] },
  });
  await put('PUT', 'v1/routing-policy', {
    deny_cloud_act: true,
    max_carbon: 300,
    regions: { allow: [], deny: ['BR'] },
  });
  await writeTraffic({
    ...{ databaseUrl: gateway.files.databaseUrl!, accountId: customer.accountId, keys, nowMs: Date.now() },
  });
  // Balances are read when the gateway starts.
  await gateway.restart();
}

interface PageCase {
  path: string;
  heading: string;
  /** Something that is there only when the data is. */
  shows: string;
}

/** By the path of the page. A page without a line here is looked at like the others, without its data. */
const data: Readonly<Record<string, string>> = {
  '/': 'Where requests were served',
  '/usage': 'northwind',
  '/credits': 'Welcome',
  '/keys': 'expired',
  '/credentials': 'our Meridian key',
  '/models': 'Llama 3.3 70B',
  '/playground': 'No messages yet',
  '/aliases': '2 of 5 used',
  '/fallback': '3 of 10',
  '/routing-policy': 'Routes allowed',
  '/projects': 'search',
  '/members': 'grace@example.test',
  '/settings': 'API keys may change settings',
  '/notices': 'This gateway sends no mail',
  '/audit-log': 'created the API key',
  '/service': 'Top accounts',
  '/accounts': 'new@example.test',
  '/route-health': 'closed',
  '/availability': 'Being moved',
  '/imports': 'No report yet',
  '/audit': 'key.create',
};

/** The list is read as text, because importing it would load the dashboard's components. */
const listText = readFileSync(join(import.meta.dirname, '../../dashboard/src/page-list.ts'), 'utf8');
const listed = [...listText.matchAll(/path: '([^']+)',\s+title: '([^']+)'/g)].map(([, path, heading]) => ({
  path: path!,
  heading: heading!,
  shows: data[path!] ?? heading!,
}));

/** The pages of the navigation, and the one that the account menu leads to. */
const pages: PageCase[] = [
  ...listed,
  { path: '/account', heading: 'Account and password', shows: 'Requests per minute' },
];

/** Of those that a phone lays out in another way: cards, a table that becomes a list, a column below another. */
const phonePages = ['/usage', '/models', '/routing-policy'];

/** Of those with parts that no other page has: charts and a map, chips, a table of prices, a form, a conversation. Dark has the same tokens on all. */
const darkPages = ['/', '/usage', '/models', '/routing-policy', '/playground', '/keys'];

/** The others are come to by the way of the links; every address is answered with the same document. */
const byAddress = ['/', '/models', '/audit'];

const empty: PageCase[] = [
  { path: '/', heading: 'Overview', shows: 'Get your first answer in three steps' },
  { path: '/usage', heading: 'Usage', shows: 'No requests yet' },
  { path: '/keys', heading: 'Keys', shows: 'No API keys yet' },
  { path: '/aliases', heading: 'Aliases', shows: 'No aliases yet' },
  { path: '/fallback', heading: 'Fallback', shows: 'No fallback' },
];

it('the pages are those of the navigation', () => {
  expect(listed).toHaveLength(listText.match(/load: \(\) => import/g)!.length);
  expect(Object.keys(data).filter((path) => !listed.some((page) => page.path === path))).toEqual([]);
});

const bothWidths = [desktop, phone];
const onPhone = [phone];

describeInBrowser('at 1440 and at 390 px, light and dark', () => {
  let visitor: Visitor;
  let fresh: Visitor;

  beforeAll(async () => {
    visitor = await visitorOf(browser, gateway, customer);
    fresh = await visitorOf(browser, gateway, newcomer, { width: phone });
  });
  afterAll(async () => {
    await visitor?.close();
    await fresh?.close();
  });

  it.each(pages)('$heading shows its data', async ({ path, heading, shows }) => {
    await (byAddress.includes(path) ? visitor.visit(path) : visitor.follow(path));
    await visitor.page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await settled(visitor.page);
    const isThere = () => visitor.page.getByText(shows).filter({ visible: true }).first().waitFor();
    await isThere();
    await expect.poll(() => visitor.page.title()).toBe(`${heading} · Lodestone`);
    // Colours are the same at every width, and what only a phone shows is on every page: one of them is looked at for it.
    const onPhones = full || phonePages.includes(path) ? 'all but colours' : 'nothing';
    const phonePart = path === '/' ? undefined : onPhones;
    const inTheDark = full || darkPages.includes(path);
    await expectSound(visitor, path.slice(1) || 'overview', { isThere, phonePart, inTheDark });
  });

  it('a page that is opened on a phone shows its data', async () => {
    const outside = await visitorOf(browser, gateway, customer, { width: phone });
    await outside.visit('/');
    await outside.page.getByText('Where requests were served').filter({ visible: true }).first().waitFor();
    await expectSound(outside, 'overview-opened', { widths: onPhone, phonePart: 'all but colours' });
    await outside.close();
  });

  it('one request has a page with its attempts and its receipt', async () => {
    await visitor.visit('/usage');
    await visitor.page.getByRole('row').filter({ hasText: 'after fallback' }).getByRole('link').first().click();
    await visitor.page.getByText('The request queue is full.').waitFor();
    await expectSound(visitor, 'request');
  });

  it('an operator sees one account', async () => {
    await visitor.visit(`/accounts/${customer.accountId}`);
    await visitor.page.getByRole('heading', { name: 'Limits' }).waitFor();
    await expectSound(visitor, 'one-account');
  });

  it.each(bothWidths)(
    'a dialog at %i px keeps the focus, closes by Escape, and gives the focus back',
    async (width) => {
      await visitor.follow('/keys');
      await visitor.showAt(width);
      const open = visitor.page.getByRole('button', { name: 'Create key' });
      await open.click();
      await visitor.page.getByRole('dialog').waitFor();
      await expectSound(visitor, 'create-key', { widths: [width] });
      await visitor.showAt(width);
      await visitor.page.keyboard.press('Escape');
      await visitor.page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await open.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
      await visitor.showAt(desktop);
    },
  );

  // What a new account sees is the same few lines at every width; the narrow one is the harder to fit.
  it.each(empty)('$heading of a new account says what to do', async ({ path, heading, shows }) => {
    await fresh.visit(path);
    await fresh.page.getByText(shows).waitFor();
    const phonePart = path === '/' || full ? undefined : 'all but colours';
    await expectSound(fresh, `${heading.toLowerCase()}-empty`, { widths: onPhone, phonePart });
  });

  it.each(['/sign-in', '/sign-up'])('%s', async (path) => {
    const outsider = await visitorOf(browser, gateway, null);
    await outsider.visit(path);
    await expectSound(outsider, path.slice(1));
    await outsider.close();
  });
});

const colours = {
  light: { page: 'rgb(249, 250, 250)', heading: 'rgb(20, 24, 29)' },
  dark: { page: 'rgb(13, 15, 18)', heading: 'rgb(236, 238, 241)' },
};

const widerThanWindow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** The choices that stand alone in a line below others. */
const lonelyChoices = `[...document.querySelectorAll('fieldset:has(> label > [type=radio])')].flatMap((field) => {
  const labels = [...field.querySelectorAll(':scope > label')].filter((label) => label.offsetHeight > 0);
  const lines = Map.groupBy(labels, (label) => label.offsetTop);
  return lines.size < 2 ? [] : [...lines.values()].filter(({ length }) => length === 1).map(([label]) => label.textContent);
})`;

const shownColours = `({
  page: getComputedStyle(document.documentElement).backgroundColor,
  heading: getComputedStyle(document.querySelector('h1')).color,
  moving: document.getAnimations().length,
})`;

interface Looks {
  widths?: number[];
  /** Which of axe-core's rules are looked at on a phone; unless told all, and where the desktop was looked at all but colours. */
  phonePart?: AccessibilityPart | 'nothing' | undefined;
  /** Whether axe-core looks at the contrast of the dark colours; yes unless told. */
  inTheDark?: boolean;
  /** Waits for what the page shows; asked at each width. */
  isThere?: () => Promise<void>;
}

/** The page is looked at without being loaded again, and left at the first of the widths. */
async function expectSound(visitor: Visitor, shot: string, looks: Looks = {}): Promise<void> {
  const { widths = bothWidths, isThere, inTheDark = true } = looks;
  const phonePart = looks.phonePart ?? (full || !widths.includes(desktop) ? undefined : 'all but colours');
  const { page } = visitor;
  for (const width of widths) {
    await visitor.showAt(width);
    await expect.poll(() => page.evaluate('innerWidth')).toBe(width);
    await isThere?.();
    expect(await page.evaluate(widerThanWindow), `the page scrolls sideways at ${width} px`).toBe(0);
    expect(await page.evaluate(lonelyChoices), `a choice is alone in its line at ${width} px`).toEqual([]);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      // What follows would say nothing about a theme that is not on the screen yet.
      await expect.poll(() => page.evaluate(shownColours)).toEqual({ ...colours[theme], moving: 0 });
      await keepPicture(visitor, `${shot}-${width}-${theme}`);
      // A theme changes colours and nothing else, and they are the same at every width.
      const part = width === phone ? phonePart : undefined;
      if (part === 'nothing') continue;
      if (theme === 'light') expect(await visitor.accessibilityFaults(part)).toEqual([]);
      else if (width === desktop && inTheDark) expect(await visitor.accessibilityFaults('colours')).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await visitor.showAt(widths[0]!);
  expect(visitor.problems).toEqual([]);
}

async function keepPicture({ page }: Visitor, name: string): Promise<void> {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}
