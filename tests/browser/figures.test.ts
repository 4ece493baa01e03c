/** The numbers of the Overview, Usage and All usage pages: parts add up to headlines, and both to `/v1/activity` and the ledger. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import type { TestGateway } from '../support/gateway.js';
import { full } from '../support/scaled.js';
import { headline, numberOf, picoOf, rowsOf, type Sums } from '../support/shown-figures.js';
import { settled, type Visitor } from '../support/visitor.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let member: Member;
let visitor: Visitor;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
  member = await signUp(gateway, 'ada@example.test');
  const path = `/accounts/${member.accountId}`;
  const keys: { id: string; name: string }[] = [];
  for (const name of ['production', 'staging', '<b>"quoted"</b>']) {
    keys.push((await gateway.admin('POST', `${path}/keys`, { name })).json as { id: string; name: string });
  }
  await gateway.admin('PATCH', path, { operator: true });
  // A credit and its removal are not no credit.
  await gateway.admin('POST', `${path}/credits`, { amount_usd: '1.00' });
  await gateway.admin('POST', `${path}/credits`, { amount_usd: '-1.00' });
  await writeTraffic({
    ...{ databaseUrl: gateway.files.databaseUrl!, accountId: member.accountId, keys, nowMs: Date.now() },
  });
  await gateway.restart();
  visitor = await visitorOf(browser, gateway, member);
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

/** Opens a page and waits for its report, whose period the figures are compared in. */
async function open(path: string): Promise<{ from: string; to: string }> {
  const answered = visitor.page.waitForResponse(
    (answer) => /\/(usage|operator)\/report\?/.test(answer.url()) && answer.ok(),
  );
  await visitor.visit(path);
  const { from, to } = (await (await answered).json()) as { from: string; to: string };
  await settled(visitor.page);
  return { from, to };
}

async function activity({ from, to }: { from: string; to: string }): Promise<Sums> {
  const answer = await dashboardCall(gateway, 'GET', `v1/activity?from=${from}&to=${to}`, undefined, member);
  const { total } = (await answer.json()) as { total: { requests: number; errors: number; cost_usd: string } };
  return { requests: total.requests, errors: total.errors, pico: picoOf(total.cost_usd) };
}

async function spentByLedger({ from, to }: { from: string; to: string }): Promise<bigint> {
  const { json } = await gateway.admin('GET', `/accounts/${member.accountId}/ledger?limit=100000`);
  const entries = json.data as { kind: string; created_at: string; amount_usd: string }[];
  return entries
    .filter(({ kind, created_at: at }) => kind === 'usage' && at >= from && at < to)
    .reduce((sum, { amount_usd: amount }) => sum - picoOf(amount), 0n);
}

