import { createHmac, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atFullCost } from '../../../tests/support/cheap-passwords.js';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Account } from '../../domain/account.js';
import { openStore } from '../../storage/open-store.js';
import { type Store, StoreUnavailable } from '../../storage/store.js';
import { SignIns } from './sign-ins.js';

let database: FreshDatabase;
let store: Store;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

let count = 0;
async function newAccount(): Promise<Account> {
  const id = `account-${++count}`;
  await store.accounts.create({
    id,
    email: `${id}@example.com`,
    name: 'Ann',
    billingCountry: null,
    createdAt: Date.now(),
  });
  return (await store.accounts.find(id))!;
}

function signInsOf(of: Store): SignIns {
  const directory = { account: (id: string) => of.accounts.find(id) };
  const clock = { now: () => Date.now() };
  const address = { baseUrl: 'https://ai.example.com', secure: true };
  return new SignIns({
    store: of.signIn,
    people: of.people,
    identities: of.identities,
    passwords: true,
    directory,
    clock,
    tokens: { admin: 'an admin token' },
    ...address,
  });
}

const cookieOf = (cookies: readonly string[]) => cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ');

describe('sign-in on PostgreSQL', () => {
  it('keeps passwords as hashes and sessions that another replica accepts', async () => {
    const account = await newAccount();
    const [one, other] = [signInsOf(store), signInsOf(store)];
    await one.setPassword(account, 'correct horse');
    expect(await one.verifySignIn(account.email, 'wrong horse')).toBeNull();
    expect(await one.verifySignIn(account.email, 'correct horse')).toBe(account.id);
    const cookies = await one.open(account.id);
    const found = await other.session(cookieOf(cookies));
    expect(found.session).toMatchObject({
      person: { id: account.id },
      current: { account: { id: account.id }, role: 'owner' },
      operatorBy: null,
    });
    const kept = await query('select password from lodestone.sign_in_credentials');
    expect(JSON.stringify(kept)).not.toContain('correct horse');
    await other.signOut(cookieOf(cookies));
    expect((await one.session(cookieOf(cookies))).session).toBeNull();
  });

  it('hashes a password at a cost that makes guessing slow, and accepts it at that cost', () =>
    atFullCost(async () => {
      const account = await newAccount();
      const signIns = signInsOf(store);
      await signIns.setPassword(account, 'correct horse');
      const [kept] = await query(`select password from lodestone.sign_in_credentials where user_id = '${account.id}'`);
      const [salt, key] = (kept as { password: string }).password.split(':');
      const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };
      expect(scryptSync('correct horse', salt!, 64, cost).toString('hex')).toBe(key);
      expect(await signIns.verifySignIn(account.email, 'correct horse')).not.toBeNull();
      expect(await signIns.verifySignIn(account.email, 'wrong horse')).toBeNull();
    }));

  it('keeps no session token that opens the session, even with the secret that signs cookies', async () => {
    const account = await newAccount();
    const signIns = signInsOf(store);
    await signIns.setPassword(account, 'correct horse');
    const cookie = cookieOf(await signIns.open(account.id));
    const [row] = (await query(`select * from lodestone.sign_in_sessions where user_id = '${account.id}'`)) as [
      { id: string; token: string },
    ];
    const secret = await store.signIn.secret('another');
    const signed = (token: string) => {
      const signature = createHmac('sha256', secret).update(token).digest('base64');
      return `__Host-lodestone_session=${encodeURIComponent(`${token}.${signature}`)}`;
    };
    const held = decodeURIComponent(cookie).replace('__Host-lodestone_session=', '').split('.')[0]!;
    expect(signed(held), 'the cookie is made like this').toBe(cookie);
    expect(JSON.stringify(row)).not.toContain(held);
    for (const value of [row.token, row.id]) expect((await signIns.session(signed(value))).session).toBeNull();
    expect((await signIns.session(cookie)).session, 'and the session is used, prolonged and ended').not.toBeNull();
    await query(`update lodestone.sign_in_sessions set expires_at = now() + interval '2 days'`);
    const prolonged = await signIns.session(cookie);
    expect([prolonged.session?.current?.account.id, cookieOf(prolonged.cookies)]).toEqual([account.id, cookie]);
    await signIns.signOut(cookie);
    expect((await signIns.session(cookie)).session).toBeNull();
    expect(await query(`select from lodestone.sign_in_sessions where user_id = '${account.id}'`)).toEqual([]);
  });

  it('knows who can sign in, who has a password and who is an operator', async () => {
    const [withPassword, byLink, neither] = [await newAccount(), await newAccount(), await newAccount()];
    const signIns = signInsOf(store);
    await signIns.setPassword(withPassword, 'correct horse');
    await signIns.admitAsOperator(byLink);
    await store.people.update(withPassword.id, { operator: true });
    const users = new Map((await store.signIn.list()).map((user) => [user.accountId, user]));
    expect(users.get(withPassword.id)).toMatchObject({ operator: true, hasPassword: true });
    expect(users.get(byLink.id)).toMatchObject({ operator: true, hasPassword: false });
    expect(users.has(neither.id)).toBe(false);
  });

  it('gives a one-time token out once, also to many at the same time, and not after its time', async () => {
    const { signIn } = store;
    await signIn.keepOnlyToken('claim:a', 'account-1', Date.now() + 1000);
    const taken = await Promise.all(Array.from({ length: 8 }, () => signIn.takeToken('claim:a', Date.now())));
    expect(taken.filter((value) => value !== null)).toEqual(['account-1']);
    await signIn.keepOnlyToken('claim:b', 'account-1', 1000);
    expect(await signIn.takeToken('claim:b', 1000)).toBeNull();
    expect(await signIn.takeToken('claim:b', 0), 'and it is gone').toBeNull();
  });

  it('signs with one secret, whoever was first', async () => {
    const first = await store.signIn.secret('candidate a');
    expect(await store.signIn.secret('candidate b')).toBe(first);
  });

  it('forgets what has expired, and nothing else', async () => {
    const account = await newAccount();
    const signIns = signInsOf(store);
    await signIns.setPassword(account, 'correct horse');
    const cookie = cookieOf(await signIns.open(account.id));
    await store.signIn.keepOnlyToken('claim:c', 'x', 1000);
    await store.signIn.forgetExpired(Date.now());
    expect(await query(`select from lodestone.sign_in_tokens where identifier = 'claim:c'`)).toEqual([]);
    expect((await signIns.session(cookie)).session).not.toBeNull();
    await store.signIn.forgetExpired(Date.now() + 8 * 86_400_000);
    expect((await signIns.session(cookie)).session).toBeNull();
  });

  it('says StoreUnavailable, and never "wrong password", where the store is away', async () => {
    const own = await freshDatabase();
    const away = await openStore({ connection: own.connection, logger });
    const signIns = signInsOf(away);
    const cookie = '__Host-lodestone_session=a.b';
    await signIns.session(cookie);
    await own.drop();
    await expect(signIns.verifySignIn('a@example.com', 'correct horse')).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(away.signIn.list()).rejects.toBeInstanceOf(StoreUnavailable);
    await away.close();
  });
});

async function query(text: string): Promise<object[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...database.connection });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
