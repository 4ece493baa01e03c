import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { registerSecret } from '../../support/secrets.js';
import { type SmtpServer, startSmtpServer } from '../../support/smtp-server.js';

const clock = new ManualClock(Date.now());
const minute = 60_000;
const [first, second] = ['correct horse battery', 'another battery staple'];
const smtpPassword = 'p@ss of the mail server';
const logged: string[] = [];
const note = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
let gateway: TestGateway;
let smtp: SmtpServer;

beforeAll(async () => {
  smtp = await startSmtpServer();
  registerSecret('the password of the mail server', smtpPassword);
  const smtp_url = `smtp://mailer:${encodeURIComponent(smtpPassword)}@127.0.0.1:${smtp.port}`;
  const config = { registration: 'open', mail: { smtp_url, from: 'Lodestone <no-reply@example.test>' } };
  gateway = await startGateway({ clock, config, logger: { debug: note, info: note, warn: note, error: note } });
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await smtp?.close();
});
// Every bucket is full again.
beforeEach(() => clock.advance(60 * minute));

const newClient = () => new DashboardClient(gateway.url);
const ask = (email: string) => newClient().call('POST', 'forgot-password', { email });
const reset = (token: string, password = second) => newClient().call('POST', 'reset-password', { token, password });
const signIn = (email: string, password: string) => newClient().call('POST', 'sign-in', { email, password });

async function signUp(email: string): Promise<{ client: DashboardClient; id: string }> {
  const client = newClient();
  const { json } = await client.call('POST', 'sign-up', { email, password: first });
  return { client, id: json.account.id };
}

function tokenIn(text: string): string {
  const token = /\/dashboard\/reset-password#([\w-]{43})\s/.exec(`${text}\n`)?.[1] ?? '';
  registerSecret('the token of a link', token);
  return token;
}

/** The token of the newest mail of so many. */
async function mailed(email: string, count = 1): Promise<string> {
  return tokenIn((await smtp.mailsTo(email, count)).at(-1)!.text);
}

describe('a forgotten password', () => {
  it('is replaced with a link from a mail, once; all sessions end, a mail confirms it, and the audit log has it', async () => {
    const email = 'ada@example.test';
    const { client, id } = await signUp(email);
    expect((await newClient().call('GET', 'session')).json.password_reset).toBe('mail');
    expect(await ask(` ${email.toUpperCase()}`)).toMatchObject({ status: 202, text: '{}' });
    const token = await mailed(email);
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({ from: 'no-reply@example.test', to: [email] });
    expect(mail!.head).toMatch(/^From: Lodestone <no-reply@example\.test>$/m);
    expect(mail!.text).toContain(`${gateway.url}/dashboard/reset-password#`);
    expect(smtp.logins).toEqual([`\0mailer\0${smtpPassword}`]);

    const weak = await reset(token, email);
    expect([weak.status, weak.json.error.param], 'the link is not used up').toEqual([400, 'password']);
    expect((await client.call('GET', 'keys')).status).toBe(200);
    const done = await reset(token);
    expect([done.status, done.headers['set-cookie']], 'nobody is signed in by a link').toEqual([204, undefined]);
    expect((await client.call('GET', 'keys')).status, 'the session of before').toBe(401);
    expect((await signIn(email, first)).status).toBe(401);
    expect((await signIn(email, second)).status).toBe(200);
    const again = await reset(token, first);
    expect([again.status, again.json.error.code]).toEqual([401, 'reset_link_invalid']);

    const [, confirmation] = await smtp.mailsTo(email, 2);
    expect(confirmation!.text).toContain(`The password of the account ${email} was reset`);
    const { data } = (await gateway.admin('GET', '/audit?limit=50')).json;
    const entries = data.filter((entry: { subject: string }) => entry.subject === id);
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: 'account.password_reset',
        actor: `account:${id}`,
        details: { address: '127.0.0.1', link: 'mail' },
      }),
    );
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'account.password_reset_request', actor: 'anonymous' }),
    );
  });

  it('gets the same answer for every address, before the mail server has said a word', async () => {
    await signUp('known@example.test');
    smtp.mood = 'silent';
    const unknown = await ask('unknown@example.test');
    const known = await ask('known@example.test');
    expect([known.status, known.text]).toEqual([202, '{}']);
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
    expect(Object.keys(unknown.headers)).toEqual(Object.keys(known.headers));
    expect(smtp.mails.filter(({ to }) => to.includes('known@example.test'))).toEqual([]);
    smtp.mood = 'friendly';
    await mailed('known@example.test');
    expect(smtp.mails.filter(({ to }) => to.includes('unknown@example.test'))).toEqual([]);
  });

  it('is asked for three times at most for one address, known or not, and ten times from one place', async () => {
    await signUp('often@example.test');
    const statuses = async (email: string, count: number) => {
      const answers = [];
      for (let call = 0; call < count; call++) answers.push((await ask(email)).status);
      return answers;
    };
    expect(await statuses('often@example.test', 4)).toEqual([202, 202, 202, 429]);
    expect(await statuses('nobody@example.test', 4)).toEqual([202, 202, 202, 429]);
    const refused = await ask('nobody@example.test');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const others = await Promise.all([1, 2, 3, 4, 5].map((number) => ask(`other${number}@example.test`)));
    expect(others.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 429]);
    await smtp.mailsTo('often@example.test', 3);
  });

  it.each(['not an address', '', 7, null])('is not asked for with %j as the address', async (email) => {
    const { status, json } = await newClient().call('POST', 'forgot-password', { email });
    expect([status, json.error.param]).toEqual([400, 'email']);
  });

  it('a mail that is refused is logged, without a word of it', async () => {
    await signUp('refused@example.test');
    smtp.mood = 'refusing';
    expect((await ask('refused@example.test')).status).toBe(202);
    const line = () => logged.find((text) => text.startsWith('a mail about a password could not be sent'));
    await expect.poll(line, { timeout: 30_000 }).toContain('"responseCode":554');
    expect(line()).not.toContain('reset-password');
    smtp.mood = 'friendly';
  });

  it('gets no mail where the account is suspended or has no password', async () => {
    const { id } = await signUp('suspended@example.test');
    await gateway.admin('PATCH', `/accounts/${id}`, { status: 'suspended' });
    await gateway.admin('POST', '/accounts', { email: 'script@example.test' });
    await signUp('last@example.test');
    for (const name of ['suspended', 'script', 'last']) await ask(`${name}@example.test`);
    await mailed('last@example.test');
    const to = smtp.mails.flatMap((mail) => mail.to);
    expect(to).not.toContain('suspended@example.test');
    expect(to).not.toContain('script@example.test');
  });
});

