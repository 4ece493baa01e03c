/** A gateway with the dashboard's catalogue, and accounts in it that can sign in; made over HTTP, as the pages would. */
import type { Browser } from 'playwright-core';
import { dashboardCatalogue } from './dashboard-catalogue.js';
import { type SpawnedGateway, spawnGateway, startGateway, type TestGateway } from './gateway.js';
import type { YamlObject } from './gateway-files.js';
import { newVisitor, type Visitor, type VisitorOptions } from './visitor.js';

export const password = 'correct horse battery';

const optionsWith = (config: YamlObject) => ({
  catalogue: dashboardCatalogue,
  config: { registration: 'open', ...config },
});

export function startDashboard(config: YamlObject = {}): Promise<TestGateway> {
  return startGateway(optionsWith(config));
}

/** In a process of its own, for a test that restarts it. */
export function spawnDashboard(config: YamlObject = {}): Promise<SpawnedGateway> {
  return spawnGateway(optionsWith(config));
}

export type DashboardGateway = TestGateway | SpawnedGateway;

export interface Member {
  email: string;
  accountId: string;
  /** The session's cookie, as `name=value`. */
  cookie: string;
}

let addresses = 0;

/** An address that nobody has signed up with, also where a test is tried again. */
export const newEmail = (name: string): string => `${name}-${++addresses}@example.test`;

/** Signs up with 20 USD of credit. */
export async function signUp(gateway: DashboardGateway, email: string): Promise<Member> {
  const answer = await dashboardCall(gateway, 'POST', 'sign-up', { email, password });
  const session = (await answer.json()) as { account: { id: string } };
  const cookies = answer.headers.getSetCookie().map((text) => text.split(';', 1)[0] ?? '');
  await gateway.admin('POST', `/accounts/${session.account.id}/credits`, { amount_usd: '20.00', note: 'Welcome' });
  return { email, accountId: session.account.id, cookie: cookies.join('; ') };
}

/** A call as the dashboard's own pages make it; throws where it is refused. */
export async function dashboardCall(
  gateway: DashboardGateway,
  method: string,
  path: string,
  body?: unknown,
  member?: Member,
): Promise<Response> {
  const answer = await fetch(`${gateway.url}/dashboard/api/${path}`, {
    method,
    headers: {
      'x-lodestone-dashboard': '1',
      origin: gateway.url,
      ...(member && { cookie: member.cookie }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** A window in which the member is signed in. */
export async function visitorOf(
  browser: Browser,
  gateway: DashboardGateway,
  member: Member | null,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const visitor = await newVisitor(browser, gateway.url, options);
  if (member) {
    const cookies = member.cookie.split('; ').map((text) => {
      const at = text.indexOf('=');
      return { name: text.slice(0, at), value: text.slice(at + 1), url: gateway.url };
    });
    await visitor.context.addCookies(cookies);
  }
  return visitor;
}
