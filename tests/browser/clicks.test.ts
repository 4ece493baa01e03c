/**
 * Every figure that leads somewhere is the same after the click, and totals are those of what they count. Nothing is dead, and nothing is
 * lost without a question: every button of every page is clicked as owner, developer, billing, auditor and
 * operator. A click does something that can be seen, and none deletes anything at once. What it would change is held back, so that each
 * button finds the page as it was. Of buttons of one name on a page the first is clicked. `LODESTONE_FULL=1` does it as all of them;
 * without it as those who have the most and among the least.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, newEmail, password, signUp, visitorOf } from '../support/dashboard.js';
import { catalogueOfEveryKind, sendEveryKind } from '../support/dashboard-requests.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { FigureClicks } from '../support/linked-figures.js';
import { full } from '../support/scaled.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { settled, type Visitor } from '../support/visitor.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 180_000 });

let browser: Browser;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let owner: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  upstream = await startUpstream();
  gateway = await startGateway({
    catalogue: catalogueOfEveryKind(upstream),
    config: { registration: 'open', secrets: { key_file: makeSecretsKey() } },
  });
  owner = await signUp(gateway, 'ada@example.test');
  const path = `/accounts/${owner.accountId}`;
  const key = (await gateway.admin('POST', `${path}/keys`, { name: 'production' })).json as {
    id: string;
    name: string;
  };
  const put = (method: string, at: string, body: unknown) => dashboardCall(gateway, method, at, body, owner);
  await put('POST', 'projects', { name: 'search', budget: { limit_usd: '50', period: 'monthly' } });
  await put('POST', 'v1/aliases', { name: 'fast', target: 'auto/meta/llama-3.3-70b' });
  await put('PUT', 'v1/fallback', { fallback: { models: ['auto/qwen/qwen3-32b'] } });
  await writeTraffic({
    ...{ databaseUrl: gateway.files.databaseUrl!, accountId: owner.accountId, keys: [key], nowMs: Date.now(), days: 9 },
  });
  await gateway.restart();
  await sendEveryKind(gateway, owner, upstream);
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  await upstream?.stop();
});

async function memberOf(role: string): Promise<Member> {
  const email = newEmail(role);
  const invited = await dashboardCall(gateway, 'POST', 'invitations', { email, role, projects: null }, owner);
  const { token } = (await invited.json()) as { token: string };
  const accepted = await dashboardCall(gateway, 'POST', 'invitations/accept', { token, password });
  const cookies = accepted.headers.getSetCookie().map((text) => text.split(';', 1)[0] ?? '');
  return { email, accountId: owner.accountId, cookie: cookies.join('; ') };
}

async function personOf(role: string): Promise<Member> {
  if (role === 'operator') await gateway.admin('PATCH', `/accounts/${owner.accountId}`, { operator: true });
  return role === 'owner' || role === 'operator' ? owner : memberOf(role);
}

async function projectOf(wanted: string): Promise<string> {
  const { data } = (await (await dashboardCall(gateway, 'GET', 'projects', undefined, owner)).json()) as {
    data: { id: string; name: string }[];
  };
  return data.find(({ name }) => name === wanted)!.id;
}

/** Another period than the one that pages show by themselves, so that a link that loses it leads to other figures. */
const searched: Readonly<Record<string, string>> = { '/': '/?range=24h', '/service': '/service?range=24h' };

const grouped = (project: string) => [
  ...['project', 'key', 'model', 'provider', 'locode'].map((group) => `/usage?range=30d&group=${group}`),
  `/usage?range=24h&group=status&project=${project}`,
];

interface Change {
  method: string;
  path: string;
}

/** Answers every change with a refusal, and notes it. */
async function holdBack(page: Page): Promise<Change[]> {
  const changes: Change[] = [];
  const body = JSON.stringify({ error: { type: 'api_error', message: 'The test holds this back.' } });
  await page.route('**/dashboard/api/**', async (route) => {
    const method = route.request().method();
    if (method === 'GET') return route.fallback();
    const { pathname } = new URL(route.request().url());
    // Reading, in spite of the method.
    if (/\/(preview|explain)$/.test(pathname)) return route.fallback();
    changes.push({ method, path: pathname });
    await route.fulfill({ status: 409, contentType: 'application/json', body });
  });
  return changes;
}

const pathsOf = (page: Page) =>
  page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link')
    .evaluateAll((links) =>
      links.map(
        (link) => new URL((link as unknown as { href: string }).href).pathname.replace(/^\/dashboard/, '') || '/',
      ),
    );

