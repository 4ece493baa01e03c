import { beforeEach, describe, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { hashCosts } from '../../../tests/support/cheap-passwords.js';
import { adminToken, type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { offerClaim } from '../../accounts/sign-in/demo-claim.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { buildApp } from '../app.js';
import { signInBuckets } from './attempts.js';

const ada = { email: 'ada@example.com', password: 'correct horse 77' };
const sessionCookie = '__Host-lodestone_session';

let fixture: HttpFixture;
let browser: BrowserSession;
beforeEach(async () => {
  fixture = await httpFixture();
  browser = new BrowserSession(fixture.app);
});

async function signedUp(fields = ada): Promise<BrowserSession> {
  const answer = await browser.call('POST', 'sign-up', fields);
  expect(answer.statusCode, answer.body).toBe(201);
  return browser;
}

describe('sign-up', () => {
  it('makes an account and signs in to it, with a cookie that no script and no other site can use', async () => {
    const answer = await browser.call('POST', 'sign-up', { ...ada, name: 'Ada' });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({
      signed_in: true,
      account: { email: ada.email, name: 'Ada', status: 'active', balance_usd: '0' },
      operator: false,
      has_password: true,
      demo: false,
    });
    const set = [answer.headers['set-cookie']].flat().find((line) => line?.startsWith(sessionCookie));
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/']) expect(set).toContain(attribute);
    expect(set).not.toMatch(/domain=/i);
    expect((await browser.call('GET', 'session')).json().account.email).toBe(ada.email);
  });

  it('409 for an address that has an account, 400 for what is no address or no password', async () => {
    await signedUp();
    expect((await browser.call('POST', 'sign-up', ada)).json().error).toMatchObject({
      code: 'account_exists',
      param: 'email',
    });
    const short = await browser.call('POST', 'sign-up', { email: 'b@example.com', password: 'sesame' });
    expect(short.json().error).toMatchObject({ code: 'invalid_request_error', param: 'password' });
    expect(short.body).not.toContain('sesame');
    const nowhere = await browser.call('POST', 'sign-up', { email: 'nowhere', password: ada.password });
    expect(nowhere.json().error).toMatchObject({ code: 'invalid_request_error', param: 'email' });
  });

  it('429 while too many passwords wait to be hashed, and no account is made that nobody could sign in to', async () => {
    const busy = gatewayError('too_many_attempts', { seconds: 10 }, { retryAfterSeconds: 10 });
    const lane = { run: () => Promise.reject(busy) };
    const { signIns } = fixture.deps.dashboard!;
    const { hashing } = signIns as unknown as { hashing: typeof lane };
    Object.assign(signIns, { hashing: lane });
    expect((await browser.call('POST', 'sign-up', ada)).statusCode).toBe(429);
    Object.assign(signIns, { hashing });
    await signedUp();
  });

  it('403 where registration is closed, and no account is made', async () => {
    fixture = await httpFixture({ dashboard: { ...fixture.deps.dashboard!, registration: 'closed' } });
    browser = new BrowserSession(fixture.app);
    const answer = await browser.call('POST', 'sign-up', ada);
    expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'registration_closed']);
    expect(await fixture.store.accounts.findId(ada.email)).toBeNull();
    expect((await browser.call('GET', 'session')).json()).toMatchObject({ signed_in: false, registration: 'closed' });
  });
});

describe('sign-in', () => {
  it('gives the session of the account, whatever the case of the address', async () => {
    await signedUp();
    const other = new BrowserSession(fixture.app);
    const answer = await other.call('POST', 'sign-in', { email: ' ADA@example.com ', password: ada.password });
    expect([answer.statusCode, answer.json().account.email]).toEqual([200, ada.email]);
    expect((await other.call('GET', 'keys')).statusCode).toBe(200);
  });

  it('answers a wrong password and an unknown address alike, word for word and with the same work', async () => {
    await signedUp();
    const ask = async (email: string) => {
      const hashesBefore = hashCosts.length;
      const who = new BrowserSession(fixture.app);
      const answer = await who.call('POST', 'sign-in', { email, password: 'wrong wrong' });
      return { status: answer.statusCode, error: answer.json().error, hashes: hashCosts.slice(hashesBefore) };
    };
    const [known, unknown] = [await ask(ada.email), await ask('nobody@example.com')];
    expect(unknown.status).toBe(401);
    expect(unknown.error).toEqual(known.error);
    expect(unknown.error.code).toBe('sign_in_failed');
    // Hashing is all of the time that an answer takes, so it must not tell which addresses have an account.
    expect(known.hashes).toEqual([expect.any(Number)]);
    expect(unknown.hashes).toEqual(known.hashes);
    expect(known.hashes[0]).toBeGreaterThanOrEqual(16_384);
  });

  it('an account that an operator made signs in with the password that it was given', async () => {
    const { app, asAdmin } = fixture;
    const made = await app.inject({ method: 'POST', url: '/admin/v1/accounts', headers: asAdmin, payload: ada });
    expect(made.json()).toMatchObject({ sign_in: true, operator: false });
    expect((await browser.call('POST', 'sign-in', ada)).statusCode).toBe(200);
  });
});

