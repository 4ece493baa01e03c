/**
 * Sign-in and a change of groups with Dex, an identity provider in Go that others have written. LODESTONE_DEX names its program; without it
 * these tests are skipped by name. Dex has no sign-out that it tells its clients about.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { newOwner } from '../../support/people.js';
import { type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { registerSecret } from '../../support/secrets.js';
import { SmallBrowser } from './real-browser.js';
import { newestRefusal } from './visit.js';

const program = process.env.LODESTONE_DEX ?? '';
const login = { login: 'ann@example.com', password: 'password' };
/** Of "password", by bcrypt. */
const hash = '$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W';
const client = { client_id: 'lodestone', client_secret: 'a-client-secret-of-no-value' };
registerSecret('the secret of the client', client.client_secret);

let database: FreshDatabase;
let gateway: TestGateway;
let dex: ChildProcess | null = null;
let issuer: string;

/** In the place of the one that runs, with new keys, as its store is in memory. */
async function startDex(person: { groups: string[]; email?: string; emailVerified?: boolean }): Promise<void> {
  await stopDex();
  const file = join(gateway.files.folder, 'dex.yaml');
  const { host } = new URL(issuer);
  const config = {
    ...{ issuer, storage: { type: 'memory' }, web: { http: host }, enablePasswordDB: true },
    oauth2: { skipApprovalScreen: true },
    staticClients: [
      {
        ...{ id: client.client_id, secret: client.client_secret, name: 'Lodestone' },
        redirectURIs: [`${gateway.url}/dashboard/api/oidc/corp/callback`],
      },
    ],
    staticPasswords: [{ email: login.login, hash, username: 'Ann', userID: '08a8684b', ...person }],
  };
  writeFileSync(file, JSON.stringify(config));
  dex = spawn(program, ['serve', file], { stdio: 'ignore' });
  const answers = () =>
    fetch(`${issuer}/.well-known/openid-configuration`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers, { timeout: 30_000 }).toBe(true);
}

async function stopDex(): Promise<void> {
  const running = dex;
  dex = null;
  if (!running || running.exitCode !== null) return;
  const exited = new Promise((resolve) => running.once('exit', resolve));
  running.kill('SIGKILL');
  await exited;
}

async function signIn(browser: SmallBrowser): Promise<URL> {
  const form = await browser.visit(`${gateway.url}/dashboard/api/oidc/corp/start`);
  expect(form.text).toContain('name="password"');
  return (await browser.submit(form, login)).url;
}

describe.skipIf(!existsSync(program))('Dex (LODESTONE_DEX names its program)', () => {
  beforeAll(async () => {
    database = await freshDatabase();
    const storage = { database_url: database.databaseUrl };
    const before = await startGateway({ embedded: true, config: { storage } });
    const { accountId } = await newOwner(before);
    await before.stop();
    issuer = `http://127.0.0.1:${await freePort()}`;
    const grants = [
      { group: 'eng', account: accountId, role: 'developer' },
      { group: 'leads', account: accountId, role: 'admin' },
    ];
    const oidc = [{ id: 'corp', issuer, ...client, domains: ['example.com'], grants }];
    gateway = await startGateway({ embedded: true, config: { storage, sign_in: { oidc } } });
  }, 120_000);
  afterAll(async () => {
    await stopDex();
    await gateway?.stop();
    await database?.drop();
  });

  it('signs in, follows the groups, and takes the keys that it has after a restart', async () => {
    await startDex({ groups: ['eng'] });
    const browser = new SmallBrowser();
    expect((await signIn(browser)).pathname).toBe('/dashboard');
    expect(await browser.session(gateway.url)).toMatchObject({
      ...{ signed_in: true, role: 'developer', person: { email: 'ann@example.com' } },
    });
    await startDex({ groups: ['leads'] });
    const second = new SmallBrowser();
    expect((await signIn(second)).pathname).toBe('/dashboard');
    expect(await second.session(gateway.url)).toMatchObject({ role: 'admin' });
    expect(await browser.session(gateway.url), 'in the session that was open').toMatchObject({ role: 'admin' });
  }, 120_000);

  it('refuses whom no group lets in any more, whose email is not verified, and everybody while it is away', async () => {
    for (const [person, fault] of [
      [{ groups: ['guests'] }, 'no_access'],
      [{ groups: ['eng'], emailVerified: false }, 'email_not_verified'],
    ] as const) {
      await startDex({ ...person, groups: [...person.groups] });
      const browser = new SmallBrowser();
      expect((await signIn(browser)).searchParams.get('fault')).toBe(fault);
      expect(await newestRefusal(gateway)).toMatchObject({ fault });
      expect(await browser.session(gateway.url)).toMatchObject({ signed_in: false });
    }
    await stopDex();
    const page = await new SmallBrowser().visit(`${gateway.url}/dashboard/api/oidc/corp/start`);
    expect(page.url.searchParams.get('fault')).toBe('provider_unavailable');
  }, 120_000);
});