describe('a link', () => {
  it('works for 30 minutes', async () => {
    await signUp('late@example.test');
    await ask('late@example.test');
    await ask('late@example.test');
    const [early, late] = (await smtp.mailsTo('late@example.test', 2)).map(({ text }) => tokenIn(text));
    clock.advance(30 * minute - 1);
    expect((await reset(early!, 'password1')).json.error?.param, 'it is still good').toBe('password');
    clock.advance(1);
    expect((await reset(late!)).status).toBe(401);
    expect((await signIn('late@example.test', first)).status).toBe(200);
  });

  it('ends with any new password, and works for one of several calls at once', async () => {
    const email = 'parallel@example.test';
    const { client } = await signUp(email);
    await ask(email);
    await ask(email);
    const [older, newer] = (await smtp.mailsTo(email, 2)).map(({ text }) => tokenIn(text));
    const answers = await Promise.all([1, 2, 3, 4].map(() => reset(newer!)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401, 401]);
    expect((await reset(older!, first)).status, 'the older link').toBe(401);
    await client.call('POST', 'sign-in', { email, password: second });
    await ask(email);
    // Two links and the confirmation came before.
    const token = tokenIn((await smtp.mailsTo(email, 4)).findLast(({ text }) => text.includes('#'))!.text);
    await client.call('POST', 'change-password', { current_password: second, new_password: first });
    expect((await reset(token)).status, 'the password was changed in between').toBe(401);
  });

  it('is guessed ten times at most from one place', async () => {
    const statuses = [];
    for (let guess = 0; guess < 11; guess++) statuses.push((await reset(`guess-${guess}`)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  it('of an operator gives an account its first password, within 24 hours, and is in the audit log', async () => {
    const email = 'made@example.test';
    const { id } = (await gateway.admin('POST', '/accounts', { email })).json;
    const made = await gateway.admin('POST', `/accounts/${id}/password-reset`);
    expect(made.status).toBe(201);
    const token = tokenIn(made.json.url);
    expect(Date.parse(made.json.expires_at)).toBe(clock.now() + 24 * 60 * minute);
    clock.advance(24 * 60 * minute - 1);
    expect((await reset(token)).status).toBe(204);
    expect((await signIn(email, second)).status).toBe(200);
    const { data } = (await gateway.admin('GET', '/audit?limit=50')).json;
    expect(data).toContainEqual(
      expect.objectContaining({ action: 'account.password_reset_link', actor: 'operator', subject: id, details: {} }),
    );
    expect((await gateway.admin('POST', '/accounts/acc-none/password-reset')).status).toBe(404);
  });

  it('does not change a suspended account', async () => {
    const { id } = await signUp('stopped@example.test');
    const token = tokenIn((await gateway.admin('POST', `/accounts/${id}/password-reset`)).json.url);
    await gateway.admin('PATCH', `/accounts/${id}`, { status: 'suspended' });
    expect((await reset(token)).json.error.code).toBe('account_suspended');
  });
});