describe('guesses', () => {
  const guess = (password: string, who = browser) => who.call('POST', 'sign-in', { email: ada.email, password });
  const stranger = () => new BrowserSession(fixture.app);

  it('are refused with 429 and Retry-After, and the owner signs in from elsewhere all the same', async () => {
    await signedUp();
    const attacker = stranger();
    const statuses: number[] = [];
    for (let i = 0; i < 15; i++) statuses.push((await guess(`wrong ${i}`, attacker)).statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    const refused = await guess(ada.password, attacker);
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    fixture.place.address = '198.51.100.7';
    expect((await guess(ada.password, stranger())).statusCode).toBe(200);
  });

  it('of others do not count against a browser that has signed in before, from wherever it comes', async () => {
    const owner = await signedUp();
    const { limiter } = fixture.deps.dashboard!;
    for (let i = 0; i < 50; i++) {
      await limiter.take(signInBuckets({ peer: `198.51.100.${i}`, account: ada.email, device: null }));
    }
    fixture.place.address = '192.0.2.1';
    expect((await guess(ada.password, stranger())).statusCode, 'the account’s own bucket is empty').toBe(429);
    const replica = new BrowserSession(await buildApp(fixture.deps, { draining: false }));
    for (const [name, value] of owner.cookies) replica.cookies.set(name, value);
    expect((await guess(ada.password, replica)).statusCode, 'another process knows the browser too').toBe(200);
    expect((await guess(ada.password, owner)).statusCode).toBe(200);
  });

  it('at the same time count too', async () => {
    await signedUp();
    const attacker = stranger();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`wrong ${i}`, attacker)));
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(10);
  });

  it('are possible again when the time is over, one after the other', async () => {
    await signedUp();
    const attacker = stranger();
    for (let i = 0; i < 11; i++) await guess('wrong', attacker);
    fixture.clock.advance(61_000);
    expect((await guess('wrong', attacker)).statusCode).toBe(401);
    expect((await guess('wrong', attacker)).statusCode).toBe(429);
  });
});

describe('the end of a session', () => {
  it('sign-out ends it in the store, not only in the browser', async () => {
    const owner = await signedUp();
    const stolen = owner.cookieHeader();
    expect((await owner.call('POST', 'sign-out', {})).statusCode).toBe(204);
    expect(owner.cookies.has(sessionCookie)).toBe(false);
    const answer = await owner.call('GET', 'keys', undefined, { headers: { cookie: stolen } });
    expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'session_required']);
  });

  it('a changed password ends every other session and keeps this one', async () => {
    const owner = await signedUp();
    const other = new BrowserSession(fixture.app);
    await other.call('POST', 'sign-in', ada);
    const wrong = await owner.call('POST', 'change-password', { current_password: 'no', new_password: 'new horse 88' });
    expect(wrong.json().error).toMatchObject({ code: 'sign_in_failed', param: 'current_password' });
    const missing = await owner.call('POST', 'change-password', { new_password: 'new horse 88' });
    expect(missing.statusCode).toBe(401);
    const changed = await owner.call('POST', 'change-password', {
      current_password: ada.password,
      new_password: 'new horse 88',
    });
    expect(changed.statusCode).toBe(200);
    expect((await owner.call('GET', 'keys')).statusCode).toBe(200);
    expect((await other.call('GET', 'keys')).statusCode).toBe(401);
    const fresh = new BrowserSession(fixture.app);
    expect((await fresh.call('POST', 'sign-in', ada)).statusCode).toBe(401);
    expect((await fresh.call('POST', 'sign-in', { ...ada, password: 'new horse 88' })).statusCode).toBe(200);
  });

  it('an operator who sets a new password ends them all', async () => {
    const owner = await signedUp();
    const { id } = (await owner.call('GET', 'session')).json().account;
    const url = `/admin/v1/accounts/${id}/password`;
    const payload = { password: 'set by operator' };
    expect((await fixture.app.inject({ method: 'PUT', url, headers: fixture.asAdmin, payload })).statusCode).toBe(204);
    expect((await owner.call('GET', 'keys')).statusCode).toBe(401);
    expect((await owner.call('POST', 'sign-in', { ...ada, ...payload })).statusCode).toBe(200);
  });

  it('a cookie that was changed, or made up, is no session', async () => {
    const owner = await signedUp();
    const value = owner.cookies.get(sessionCookie)!;
    for (const forged of [`${value.slice(0, -6)}AAAAAA`, value.split('.')[0]!, 'x.y', '%']) {
      owner.cookies.set(sessionCookie, forged);
      expect((await owner.call('GET', 'keys')).statusCode).toBe(401);
    }
  });
});

