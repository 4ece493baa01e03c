import { expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { httpFixture } from '../../../tests/support/http-fixture.js';

it('without mail nobody asks for a link, and the answer names the command of the operator', async () => {
  const { app } = await httpFixture();
  const browser = new BrowserSession(app);
  expect((await browser.call('GET', 'session')).json().password_reset).toBe('operator');
  const answer = await browser.call('POST', 'forgot-password', { email: 'ada@example.com' });
  expect(answer.statusCode).toBe(403);
  expect(answer.json().error).toMatchObject({
    code: 'password_reset_not_offered',
    message: expect.stringContaining('lodestone account reset-password'),
  });
});
