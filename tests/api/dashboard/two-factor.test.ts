import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeAt } from '../../support/authenticator.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { registerSecret } from '../../support/secrets.js';
import { query } from '../database.js';

const clock = new ManualClock(Date.now());
const minute = 60_000;
const password = 'correct horse battery';
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ clock, config: { registration: 'open' } });
}, 120_000);
afterAll(() => gateway?.stop());
// Every bucket is full again.
beforeEach(() => clock.advance(60 * minute));

const newClient = (url = gateway.url) => new DashboardClient(url);

interface Member {
  client: DashboardClient;
  id: string;
  email: string;
}

let count = 0;
async function signUp(url = gateway.url): Promise<Member> {
  const client = newClient(url);
  const email = `member-${++count}@example.test`;
  const { json } = await client.call('POST', 'sign-up', { email, password });
  return { client, id: json.account.id, email };
}

interface Enrolled extends Member {
  secret: string;
  recovery: string[];
}

async function enrol(member?: Member): Promise<Enrolled> {
  const { client, id, email } = member ?? (await signUp());
  const begun = await client.call('POST', 'two-factor', { password });
  expect(begun.status, begun.text).toBe(200);
  const { secret, otpauth_url: url } = begun.json;
  expect(url).toContain(`otpauth://totp/Lodestone:${encodeURIComponent(email)}?secret=${secret}`);
  const done = await client.call('POST', 'two-factor/confirm', { code: codeAt(secret, clock.now()) });
  expect(done.status, done.text).toBe(200);
  const recovery = done.json.recovery_codes as string[];
  for (const code of recovery) registerSecret('a recovery code', code);
  // The code of the enrolment is used up.
  clock.advance(minute);
  return { client, id, email, secret, recovery };
}

const signIn = (email: string, code?: string, client = newClient()) =>
  client.call('POST', 'sign-in', { email, password, ...(code !== undefined && { code }) });
const codeOf = ({ secret }: Enrolled, steps = 0) => codeAt(secret, clock.now(), steps);
const outcomeOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) => [
  status,
  json.error?.code,
];
const wrong = [401, 'two_factor_code_wrong'];

