/** Sign-in, a change of groups and a sign-out at the provider with the npm package oidc-provider, an identity provider that others have written. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { newOwner } from '../../support/people.js';
import { type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { SmallBrowser } from './real-browser.js';

let database: FreshDatabase;
let gateway: TestGateway;
let server: Server;
let groups = ['eng'];
let issuer: string;
const notReached: string[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  const storage = { database_url: database.databaseUrl };
  const before = await startGateway({ embedded: true, config: { storage } });
  const { accountId } = await newOwner(before);
  await before.stop();
  let answer: (...parts: never[]) => unknown = () => {};
  server = createServer((request, response) => void answer(request as never, response as never));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { client_id: 'lodestone', client_secret: 'a-client-secret-of-no-value' };
  const grants = [
    { group: 'eng', account: accountId, role: 'developer' },
    { group: 'leads', account: accountId, role: 'admin' },
  ];
  gateway = await startGateway({
    embedded: true,
    config: { storage, sign_in: { oidc: [{ id: 'corp', issuer, ...client, domains: ['example.com'], grants }] } },
  });
  const at = (path: string) => `${gateway.url}/dashboard/api/oidc/corp/${path}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const { default: Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients: [
      {
        ...client,
        redirect_uris: [at('callback')],
        backchannel_logout_uri: at('backchannel-logout'),
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: { backchannelLogout: { enabled: true } },
    // It refuses to call loopback addresses, by a dispatcher of its own.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of the test'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: 'Ann', groups }),
    }),
  });
  provider.on('backchannel.error', (_context: never, error: Error) => void notReached.push(error.message));
  answer = provider.callback();
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  server?.closeAllConnections();
  server?.close();
  await database?.drop();
});

/** Goes through the pages of the provider, where it shows them. */
async function signIn(browser: SmallBrowser): Promise<void> {
  let page = await browser.visit(`${gateway.url}/dashboard/api/oidc/corp/start`);
  for (let i = 0; i < 3 && page.url.pathname.startsWith('/interaction/'); i++) {
    const isLogin = page.text.includes('name="login"');
    page = await browser.submit(page, isLogin ? { login: 'ann', password: 'x' } : {});
  }
  expect(page.url.pathname, page.text).toBe('/dashboard');
}

it('signs in and follows the groups', async () => {
  const browser = new SmallBrowser();
  await signIn(browser);
  expect(await browser.session(gateway.url)).toMatchObject({
    ...{ signed_in: true, role: 'developer', person: { email: 'ann@example.com', name: 'Ann' } },
  });
  groups = ['leads'];
  const second = new SmallBrowser();
  await signIn(second);
  expect(await second.session(gateway.url)).toMatchObject({ role: 'admin' });
  expect(await browser.session(gateway.url)).toMatchObject({ role: 'admin' });
});

it('a sign-out at the provider ends the session that it began, and no other', async () => {
  const [leaving, staying] = [new SmallBrowser(), new SmallBrowser()];
  await signIn(leaving);
  await signIn(staying);
  const page = await leaving.visit(`${issuer}/session/end`);
  await leaving.submit(page, { logout: 'yes' });
  expect(notReached).toEqual([]);
  expect(await leaving.session(gateway.url)).toMatchObject({ signed_in: false });
  expect(await staying.session(gateway.url)).toMatchObject({ signed_in: true });
});
