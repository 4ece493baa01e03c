/** Notices of budgets: once a period and threshold, the highest of several, armed again only where spend is below it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { newMember, newOwner } from '../../support/people.js';
import { completion, json, type ScriptedUpstream, startUpstream, usage } from '../../support/scripted-upstream.js';
import { registerSecret } from '../../support/secrets.js';
import { type SmtpServer, startSmtpServer } from '../../support/smtp-server.js';
import { chatCatalogue, model, route } from '../catalogue.js';
import { ask } from '../harness.js';

const secret = `whsec_${Buffer.from('the secret of the alerts').toString('base64')}`;
registerSecret('the secret of the alerts', secret);
const clock = new ManualClock(Date.parse('2026-11-18T15:00:00Z'));
/** Costs 0.01 USD. */
const request = ask({ model: 'acme/meta/dear', max_tokens: 1 });

let told: Json[] = [];
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let mail: SmtpServer;
const receiver = createServer(async (req, res) => {
  let body = '';
  for await (const piece of req) body += piece;
  const { type, data } = JSON.parse(body);
  if (type === 'budget.threshold') told.push(data);
  res.writeHead(204).end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  upstream = await startUpstream();
  upstream.reply(json(completion({ usage: usage(9, 1) })));
  mail = await startSmtpServer();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/notices`;
  const dear = model('dear', [route({ price: { input: 1_000, output: 1_000 } })]);
  gateway = await startGateway({
    clock,
    catalogue: chatCatalogue(upstream.url, [dear]),
    config: {
      notices: { webhook: { url, secret }, interval: '50ms' },
      mail: { smtp_url: `smtp://127.0.0.1:${mail.port}`, from: 'lodestone@example.test' },
    },
  });
});
beforeEach(() => {
  told = [];
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await mail?.close();
  receiver.close();
});

const brief = () => told.map(({ threshold, limit_usd, spent_usd }) => [threshold, limit_usd, spent_usd]);

it('each threshold of a project is told once a period; a raised limit arms only those above what is spent', async () => {
  const { accountId } = await gateway.createAccount();
  const path = `/accounts/${accountId}/projects`;
  const set = (id: string, limit_usd: string) =>
    gateway.admin('PATCH', `${path}/${id}`, { budget: { limit_usd, period: 'daily', alert_at: [0.5, 0.8, 1] } });
  const { id } = (await gateway.admin('POST', path, { name: 'search' })).json;
  await set(id, '0.10');
  const { token: key } = (await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k', project: id })).json;
  const spend = async (times: number) => {
    for (let i = 0; i < times; i++) expect((await gateway.chat(request, { key })).status).toBe(200);
  };
  const expectTold = async (...notices: unknown[][]) => {
    await expect.poll(brief).toEqual(notices);
  };
  const first = [
    [0.5, '0.1', '0.05'],
    [0.8, '0.1', '0.08'],
    [1, '0.1', '0.1'],
  ];
  await spend(5);
  await expectTold(...first.slice(0, 1));
  expect(told[0]).toEqual({
    ...{ account: accountId, project: id, threshold: 0.5, limit_usd: '0.1', spent_usd: '0.05' },
    ...{ period: 'daily', ends_at: '2026-11-19T00:00:00.000Z' },
  });
  await spend(3);
  await expectTold(...first.slice(0, 2));
  await spend(2);
  await expectTold(...first);
  expect((await gateway.chat(request, { key })).json.error.code).toBe('budget_exceeded');
  // Of 0.12 five sixths are spent: 1 is armed again, and 0.8 is not.
  await set(id, '0.12');
  await spend(2);
  await expectTold(...first, [1, '0.12', '0.12']);
  clock.setWall(clock.now() + 86_400_000);
  await spend(6);
  await expectTold(...first, [1, '0.12', '0.12'], [0.5, '0.12', '0.06']);
  expect(told.at(-1)).toMatchObject({ ends_at: '2026-11-20T00:00:00.000Z' });
});

it('of several thresholds at once the highest is told, also by mail to owners and billing alone', async () => {
  const owner = await newOwner(gateway);
  const billing = await newMember(gateway, owner.accountId, 'billing');
  const admin = await newMember(gateway, owner.accountId, 'admin');
  await owner.client.call('PATCH', 'account', { budget: { limit_usd: '0.10', alert_at: [0.5, 0.8, 1] } });
  await gateway.admin('PATCH', `/accounts/${owner.accountId}`, { opening_spent_usd: '0.09' });
  await expect.poll(brief).toEqual([[0.8, '0.1', '0.09']]);
  expect(told[0]).toMatchObject({ project: null, period: 'monthly', ends_at: '2026-12-01T00:00:00.000Z' });
  const aboutBudgets = () => mail.mails.filter(({ text }) => text.includes('0.09 USD of the budget of 0.1 USD'));
  const addressees = () => aboutBudgets().flatMap(({ to }) => to);
  await expect.poll(() => addressees().sort()).toEqual([billing.email, owner.email].sort());
  // A threshold below one that was told is not told.
  const lower = { limit_usd: '0.10', alert_at: [0.6, 0.8, 1] };
  await owner.client.call('PATCH', 'account', { budget: lower });
  await gateway.admin('PATCH', `/accounts/${owner.accountId}`, { opening_spent_usd: '0.10' });
  await expect.poll(brief).toEqual([
    [0.8, '0.1', '0.09'],
    [1, '0.1', '0.1'],
  ]);
  expect(addressees()).not.toContain(admin.email);
});
