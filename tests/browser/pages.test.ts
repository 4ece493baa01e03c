/**
 * Every page, on a desktop and on a phone, light and dark: it shows its data, axe-core finds nothing, nothing is loaded from
 * elsewhere, and the Content-Security-Policy is never violated. `LODESTONE_SHOTS=<folder>` keeps a picture of each.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, signUp, spawnDashboard, visitorOf } from '../support/dashboard.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { type AccessibilityPart, desktop, phone, settled, type Visitor } from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

let browser: Browser;
let gateway: SpawnedGateway;
let customer: Member;
let newcomer: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await spawnDashboard();
  customer = await signUp(gateway, 'ada@example.test');
  newcomer = await signUp(gateway, 'new@example.test');
  await furnish();
});

afterAll(async () => {
  await browser?.close();
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

const pages: PageCase[] = [
  { path: '/', heading: 'Overview', shows: 'Where requests were served' },
  { path: '/usage', heading: 'Usage', shows: 'northwind' },
  { path: '/credits', heading: 'Credits', shows: 'Welcome' },
  { path: '/keys', heading: 'Keys', shows: 'expired' },
  { path: '/models', heading: 'Models', shows: 'Llama 3.3 70B' },
  { path: '/playground', heading: 'Playground', shows: 'Nothing said yet' },
  { path: '/aliases', heading: 'Aliases', shows: '2 of 5 used' },
  { path: '/fallback', heading: 'Fallback', shows: '3 of 10' },
  { path: '/routing-policy', heading: 'Routing policy', shows: 'What is left' },
  { path: '/account', heading: 'Account and password', shows: 'Requests a minute' },
  { path: '/accounts', heading: 'Accounts', shows: 'new@example.test' },
  { path: '/route-health', heading: 'Route health', shows: 'closed' },
  { path: '/availability', heading: 'Model availability', shows: 'Being moved' },
  { path: '/audit', heading: 'Audit', shows: 'key.create' },
];

/** The others are come to by the way of the links; every address is answered with the same document. */
const byAddress = ['/', '/models', '/audit'];

const empty: PageCase[] = [
  { path: '/', heading: 'Overview', shows: 'Your first answer is three steps away' },
  { path: '/usage', heading: 'Usage', shows: 'No requests yet' },
  { path: '/keys', heading: 'Keys', shows: 'No keys yet' },
  { path: '/aliases', heading: 'Aliases', shows: 'No aliases yet' },
  { path: '/fallback', heading: 'Fallback', shows: 'No fallback' },
];

describeInBrowser.each([desktop, phone])('at %i px, light and dark', (width) => {
  let visitor: Visitor;
  let fresh: Visitor;
  const shot = (page: string) => `${page}-${width}`;

  beforeAll(async () => {
    visitor = await visitorOf(browser, gateway, customer, { width });
    fresh = await visitorOf(browser, gateway, newcomer, { width });
  });
  afterAll(async () => {
    await visitor?.close();
    await fresh?.close();
  });

  it.each(pages)('$heading shows its data', async ({ path, heading, shows }) => {
    await (byAddress.includes(path) ? visitor.visit(path) : visitor.follow(path));
    await visitor.page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await settled(visitor.page);
    await visitor.page.getByText(shows).filter({ visible: true }).first().waitFor();
    await expect.poll(() => visitor.page.title()).toBe(`${heading} · Lodestone`);
    // Colours are the same at every width, and what only a phone shows is on every page: one of them is looked at for it.
    const part = width === phone && path !== '/' ? 'all but colours' : undefined;
    await expectSound(visitor, shot(path.slice(1) || 'overview'), part);
  });

  it('one request has a page with its attempts and its receipt', async () => {
    await visitor.visit('/usage');
    await visitor.page.getByRole('row').filter({ hasText: 'after fallback' }).getByRole('link').first().click();
    await visitor.page.getByText('The request queue is full.').waitFor();
    await expectSound(visitor, shot('request'));
  });

  it('an operator sees one account', async () => {
    await visitor.visit(`/accounts/${customer.accountId}`);
    await visitor.page.getByRole('heading', { name: 'Limits' }).waitFor();
    await expectSound(visitor, shot('one-account'));
  });

  it('a dialog keeps the focus, closes by Escape, and gives the focus back', async () => {
    await visitor.visit('/keys');
    const open = visitor.page.getByRole('button', { name: 'Create key' });
    await open.click();
    await visitor.page.getByRole('dialog').waitFor();
    await expectSound(visitor, shot('create-key'));
    await visitor.page.keyboard.press('Escape');
    await visitor.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await open.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  });

  // What a new account sees is the same few lines at every width; the narrow one is the harder to fit.
  it.each(width === phone ? empty : [])(
    '$heading of a new account says what to do',
    async ({ path, heading, shows }) => {
      await fresh.visit(path);
      await fresh.page.getByText(shows).waitFor();
      await expectSound(fresh, shot(`${heading.toLowerCase()}-empty`));
    },
  );

  it.each(['/sign-in', '/sign-up'])('%s', async (path) => {
    const outsider = await visitorOf(browser, gateway, null, { width });
    await outsider.visit(path);
    await expectSound(outsider, shot(path.slice(1)));
    await outsider.close();
  });
});

const colours = {
  light: { page: 'rgb(249, 250, 250)', heading: 'rgb(20, 24, 29)' },
  dark: { page: 'rgb(13, 15, 18)', heading: 'rgb(236, 238, 241)' },
};

const shownColours = `({
  page: getComputedStyle(document.documentElement).backgroundColor,
  heading: getComputedStyle(document.querySelector('h1')).color,
  moving: document.getAnimations().length,
})`;

async function expectSound(visitor: Visitor, shot: string, part?: AccessibilityPart): Promise<void> {
  const { page } = visitor;
  const isDesktop = page.viewportSize()?.width === desktop;
  const sideways = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(sideways, 'the page scrolls sideways').toBe(0);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    // What follows would say nothing about a theme that is not on the screen yet.
    await expect.poll(() => page.evaluate(shownColours)).toEqual({ ...colours[theme], moving: 0 });
    await keepPicture(visitor, `${shot}-${theme}`);
    // A theme changes colours and nothing else, and they are the same at every width.
    if (theme === 'light') expect(await visitor.accessibilityFaults(part)).toEqual([]);
    else if (isDesktop) expect(await visitor.accessibilityFaults('colours')).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(visitor.problems).toEqual([]);
}

async function keepPicture({ page }: Visitor, name: string): Promise<void> {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}
