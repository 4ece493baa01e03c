/** A browser window of a given size and theme, signed in or not, which records everything that goes wrong in it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { full } from './scaled.js';

export interface VisitorOptions {
  width?: number;
  theme?: 'light' | 'dark';
}

/** The contrast of colours takes axe-core longer than all its other rules together. */
export type AccessibilityPart = 'colours' | 'all but colours';

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Errors of the console, exceptions, violations of the Content-Security-Policy, requests to elsewhere. */
  problems: string[];
  /** Opens a path of the dashboard and waits until its data is there. */
  visit(path: string): Promise<void>;
  /** Goes to a path of the dashboard as its links do, without loading it again where it is open already. */
  follow(path: string): Promise<void>;
  signUp(email: string, password: string): Promise<void>;
  signIn(email: string, password: string): Promise<void>;
  /** Changes the window to that of a desktop or of a phone, with the page as it is: what is loaded stays loaded. */
  showAt(width: number): Promise<void>;
  /** What axe-core finds on the page as it is; of a part of its rules, where the rest has been looked at. */
  accessibilityFaults(part?: AccessibilityPart): Promise<string[]>;
  close(): Promise<void>;
}

export const desktop = 1440;
export const phone = 390;

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export async function newVisitor(browser: Browser, origin: string, options: VisitorOptions = {}): Promise<Visitor> {
  const look = { width: options.width ?? desktop, theme: options.theme ?? 'light' };
  const context = await contextOf(browser, look);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const problems = watch(page, origin);
  const devtools = await context.newCDPSession(page);

  const visitor: Visitor = {
    page,
    context,
    problems,
    async visit(path) {
      await page.goto(`${origin}/dashboard${path}`);
      await settled(page);
    },
    async follow(path) {
      if (!page.url().startsWith(`${origin}/dashboard`)) return visitor.visit(path);
      await page.evaluate((to) => {
        const { history } = globalThis as unknown as {
          history: { pushState(state: object, title: string, url: string): void };
        };
        history.pushState({}, '', to);
      }, `/dashboard${path}`);
    },
    async signUp(email, password) {
      await page.goto(`${origin}/dashboard/sign-up`);
      await enter(page, email, password, 'Sign up');
    },
    async signIn(email, password) {
      await page.goto(`${origin}/dashboard/sign-in`);
      await enter(page, email, password, 'Sign in');
    },
    showAt: (to) => showAt(devtools, to),
    accessibilityFaults: (part) => axeFaults(page, part),
    async close() {
      if (page.isClosed()) return;
      await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,indexeddb' });
      await page.close();
      await context.clearCookies();
      leave(context, look);
    },
  };
  return visitor;
}

type Look = Required<VisitorOptions>;

/**
 * Contexts whose visitors have left, without their cookies and what pages stored. The next visitor of the same look gets one of them:
 * it still has the dashboard's code, and loading that into a new one costs as much as most of the tests.
 */
const left = new Map<string, BrowserContext[]>();

const nameOf = ({ width, theme }: Look) => `${width} ${theme}`;

function leave(context: BrowserContext, look: Look): void {
  left.set(nameOf(look), [...(left.get(nameOf(look)) ?? []), context]);
}

async function contextOf(browser: Browser, look: Look): Promise<BrowserContext> {
  // Those of an earlier file were closed at its end.
  const kept = left.get(nameOf(look))?.filter((one) => browser.contexts().includes(one)) ?? [];
  const found = kept.pop();
  left.set(nameOf(look), kept);
  if (found) return found;
  const { width, theme } = look;
  return browser.newContext({
    viewport: { width, height: heightOf(width) },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
    ...(width === phone && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
  });
}

/** The same as a window that is opened at that width: a phone has touch, a dense screen, and its own way to lay out a page. */
async function showAt(devtools: CDPSession, width: number): Promise<void> {
  const mobile = width === phone;
  await devtools.send('Emulation.setDeviceMetricsOverride', {
    ...{ width, height: heightOf(width), mobile, deviceScaleFactor: mobile ? 2 : 1 },
    screenOrientation: mobile ? { angle: 0, type: 'portraitPrimary' } : { angle: 0, type: 'landscapePrimary' },
  });
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: mobile });
}

const heightOf = (width: number): number => (width === phone ? 844 : 900);

async function enter(page: Page, email: string, password: string, button: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: button }).click();
}

/** What the page waits for is there: a heading, and no skeleton. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await page.locator('.animate-shimmer').first().waitFor({ state: 'detached' });
}

function watch(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    // The browser itself reports every answer that is no 2xx; what the page makes of it is the tests' to check.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const { protocol, origin: to } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && to !== origin) problems.push(`request to ${request.url()}`);
  });
  return problems;
}

/** One piece of code makes all rows of a table, and axe-core takes long for a hundred of them: the first ones speak for the others. */
const laterRows = full ? [] : ['tbody tr:nth-child(n+9)'];

/** Run from outside of the page's own scripts, so that its Content-Security-Policy stays as it is. */
async function axeFaults(page: Page, part?: AccessibilityPart): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  const run = async ({ only, exclude }: { only: AccessibilityPart | undefined; exclude: string[] }) => {
    const rules = { 'color-contrast': { enabled: only !== 'all but colours' } };
    type Found = { id: string; nodes: { target: unknown[]; failureSummary?: string }[] };
    const { axe } = globalThis as unknown as {
      axe: { run(context: object, options: object): Promise<{ violations: Found[] }> };
    };
    const { violations } = await axe.run(
      { exclude },
      { resultTypes: ['violations'], ...(only === 'colours' ? { runOnly: ['color-contrast'] } : { rules }) },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
  };
  return page.evaluate(run, { only: part, exclude: laterRows });
}
