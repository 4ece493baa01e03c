/** People of a running gateway: who they are, and a browser in which they are signed in. */
import { DashboardClient } from './dashboard-client.js';
import type { TestGateway } from './gateway.js';

export const password = 'correct horse 77';

let count = 0;
export const newAddress = (name: string): string => `${name}-${++count}@example.test`;

export interface SignedIn {
  email: string;
  /** The id of the person. */
  id: string;
  client: DashboardClient;
}

/** An account with its owner, who signed up with it. */
export async function newOwner(gateway: TestGateway): Promise<SignedIn & { accountId: string }> {
  const email = newAddress('owner');
  const account = await gateway.admin('POST', '/accounts', { email, password });
  return { ...(await signIn(gateway, email)), accountId: account.json.id };
}

export async function signIn(gateway: TestGateway, email: string): Promise<SignedIn> {
  const client = new DashboardClient(gateway.url);
  const answer = await client.call('POST', 'sign-in', { email, password });
  if (answer.status !== 200) throw new Error(`${email} cannot sign in: ${answer.text}`);
  return { email, client, id: (answer.json as { person: { id: string } }).person.id };
}

/** Somebody without an account of their own, who is signed in. */
export async function newMember(
  gateway: TestGateway,
  accountId: string,
  role: string,
  projects: readonly string[] | null = null,
): Promise<SignedIn> {
  const email = newAddress(role);
  const added = await gateway.admin('POST', `/accounts/${accountId}/members`, { email, role, projects });
  if (added.status !== 201) throw new Error(`${email} is no member: ${added.text}`);
  const reset = await gateway.admin('POST', `/people/${added.json.id}/password-reset`);
  const token = new URL(reset.json.url).hash.slice(1);
  const client = new DashboardClient(gateway.url);
  await client.call('POST', 'reset-password', { token, password });
  return signIn(gateway, email);
}
