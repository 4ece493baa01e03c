/**
 * No dead end: every link that a user and an operator can reach leads to a page that shows something. Of links of one kind, such as those
 * to models, the first is followed; `LODESTONE_FULL=1` follows them all.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import { full } from '../support/scaled.js';
import { settled, type Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

/**
 * The dashboard's own pages are opened in the browser; pages of the guide are the same for all, so they are only asked for. `known` has the
 * kinds of pages that were opened before, and gets those that are opened now.
 */
async function crawl(member: Member, known: Set<string>): Promise<{ seen: string[]; dead: string[] }> {
  const visitor = await visitorOf(browser, gateway, member);
  const { page } = visitor;
  const waiting = ['/dashboard/'];
  const seen = new Set<string>(waiting);
  const dead: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    // The first page has the navigation, which is another one for an operator.
    if (known.has(kind) && path !== '/dashboard/' && !full) continue;
    known.add(kind);
    if (!path.startsWith('/dashboard')) {
      const { status } = await fetch(gateway.url + path, { headers: { accept: 'text/html' } });
      if (status !== 200) dead.push(`${path} ${status}`);
      continue;
    }
    await go(visitor, path.slice('/dashboard'.length));
    if ((await page.title()).startsWith('Page not found')) dead.push(path);
    if ((await page.getByText('Could not load this').count()) > 0) dead.push(`${path} shows an error`);
    for (const next of await linksOf(page)) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  expect(visitor.problems).toEqual([]);
  await visitor.close();
  return { seen: [...seen], dead };
}

const between = 'Account and password';

/**
 * Goes to a page as a link does, without loading the dashboard again. It comes from the account page each time, so that another heading
 * tells that the new page is there.
 */
async function go(visitor: Visitor, path: string): Promise<void> {
  if (path === '/' || path === '/account') return visitor.visit(path);
  const headings = visitor.page.getByRole('heading', { level: 1 });
  await visitor.follow('/account');
  await headings.filter({ hasText: between }).waitFor();
  await visitor.follow(path);
  await headings.filter({ hasNotText: between }).waitFor();
  await settled(visitor.page);
}

/** Pages of one kind differ in the thing that they show or in the values of their parameters. Every page of the guide is a kind. */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, gateway.url);
  if (!pathname.startsWith('/dashboard')) return pathname;
  const [, , page, ...things] = pathname.split('/');
  return [page, ...things.map(() => '*'), ...[...searchParams.keys()].sort()].join('/');
}

/** Of this gateway, without the place on the page. */
async function linksOf(page: Page): Promise<string[]> {
  // Also those in menus that are closed. By role it would take as long as the page itself.
  const all = await page
    .locator('a[href]')
    .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));
  return all.flatMap((href) => {
    const { origin, pathname, search } = new URL(href);
    return origin === gateway.url && !pathname.endsWith('.csv') ? [pathname + search] : [];
  });
}

describeInBrowser('every link', () => {
  it('leads a user, and an operator, to a page that shows something', async () => {
    const user = await signUp(gateway, newEmail('walker'));
    const operator = await signUp(gateway, newEmail('operator'));
    await gateway.admin('PATCH', `/accounts/${operator.accountId}`, { operator: true });
    const asked = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hi' }] };
    await dashboardCall(gateway, 'POST', 'playground/chat', asked, user);
    const known = new Set<string>();
    const ofUser = await crawl(user, known);
    expect(ofUser.dead).toEqual([]);
    expect(ofUser.seen).toEqual(
      expect.arrayContaining(['/dashboard/models/meta/llama-3.3-70b', '/dashboard/playground']),
    );
    const ofOperator = await crawl(operator, known);
    expect(ofOperator.dead).toEqual([]);
    expect(ofOperator.seen).toContain(`/dashboard/accounts/${user.accountId}`);
  });

  it('an address without a page keeps the navigation', async () => {
    const visitor = await visitorOf(browser, gateway, await signUp(gateway, newEmail('lost')));
    await visitor.visit('/nothing/here');
    await visitor.page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await visitor.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Models' }).click();
    await visitor.page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await visitor.close();
  });
});
