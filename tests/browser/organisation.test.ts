/**
 * An organisation in a browser: a project with a budget, an invitation, and what each role sees and why it cannot do
 * the rest.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import {
  dashboardCall,
  type Member,
  newEmail,
  password,
  signUp,
  startDashboard,
  visitorOf,
} from '../support/dashboard.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import type { TestGateway } from '../support/gateway.js';
import { settled, type Visitor } from '../support/visitor.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let owner: Member;
let visitor: Visitor;

/** The notices about budgets that the operator's webhook got. */
const alerts: unknown[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const { type, data } = JSON.parse(body);
  if (type === 'budget.threshold') alerts.push(data);
  response.writeHead(204).end();
});
const secret = `whsec_${Buffer.from('the secret of the webhook').toString('base64')}`;

beforeAll(async () => {
  browser = await launchBrowser();
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/notices`;
  gateway = await startDashboard({ notices: { webhook: { url, secret }, interval: '100ms' } });
  owner = await signUp(gateway, 'ada@example.test');
  const path = `/accounts/${owner.accountId}`;
  const key = (await gateway.admin('POST', `${path}/keys`, { name: 'production' })).json as {
    id: string;
    name: string;
  };
  await writeTraffic({
    ...{ databaseUrl: gateway.files.databaseUrl!, accountId: owner.accountId, keys: [key], nowMs: Date.now(), days: 5 },
  });
  await gateway.restart();
  visitor = await visitorOf(browser, gateway, owner);
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  receiver.close();
});

/** About 0.00001 USD. */
const priced = { model: 'northwind/meta/llama-3.3-70b/defra', messages: [{ role: 'user', content: 'Hello' }] };
const echo = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] };
const figure = async (page: Page, label: string): Promise<string> => {
  const shown = page.locator(`[data-figure="${label}"]`);
  const exact = shown.locator('[data-exact]').first();
  return ((await exact.count()) > 0 ? await exact.getAttribute('data-exact') : await shown.textContent()) ?? '';
};

/** The paths of the pages of an account. The list is read as text, because importing it would load the dashboard's components. */
const listText = readFileSync(join(import.meta.dirname, '../../dashboard/src/page-list.ts'), 'utf8');
const accountPages = [...listText.split("title: 'Operator'")[0]!.matchAll(/path: '([^']+)'/g)].map(([, path]) => path!);

/** A window of somebody who was invited as the role. */
async function memberOf(role: string): Promise<Visitor> {
  const email = newEmail(role);
  const invited = await dashboardCall(gateway, 'POST', 'invitations', { email, role, projects: null }, owner);
  const { token } = (await invited.json()) as { token: string };
  const accepted = await dashboardCall(gateway, 'POST', 'invitations/accept', { token, password });
  const cookies = accepted.headers.getSetCookie().map((text) => text.split(';', 1)[0] ?? '');
  const member = await visitorOf(browser, gateway, { email, accountId: owner.accountId, cookie: cookies.join('; ') });
  await member.visit('/');
  return member;
}

describeInBrowser('an organisation', () => {
  it('project, invitation, key of a developer, request, its usage by project, and the alert of the budget', async () => {
    const { page } = visitor;
    await visitor.visit('/projects');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('search');
    await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { level: 1, name: 'search' }).waitFor();
    await page.getByLabel('Budget (USD)').fill('plenty');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByRole('alert').filter({ hasText: 'amount' }).waitFor();
    await page.getByLabel('Budget (USD)').fill('25');
    await page.getByLabel('Alerts at (%)').fill('50, 100');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByText('of $25.00 spent this month').waitFor();
    const answer = await dashboardCall(gateway, 'GET', 'projects', undefined, owner);
    const [, search] = ((await answer.json()) as { data: { id: string; budget: unknown }[] }).data;
    expect(search?.budget).toEqual({ limit_usd: '25', period: 'monthly', alert_at: [0.5, 1] });
    expect(await visitor.accessibilityFaults('all but colours')).toEqual([]);

    await visitor.follow('/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email').fill('grace@example.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const link = (await page.getByTestId('invitation-link').textContent())!;
    await page.keyboard.press('Escape');
    await page.getByText('Close without it?').waitFor();
    await page.getByRole('button', { name: 'Keep it open' }).click();
    expect(await page.getByTestId('invitation-link').textContent()).toBe(link);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('1 invitation not accepted yet').waitFor();

    const grace = await visitorOf(browser, gateway, null);
    await grace.page.goto(link);
    await grace.page.getByLabel('Password').first().fill(password);
    await grace.page.getByRole('button', { name: /join|accept/i }).click();
    await grace.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await grace.follow('/keys');
    await grace.page.getByRole('button', { name: 'Create key' }).click();
    await grace.page.getByLabel('Name').fill('laptop');
    await grace.page.getByLabel('Project').last().selectOption('search');
    await grace.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    const token = (await grace.page.getByTestId('new-token').textContent())!;
    await grace.page.getByRole('button', { name: 'Done' }).click();
    expect((await gateway.call('POST', '/v1/chat/completions', echo, { key: token })).status).toBe(200);
    expect(grace.problems).toEqual([]);
    await grace.close();

    await visitor.visit('/usage?group=project');
    const row = page.getByRole('table', { name: 'By Project' }).getByRole('row').filter({ hasText: 'search' });
    expect(await row.locator('td[data-label="Requests"]').textContent()).toBe('1');
    await row.locator('td[data-label="Requests"] a').click();
    await expect.poll(() => figure(page, 'Requests')).toBe('1');
    await page.getByRole('table', { name: 'Requests' }).getByText('laptop').waitFor();
    await visitor.visit('/keys');
    await page.getByText('held by grace@example.test').waitFor();

    await visitor.visit(`/projects/${search!.id}`);
    await page.getByLabel('Budget (USD)').fill('0.000001');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByText('Budget saved. It holds for the next request.', { exact: true }).waitFor();
    expect((await gateway.call('POST', '/v1/chat/completions', priced, { key: token })).status).toBe(200);
    await expect
      .poll(() => alerts)
      .toEqual([expect.objectContaining({ project: search!.id, threshold: 1, limit_usd: '0.000001' })]);
    const refused = await gateway.call('POST', '/v1/chat/completions', priced, { key: token });
    expect([refused.status, refused.json.error.code]).toEqual([402, 'budget_exceeded']);
    await visitor.visit(`/projects/${search!.id}`);
    await page.getByText('Used up: requests are refused.').waitFor();
    expect(await page.getByText('is not in Usage').count()).toBe(0);
    await gateway.admin('PATCH', `/accounts/${owner.accountId}/projects/${search!.id}`, { opening_spent_usd: '12.5' });
    await visitor.visit(`/projects/${search!.id}`);
    await page.getByText('$12.50 of it is not in Usage').waitFor();
    expect(await visitor.accessibilityFaults('all but colours')).toEqual([]);
    expect(visitor.problems).toEqual([]);
  });

  it.each([
    ['billing', ['keys', 'credentials', 'playground', 'aliases', 'fallback', 'routing-policy', 'members', 'audit-log']],
    ['developer', ['credits', 'credentials', 'members', 'notices', 'audit-log']],
    ['auditor', ['playground']],
  ])('as %s: the menu has the pages of the role, and the others say why they show nothing', async (role, refused) => {
    const member = await memberOf(role);
    const { page } = member;
    const paths = await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => new URL((link as unknown as { href: string }).href).pathname));
    const inMenu = paths.map((path) => path.replace('/dashboard', '') || '/');
    // Those of an account; the last group is for operators.
    expect([...inMenu, ...refused.map((name) => `/${name}`)].sort()).toEqual([...accountPages].sort());
    for (const path of accountPages) {
      // With a document of its own: what the page before shows is not taken for this one's.
      await member.visit(path);
      await settled(page);
      expect(await page.getByText('Could not load this').count(), path).toBe(0);
      const refusals = await page.getByText('Your role does not include this page').count();
      expect([path, refusals]).toEqual([path, inMenu.includes(path) ? 0 : 1]);
    }
    await member.visit('/settings');
    const close = (await page.getByRole('button', { name: 'Close account' }).boundingBox())!;
    const why = (await page.getByRole('button', { name: 'Why can’t I?' }).last().boundingBox())!;
    expect(why.x - close.x - close.width, 'a button does not touch what stands beside it').toBeGreaterThanOrEqual(8);
    await member.follow('/projects');
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create project' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Why can’t I?' }).click();
    await page.getByText(`This needs the role owner or admin in this account, and yours is ${role}.`).waitFor();
    expect(await member.accessibilityFaults('all but colours')).toEqual([]);
    expect(member.problems).toEqual([]);
    await member.close();
  });
});
