/** Who gets the notices of the account, and tests of them: a mail to whoever asks, and for operators a call of the webhook. */
import type { FastifyInstance } from 'fastify';
import { membershipInForce } from '../../accounts/roles.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionOf } from './require-session.js';

const membersMax = 200;

export function registerNotices(app: FastifyInstance, deps: HttpDeps, { limiter }: DashboardDeps): void {
  const { members, noticeTests } = deps;

  app.get('/notices', async (request) => {
    const found = await members.list(accountOf(request).id, { limit: membersMax });
    const told = found.filter(({ memberships }) => isTold(membershipInForce(memberships).role));
    return { object: 'notices', mail: noticeTests.sendsMail, mail_to: told.map(({ person }) => person.email) };
  });

  app.post('/notices/test-mail', async (request) => {
    if (!noticeTests.sendsMail) throw gatewayError('notices_not_set_up', { what: 'Mail', setting: 'mail' });
    const { person } = sessionOf(request);
    // Three at once, then one a minute.
    await limiter.take([{ name: `test-mail ${person.id}`, capacity: 3, refillMs: 60_000 }]);
    const fault = await noticeTests.mail(person.email);
    return { to: person.email, sent: fault === null, fault };
  });
}

const isTold = (role: string): boolean => role === 'owner' || role === 'billing';

/** Under the prefix of the operators. */
export function registerWebhookTest(app: FastifyInstance, { noticeTests }: HttpDeps): void {
  app.get('/notices', async () => ({
    object: 'notice_settings',
    mail: noticeTests.sendsMail,
    webhook_host: noticeTests.webhookHost,
  }));

  app.post('/notices/test', async () => {
    if (noticeTests.webhookHost === null)
      throw gatewayError('notices_not_set_up', { what: 'A webhook', setting: 'notices.webhook' });
    const { status, fault } = await noticeTests.callWebhook();
    return { delivered: status !== null && status >= 200 && status < 300, status, fault };
  });
}
