import { expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { adminToken, httpFixture } from '../../../tests/support/http-fixture.js';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { NoticeTests } from '../../payments/notice-test.js';

const ada = { email: 'ada@example.com', password: 'correct horse 77' };

async function signedIn(noticeTests?: NoticeTests) {
  const fixture = await httpFixture(noticeTests ? { noticeTests } : {});
  const browser = new BrowserSession(fixture.app);
  expect((await browser.call('POST', 'sign-up', ada)).statusCode).toBe(201);
  return browser;
}

it('says who gets them, and that this gateway sends none', async () => {
  const browser = await signedIn();
  expect((await browser.call('GET', 'notices')).json()).toEqual({
    object: 'notices',
    mail: false,
    mail_to: [ada.email],
  });
  const refused = await browser.call('POST', 'notices/test-mail', {});
  expect([refused.statusCode, refused.json().error.code]).toEqual([403, 'notices_not_set_up']);
  expect((await browser.call('POST', 'operator/notices/test', {})).json().error.code).toBe('operator_required');
});

it('sends a mail to whoever asks, a few times a minute', async () => {
  const mails: string[] = [];
  const mail = async ({ to }: { to: string }) => void mails.push(to);
  const browser = await signedIn(new NoticeTests({ webhook: null, mail, clock: new ManualClock() }));
  for (let count = 0; count < 3; count++) {
    const sent = await browser.call('POST', 'notices/test-mail', {});
    expect(sent.json()).toEqual({ to: ada.email, sent: true, fault: null });
  }
  expect((await browser.call('POST', 'notices/test-mail', {})).statusCode).toBe(429);
  expect(mails).toEqual([ada.email, ada.email, ada.email]);
});

it('calls the webhook for an operator, and says what it answered', async () => {
  const webhook = { host: 'ops.example', send: async () => 500 };
  const browser = await signedIn(new NoticeTests({ webhook, mail: null, clock: new ManualClock() }));
  expect((await browser.call('POST', 'operator', { admin_token: adminToken })).statusCode).toBe(200);
  expect((await browser.call('GET', 'operator/notices')).json()).toMatchObject({ webhook_host: 'ops.example' });
  const tested = await browser.call('POST', 'operator/notices/test', {});
  expect(tested.json()).toEqual({ delivered: false, status: 500, fault: null });
});