describeInBrowser('figures', () => {
  it.each(['24h', '30d'])(
    'Overview over %s: every part adds up to the headline, activity and ledger',
    async (range) => {
      const period = await open(`/?range=${range}`);
      const shown = await headline(visitor.page);
      expect(shown).toEqual(await activity(period));
      expect(shown.pico).toBe(await spentByLedger(period));
      expect(shown.requests).toBeGreaterThan(0);
      for (const group of ['Model', 'API key', 'Provider', 'Region']) {
        expect(await rowsOf(visitor.page, `By ${group}`), group).toEqual(shown);
      }
      const failed = await visitor.page.locator('td[data-label="Failed attempts"]').allTextContents();
      expect(failed.reduce((sum, text) => sum + numberOf(text), 0)).toBe(shown.errors);
    },
  );

  it('a region has the same grid intensity on the map and in the table', async () => {
    const { page } = visitor;
    const listed = await page.getByRole('listitem').filter({ hasText: 'Stockholm' }).first().textContent();
    const row = page.getByRole('table', { name: 'By Region' }).getByRole('row').filter({ hasText: 'Stockholm' });
    expect(listed).toContain(` ${await row.locator('td[data-label="Grid"]').textContent()}`);
  });

  it.each(['key', 'model', 'provider', 'locode', 'status'])(
    'Usage by %s adds up, also with a filter',
    async (group) => {
      // Filters are put into the question before it is grouped, so two groups speak for the others.
      const filtered = full || group === 'key' || group === 'status';
      const names = { key: 'API key', model: 'Model', provider: 'Provider', locode: 'Region', status: 'Status' };
      const name = `By ${names[group as keyof typeof names]}`;
      const period = await open(`/usage?range=30d&group=${group}`);
      const all = await headline(visitor.page);
      expect(all).toEqual(await activity(period));
      expect(await rowsOf(visitor.page, name)).toEqual(all);
      if (!filtered) return;
      await open(`/usage?range=30d&group=${group}&key=staging&status=error`);
      const some = await headline(visitor.page);
      expect(await rowsOf(visitor.page, name)).toEqual(some);
      expect([some.requests, some.pico]).toEqual([some.errors, 0n]);
      expect(some.errors).toBeGreaterThan(0);
      expect(some.errors).toBeLessThan(all.errors);
    },
  );

  it('All usage adds up to the activity of all accounts', async () => {
    const period = await open('/service?range=30d');
    const shown = await headline(visitor.page);
    const { json } = await gateway.admin('GET', `/activity?from=${period.from}&to=${period.to}&group_by=account`);
    const { requests, errors, cost_usd: cost } = json.total as { requests: number; errors: number; cost_usd: string };
    expect(shown).toEqual({ requests, errors, pico: picoOf(cost) });
    for (const group of ['Account', 'Model', 'Provider', 'Region']) {
      expect(await rowsOf(visitor.page, `By ${group}`), group).toEqual(shown);
    }
  });

  it('Credits: what was added, what was taken off, and the balance are those of the ledger', async () => {
    await visitor.visit('/credits');
    // 20 of the welcome, 25 of the traffic, and 1 that was taken off again.
    await visitor.page.getByText('$46.00', { exact: true }).first().waitFor();
    await visitor.page.getByText('adjusted by −$1.00').waitFor();
    expect(visitor.problems).toEqual([]);
  });

  it('a chart is read by keyboard: each point is announced, and Escape leaves it', async () => {
    const { page } = visitor;
    const { from, to } = await open('/usage?range=30d');
    const answer = await dashboardCall(gateway, 'GET', `usage/report?from=${from}&to=${to}`, undefined, member);
    const { series } = (await answer.json()) as { series: { requests: number; errors: number }[] };
    const announced = page.locator('[aria-live="polite"]').filter({ hasText: 'Requests' });
    const chart = page.getByRole('application', { name: /requests? over time/ });
    await chart.focus();
    expect(await page.locator('[role="application"]:focus').count()).toBe(1);
    expect(await announced.count(), 'nothing before the first key').toBe(0);
    const shownAt = (index: number) =>
      `Requests ${series.at(index)!.requests.toLocaleString('en-GB')}, Errors ${series.at(index)!.errors}`;
    for (const [key, index] of [
      ['End', -1],
      ['ArrowLeft', -2],
      ['ArrowRight', -1],
      ['Home', 0],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => announced.textContent(), { message: key }).toContain(shownAt(index));
    }
    expect(await visitor.accessibilityFaults('all but colours')).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => announced.count()).toBe(0);
    expect(await page.locator('[role="application"]:focus').count()).toBe(0);
  });

  it('a page asks for its data before it knows the session, and only once', async () => {
    const { page } = visitor;
    let asked = 0;
    await page.route('**/dashboard/api/usage/report*', (route) => {
      asked++;
      return route.continue();
    });
    await page.route('**/dashboard/api/session', async (route) => {
      await expect.poll(() => asked).toBe(1);
      await route.continue();
    });
    await visitor.visit('/');
    await page.locator('[data-figure="Requests"]').waitFor();
    expect(asked).toBe(1);
    await page.unrouteAll();
  });

  it('a model is found by its id from any page, and opens', async () => {
    const { page } = visitor;
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('meta/llama-3.3-70b');
    await page.getByRole('option').filter({ hasText: 'Llama 3.3 70B' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Llama 3.3 70B' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/models/meta/llama-3.3-70b');
  });

  it('a request is found by its request id from any page, and its receipt adds up', async () => {
    const { page } = visitor;
    const answer = await dashboardCall(gateway, 'GET', 'usage/requests?limit=1&sort=cost', undefined, member);
    const [record] = ((await answer.json()) as { data: { id: string; request_id: string; cost_usd: string }[] }).data;
    await visitor.visit('/aliases');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(record!.request_id);
    await page.getByRole('option').filter({ hasText: record!.id }).waitFor();
    await page.keyboard.press('Enter');
    const receipt = page.getByTestId('receipt');
    await receipt.waitFor();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/usage/${record!.id}`);
    const lines = await receipt.locator('td[data-label="Cost"]').allTextContents();
    expect(lines.reduce((sum, text) => sum + picoOf(text), 0n)).toBe(picoOf(record!.cost_usd));
    expect(visitor.problems).toEqual([]);
  });
});