describe('operators', () => {
  it('403 without the rights; the admin token gives them to this session alone, and they can be given back', async () => {
    const owner = await signedUp();
    expect((await owner.call('GET', 'operator/accounts')).json().error.code).toBe('operator_required');
    const wrong = await owner.call('POST', 'operator', { admin_token: 'guess' });
    expect([wrong.statusCode, wrong.json().error.code]).toEqual([401, 'admin_token_wrong']);
    const right = await owner.call('POST', 'operator', { admin_token: adminToken });
    expect(right.json()).toMatchObject({ operator: true, operator_by: 'session' });
    expect((await owner.call('GET', 'operator/accounts')).json().data).toHaveLength(2);
    const other = new BrowserSession(fixture.app);
    await other.call('POST', 'sign-in', ada);
    expect((await other.call('GET', 'operator/audit')).statusCode).toBe(403);
    expect((await owner.call('DELETE', 'operator')).json().operator).toBe(false);
    expect((await owner.call('GET', 'operator/accounts')).statusCode).toBe(403);
  });

  it('a flagged account is an operator wherever it signs in; the audit names the account that acted', async () => {
    const owner = await signedUp();
    const { id } = (await owner.call('GET', 'session')).json().account;
    const url = `/admin/v1/accounts/${id}`;
    const patched = await fixture.app.inject({
      method: 'PATCH',
      url,
      headers: fixture.asAdmin,
      payload: { operator: true },
    });
    expect(patched.json()).toMatchObject({ operator: true, sign_in: true });
    expect((await owner.call('GET', 'session')).json()).toMatchObject({ operator: true, operator_by: 'account' });
    const credit = await owner.call('POST', `operator/accounts/${fixture.account.id}/credits`, { amount_usd: '2.50' });
    expect(credit.statusCode).toBe(201);
    const [entry] = (await owner.call('GET', 'operator/audit')).json().data;
    expect(entry).toMatchObject({ actor: `account:${id}`, action: 'credits.post', subject: fixture.account.id });
  });

  it('an account that nobody can sign in to cannot be one', async () => {
    const url = `/admin/v1/accounts/${fixture.account.id}`;
    const answer = await fixture.app.inject({
      method: 'PATCH',
      url,
      headers: fixture.asAdmin,
      payload: { operator: true },
    });
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'operator']);
  });
});

describe('the demo account', () => {
  it('is claimed by the link, once, and is an operator with a password to set', async () => {
    expect(await offerClaim(fixture), 'there is no demo account').toBeNull();
    await fixture.directory.createAccount('system', { email: 'demo@lodestone.local', name: 'Demo' });
    const token = await offerClaim(fixture);
    const answer = await browser.call('POST', 'claim', { token });
    expect(answer.json()).toMatchObject({ signed_in: true, demo: true, operator: true, has_password: false });
    expect((await browser.call('GET', 'operator/routes')).statusCode).toBe(200);
    const again = await new BrowserSession(fixture.app).call('POST', 'claim', { token });
    expect([again.statusCode, again.json().error.code]).toEqual([401, 'claim_invalid']);
    expect((await browser.call('POST', 'change-password', { new_password: 'my own now' })).statusCode).toBe(200);
    expect((await browser.call('GET', 'session')).json()).toMatchObject({ has_password: true, operator: true });
    expect(await offerClaim(fixture), 'it has an owner').toBeNull();
  });

  it('is not claimed with a link that is too old', async () => {
    await fixture.directory.createAccount('system', { email: 'demo@lodestone.local' });
    const token = await offerClaim(fixture);
    fixture.clock.advance(8 * 86_400_000);
    expect((await browser.call('POST', 'claim', { token })).statusCode).toBe(401);
  });
});