/** What a reader could notice: the page's text and states, its address, the clipboard, and what is open. */
async function watchChanges(page: Page): Promise<void> {
  await page.evaluate(() => {
    const scope = globalThis as unknown as Record<string, unknown>;
    const {
      document,
      MutationObserver,
      Object: { assign },
    } = scope as never as {
      document: { body: object; addEventListener(name: string, listener: () => void, capture: boolean): void };
      MutationObserver: new (seen: () => void) => { observe(at: object, options: object): void };
      Object: typeof Object;
    };
    if (scope.changesSeen !== undefined) return;
    assign(scope, { changesSeen: 0 });
    const noticed = () => {
      scope.changesSeen = Number(scope.changesSeen) + 1;
    };
    new MutationObserver(noticed).observe(document.body, {
      ...{ subtree: true, childList: true, characterData: true, attributes: true },
    });
    for (const name of ['toggle', 'beforetoggle', 'focusin']) document.addEventListener(name, noticed, true);
  });
}

const seen = (page: Page) => page.evaluate('changesSeen') as Promise<number>;

interface Found {
  clicked: number;
  faults: string[];
}

async function clickAll(visitor: Visitor, path: string, changes: Change[]): Promise<Found> {
  const { page } = visitor;
  const found: Found = { clicked: 0, faults: [] };
  const open = async () => {
    await visitor.visit(path);
    await watchChanges(page);
  };
  await open();
  // What a click adds to the page is not clicked: it is in a dialog, or on another page.
  const names = await page
    .getByRole('main')
    .getByRole('button')
    .evaluateAll((buttons) =>
      buttons.map((button) => {
        const { disabled, textContent, ariaLabel } = button as unknown as {
          disabled: boolean;
          textContent: string;
          ariaLabel: string | null;
        };
        return disabled ? '' : (ariaLabel ?? textContent).trim();
      }),
    );
  for (const name of new Set(names.filter((text) => text !== ''))) {
    const button = page.getByRole('main').getByRole('button', { name, exact: true }).first();
    if ((await button.count()) === 0 || !(await button.isVisible()) || (await button.isDisabled())) continue;
    const before = { url: page.url(), changes: changes.length, seen: await seen(page) };
    await button.click({ timeout: 10_000 });
    found.clicked++;
    const isNoticed = async () =>
      page.url() !== before.url || changes.length > before.changes || (await seen(page)) > before.seen;
    for (let tries = 0; !(await isNoticed()); tries++) {
      if (tries === 30) {
        found.faults.push(`${path}: "${name}" does nothing`);
        break;
      }
      await page.waitForTimeout(100);
    }
    const lost = changes.slice(before.changes).filter(({ method }) => method === 'DELETE');
    if (lost.length > 0) found.faults.push(`${path}: "${name}" deletes ${lost[0]!.path} without a question`);
    if ((await page.getByText('This page has failed').count()) > 0)
      found.faults.push(`${path}: "${name}" breaks the page`);
    await page.keyboard.press('Escape');
    const isAsItWas = new URL(page.url()).pathname === new URL(before.url).pathname;
    if (!isAsItWas || (await page.locator('dialog[open]').count()) > 0) await open();
  }
  return found;
}

async function clickThrough(member: Member): Promise<Found> {
  const visitor = await visitorOf(browser, gateway, member);
  const changes = await holdBack(visitor.page);
  await visitor.visit('/');
  const sum: Found = { clicked: 0, faults: [] };
  for (const path of [...(await pathsOf(visitor.page)), '/account']) {
    const { clicked, faults } = await clickAll(visitor, path, changes);
    sum.clicked += clicked;
    sum.faults.push(...faults);
  }
  expect(visitor.problems).toEqual([]);
  await settled(visitor.page);
  await visitor.page.unrouteAll({ behavior: 'ignoreErrors' });
  await visitor.close();
  return sum;
}

const allRoles = ['developer', 'billing', 'auditor', 'owner', 'operator'];

describeInBrowser('every figure', () => {
  /** What others have clicked. */
  const known = new Set<string>();

  it.each(full ? allRoles : ['developer', 'operator'])('is the same after the click for a %s', async (role) => {
    const visitor = await visitorOf(browser, gateway, await personOf(role));
    const figures = new FigureClicks(visitor, full, known);
    await visitor.visit('/');
    // What the Overview leaves out of its tables is shown by Usage.
    const shown = (await pathsOf(visitor.page)).map((path) => searched[path] ?? path);
    const waiting = [...grouped(await projectOf('assistant')), ...shown];
    const kinds = new Set<string>();
    const faults: string[] = [];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const compared = await figures.compare(path);
      faults.push(...compared.faults);
      // Of the pages of one thing, such as a project, the first.
      for (const href of compared.leads) {
        const [, kind = '', id] = href.split(/[/?]/);
        if (!/^\/\w+\/[^?]/.test(href) || id === undefined || kinds.has(kind)) continue;
        kinds.add(kind);
        waiting.push(href);
      }
    }
    expect(faults).toEqual([]);
    expect(known.size).toBeGreaterThan(30);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });
});

describeInBrowser('every button', () => {
  it.each(full ? allRoles : ['developer', 'operator'])('does something for a %s, and loses nothing', async (role) => {
    const { clicked, faults } = await clickThrough(await personOf(role));
    expect(faults).toEqual([]);
    expect(clicked).toBeGreaterThan(10);
  });
});
