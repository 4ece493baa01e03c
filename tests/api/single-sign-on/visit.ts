/** Sign-ins at a scripted identity provider, as a browser makes them. */
import { expect } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import type { TestGateway } from '../../support/gateway.js';
import type { Said, ScriptedProvider } from '../../support/scripted-provider.js';

/** Gets the address of the provider that the gateway leads to. */
export async function begin(client: DashboardClient, id = 'corp'): Promise<string> {
  const answer = await client.call('GET', `oidc/${id}/start`);
  expect(answer.status, answer.text).toBe(302);
  return String(answer.headers.location);
}

/** Goes to the provider and comes back. */
export async function visit(
  client: DashboardClient,
  provider: ScriptedProvider,
  said: Said,
  id = 'corp',
): Promise<Reply> {
  const query = provider.back(await begin(client, id), said);
  return client.call('GET', `oidc/${id}/callback?${query}`);
}

/** The name of the fault that the sign-in page is told; null where the browser is led to the dashboard. */
export function faultIn({ status, headers }: Pick<Reply, 'status' | 'headers'>): string | null {
  expect(status).toBe(302);
  const { pathname, searchParams } = new URL(String(headers.location));
  expect(pathname).toMatch(/^\/dashboard/);
  return searchParams.get('fault');
}

/** Somebody who signs in for the first time. */
export async function arrive(gateway: TestGateway, provider: ScriptedProvider, claims: Json, id = 'corp') {
  const client = new DashboardClient(gateway.url);
  const answer = await visit(client, provider, { claims }, id);
  const session = (await client.call('GET', 'session')).json;
  return { client, answer, fault: faultIn(answer), session };
}

/** The newest refused sign-in of the audit log. */
export async function newestRefusal(gateway: TestGateway): Promise<Json> {
  const { json } = await gateway.admin('GET', '/audit?limit=20');
  return json.data.find(({ action }: Json) => action === 'sign_in.refused')?.details ?? {};
}