describe('two-factor sign-in', () => {
  it('is turned on with the password and a first code; other sessions end, and sign-in asks for a code', async () => {
    const member = await signUp();
    const other = newClient();
    await signIn(member.email, undefined, other);
    expect((await member.client.call('GET', 'session')).json.two_factor).toBe(false);

    const refused = await member.client.call('POST', 'two-factor', { password: 'not the password' });
    expect([refused.status, refused.json.error.param]).toEqual([401, 'password']);
    const early = await member.client.call('POST', 'two-factor/confirm', { code: '123456' });
    expect(outcomeOf(early)).toEqual([409, 'two_factor_off']);
    const begun = await member.client.call('POST', 'two-factor', { password });
    const misread = await member.client.call('POST', 'two-factor/confirm', {
      code: codeAt(begun.json.secret, clock.now(), 7),
    });
    expect(outcomeOf(misread)).toEqual(wrong);
    expect((await signIn(member.email)).status, 'not before the first code').toBe(200);

    const enrolled = await enrol(member);
    expect(enrolled.recovery).toHaveLength(10);
    expect(new Set(enrolled.recovery).size).toBe(10);
    expect((await other.call('GET', 'keys')).status, 'a session of before').toBe(401);
    expect((await enrolled.client.call('GET', 'session')).json).toMatchObject({ signed_in: true, two_factor: true });
    expect((await enrolled.client.call('GET', 'two-factor')).json).toEqual({ on: true, recovery_codes_left: 10 });
    expect(outcomeOf(await enrolled.client.call('POST', 'two-factor', { password }))).toEqual([409, 'two_factor_on']);

    const asked = await signIn(enrolled.email);
    expect(outcomeOf(asked)).toEqual([401, 'two_factor_required']);
    expect(asked.headers['set-cookie'], 'no session before the code').toBeUndefined();
    const wrongPassword = await newClient().call('POST', 'sign-in', {
      email: enrolled.email,
      password: 'not the password',
      code: codeOf(enrolled),
    });
    expect(outcomeOf(wrongPassword)).toEqual([401, 'sign_in_failed']);
    const client = newClient();
    expect((await signIn(enrolled.email, codeOf(enrolled), client)).json).toMatchObject({ two_factor: true });
    expect((await client.call('GET', 'keys')).status).toBe(200);
  });

  it('accepts the code of the step before and after, and each code once', async () => {
    const enrolled = await enrol();
    const { email } = enrolled;
    expect(outcomeOf(await signIn(email, codeOf(enrolled, -2)))).toEqual(wrong);
    expect(outcomeOf(await signIn(email, codeOf(enrolled, 2)))).toEqual(wrong);
    const typed = codeOf(enrolled, -1).replace(/^(...)/, '$1 ');
    expect((await signIn(email, typed)).status).toBe(200);
    expect(outcomeOf(await signIn(email, codeOf(enrolled, -1)))).toEqual(wrong);
    clock.advance(10 * minute);
    const answers = await Promise.all([1, 2, 3].map(() => signIn(email, codeOf(enrolled, 1))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(outcomeOf(await signIn(email, codeOf(enrolled))), 'older than one that was used').toEqual(wrong);
  });

  it('allows five wrong codes from one place, also with the right one after them', async () => {
    const enrolled = await enrol();
    const statuses = [];
    for (let guess = 0; guess < 5; guess++) statuses.push((await signIn(enrolled.email, '000000')).status);
    const late = await signIn(enrolled.email, codeOf(enrolled));
    expect([...statuses, late.status]).toEqual([401, 401, 401, 401, 401, 429]);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    clock.advance(10 * minute);
    expect((await signIn(enrolled.email, codeOf(enrolled))).status).toBe(200);
  });

  it('accepts each recovery code once, in any case, and the audit log counts them', async () => {
    const { email, id, recovery, client } = await enrol();
    expect((await signIn(email, recovery[0])).status).toBe(200);
    expect(outcomeOf(await signIn(email, recovery[0]))).toEqual(wrong);
    expect((await signIn(email, ` ${recovery[1]!.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(200);
    expect((await client.call('GET', 'two-factor')).json.recovery_codes_left).toBe(8);
    expect(await actionsOf(id)).toEqual(expect.arrayContaining(['account.two_factor_on', 'account.recovery_code']));
    const used = (await entriesOf(id)).find(({ action }) => action === 'account.recovery_code');
    expect(used).toMatchObject({ by: `person:${id.replace('acct-', 'per-')}`, address: '127.0.0.1' });
  });

  it('is turned off with password and code, and not with one of them', async () => {
    const enrolled = await enrol();
    const off = (body: object) => enrolled.client.call('POST', 'two-factor/off', body);
    expect((await off({ password })).status).toBe(400);
    expect((await off({ password: 'not the password', code: codeOf(enrolled) })).json.error.param).toBe('password');
    expect(outcomeOf(await off({ password, code: '000000' }))).toEqual(wrong);
    expect((await off({ password, code: codeOf(enrolled) })).json).toMatchObject({ two_factor: false });
    expect((await enrolled.client.call('GET', 'keys')).status, 'the session goes on').toBe(200);
    expect((await signIn(enrolled.email)).status).toBe(200);
    const own = (await entriesOf(enrolled.id)).filter(({ action }) => action.includes('two_factor'));
    const person = `person:${enrolled.id.replace('acct-', 'per-')}`;
    expect(own.map(({ action, by, address }) => [action, by, address])).toEqual([
      ['account.two_factor_off', person, '127.0.0.1'],
      ['account.two_factor_on', person, '127.0.0.1'],
    ]);
  });

  it('stays on when the password changes, and a link for a new password signs nobody in', async () => {
    const enrolled = await enrol();
    const { client, email, id } = enrolled;
    const change = { current_password: password, new_password: 'another battery staple' };
    expect((await client.call('POST', 'change-password', change)).json.two_factor).toBe(true);
    expect((await client.call('GET', 'keys')).status).toBe(200);
    const { url } = (await gateway.admin('POST', `/accounts/${id}/password-reset`)).json;
    const token = url.split('#')[1];
    registerSecret('the token of a link', token);
    expect((await newClient().call('POST', 'reset-password', { token, password })).status).toBe(204);
    expect(outcomeOf(await signIn(email))).toEqual([401, 'two_factor_required']);
  });

  it('needs a password: an account without one is told to set it', async () => {
    const { client, id } = await signUp();
    await query(gateway, 'delete from lodestone.sign_in_credentials where user_id = $1', [id]);
    const { status, json } = await client.call('POST', 'two-factor', { password: '' });
    expect([status, json.error.param]).toEqual([400, 'password']);
    expect(json.error.message).toContain('set a password');
  });
});

describe('an operator', () => {
  it('resets it for a lost device: sessions end, sign-in asks for no code, and the audit log has it', async () => {
    const { id, email, client } = await enrol();
    expect((await gateway.admin('GET', `/accounts/${id}`)).json.two_factor).toBe(true);
    const reset = await gateway.admin('DELETE', `/accounts/${id}/two-factor`);
    expect([reset.status, reset.json.two_factor]).toEqual([200, false]);
    expect((await client.call('GET', 'keys')).status).toBe(401);
    expect((await signIn(email)).status).toBe(200);
    await gateway.admin('DELETE', `/accounts/${id}/two-factor`);
    const resets = (await actionsOf(id)).filter((action) => action === 'account.two_factor_reset');
    expect(resets, 'nothing was left to reset the second time').toHaveLength(1);
    expect((await gateway.admin('DELETE', '/accounts/acc-none/two-factor')).status).toBe(404);
  });

  it('does not reset the own one in the dashboard', async () => {
    const { id, client } = await enrol();
    await gateway.admin('PATCH', `/accounts/${id}`, { operator: true });
    const own = await client.call('DELETE', `operator/accounts/${id}/two-factor`);
    expect(outcomeOf(own)).toEqual([403, 'two_factor_own_reset']);
    const other = await enrol();
    expect((await client.call('DELETE', `operator/accounts/${other.id}/two-factor`)).json.two_factor).toBe(false);
  });

  it('has no rights without it where the configuration requires it, by the flag or by the admin token', async () => {
    const strict = await startGateway({
      clock,
      config: { registration: 'open', sign_in: { require_two_factor_for_operators: true } },
    });
    try {
      const flagged = await signUp(strict.url);
      await strict.admin('PATCH', `/accounts/${flagged.id}`, { operator: true });
      const member = await signUp(strict.url);
      const elevate = () => member.client.call('POST', 'operator', { admin_token: adminToken });
      const missing = [403, 'two_factor_enrolment_required'];
      expect(outcomeOf(await flagged.client.call('GET', 'operator/accounts'))).toEqual(missing);
      expect((await flagged.client.call('GET', 'session')).json).toMatchObject({ operator: false });
      expect(outcomeOf(await elevate())).toEqual(missing);
      expect(outcomeOf(await member.client.call('GET', 'operator/accounts'))).toEqual([403, 'operator_required']);
      expect((await strict.admin('GET', '/accounts')).status, 'the admin API itself').toBe(200);

      await enrol(flagged);
      await enrol(member);
      expect((await flagged.client.call('GET', 'operator/accounts')).status).toBe(200);
      expect((await flagged.client.call('GET', 'session')).json).toMatchObject({ operator: true });
      expect((await elevate()).status).toBe(200);
      expect((await member.client.call('GET', 'operator/accounts')).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});

async function entriesOf(id: string): Promise<Record<'action' | 'by' | 'address', string>[]> {
  const { data } = (await gateway.admin('GET', '/audit?limit=200')).json;
  return data.filter((entry: { subject: string }) => entry.subject === id);
}

const actionsOf = async (id: string) => (await entriesOf(id)).map(({ action }) => action);
