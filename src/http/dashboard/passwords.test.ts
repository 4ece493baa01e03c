import { beforeEach, describe, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

const ada = { email: 'ada@example.com', password: 'correct horse 77' };
let fixture: HttpFixture;
let browser: BrowserSession;
beforeEach(async () => {
  fixture = await httpFixture();
  browser = new BrowserSession(fixture.app);
});

describe('a new password', () => {
  const refusal = (param: string) => ({
    type: 'invalid_request_error',
    code: 'invalid_request_error',
    param,
    message: expect.stringContaining('Choose another password'),
  });

  it.each([
    ['password1', 'common'],
    ['Password123', 'common in another case'],
    ['Qwertyuiop!!', 'common with marks at its end'],
    ['aaaaaaaaaaaa', 'one character'],
    ['12121212', 'two characters'],
    ['ADA@example.com', 'the email address'],
    ['ada@example.com1', 'the email address and a digit'],
    ['Ada Lovelace', 'the name'],
  ])('%s is refused at sign-up: %s', async (password) => {
    const answer = await browser.call('POST', 'sign-up', { email: ada.email, name: 'Ada Lovelace', password });
    expect([answer.statusCode, answer.json().error]).toEqual([400, refusal('password')]);
    expect(await fixture.store.accounts.findId(ada.email), 'no account is made').toBeNull();
  });

  it('is held against the same rules when it is changed, and when an operator sets it', async () => {
    expect((await browser.call('POST', 'sign-up', ada)).statusCode).toBe(201);
    const change = { current_password: ada.password, new_password: 'iloveyou' };
    expect((await browser.call('POST', 'change-password', change)).json().error).toEqual(refusal('new_password'));
    const admin = (method: 'POST' | 'PUT', path: string, payload: object) =>
      fixture.app.inject({ method, url: `/admin/v1/accounts${path}`, headers: fixture.asAdmin, payload });
    const created = await admin('POST', '', { email: 'new@example.com', password: 'new@example.com' });
    expect([created.statusCode, created.json().error]).toEqual([400, refusal('password')]);
    expect(await fixture.store.accounts.findId('new@example.com')).toBeNull();
    const set = await admin('PUT', `/${fixture.account.id}/password`, { password: 'owner@example.com' });
    expect([set.statusCode, set.json().error]).toEqual([400, refusal('password')]);
  });
});
