/** Notices of credentials that a provider refuses: one, by webhook and by mail to owners and admins, and none again until it has served. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { newMember, newOwner } from '../../support/people.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { registerSecret } from '../../support/secrets.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { type SmtpServer, startSmtpServer } from '../../support/smtp-server.js';
import { chatCatalogue } from '../catalogue.js';
import { ask } from '../harness.js';
import { managerOf } from '../projects/manager.js';
import { own, refused } from './customer.js';

const secret = `whsec_${Buffer.from('the secret of the refusals').toString('base64')}`;
registerSecret('the secret of the refusals', secret);

const notices: Json[] = [];
/** How many notices the receiver does not take. */
let refusedLeft = 0;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let mail: SmtpServer;
const receiver = createServer(async (req, res) => {
  let body = '';
  for await (const piece of req) body += piece;
  const isTaken = refusedLeft === 0;
  if (isTaken) notices.push(JSON.parse(body));
  else refusedLeft--;
  res.writeHead(isTaken ? 204 : 503).end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  upstream = await startUpstream();
  mail = await startSmtpServer();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/notices`;
  gateway = await startGateway({
    catalogue: chatCatalogue(upstream.url),
    config: {
      secrets: { key_file: makeSecretsKey() },
      notices: { webhook: { url, secret }, interval: '50ms' },
      mail: { smtp_url: `smtp://127.0.0.1:${mail.port}`, from: 'lodestone@example.test' },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await mail?.close();
  receiver.close();
});

it('one notice a failure, however often it fails, and another once it has served and fails again', async () => {
  const owner = await newOwner(gateway);
  const { accountId } = owner;
  const admin = await newMember(gateway, accountId, 'admin');
  await newMember(gateway, accountId, 'billing');
  await newMember(gateway, accountId, 'developer');
  await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '1' });
  const { token: key } = (await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'k' })).json;
  const { call } = await managerOf({ gateway }, {}, accountId);
  const { json: made } = await call('POST', '/credentials', {
    ...{ provider: 'keyed', name: 'our OpenAI key', secret: { api_key: own } },
  });
  const chat = async (...statuses: number[]) => {
    for (const status of statuses) {
      upstream.enqueue(status === 200 ? json(completion()) : refused(status));
      const reply = await gateway.chat(ask({ model: 'keyed/meta/llama/defra' }), { key });
      expect(reply.status, reply.text).toBe(status === 200 ? 200 : 503);
    }
    // Reading it writes down what was seen.
    return (await call('GET', `/credentials/${made.id}`)).json.state.status;
  };
  // Neither a limit nor a failure of the provider is a matter of the secret.
  expect(await chat(429, 402, 500)).toBe('unchecked');
  expect(await chat(401)).toBe('failing');
  await expect.poll(() => notices).toHaveLength(1);
  expect(notices[0]).toEqual({
    ...{ id: expect.stringMatching(/^ntf-/), type: 'credential.failing', timestamp: expect.any(String) },
    data: {
      ...{ account: accountId, project: null, credential: made.id, provider: 'keyed', name: 'our OpenAI key' },
      reason: expect.stringContaining('HTTP 401'),
    },
  });
  expect(await chat(401, 403, 401)).toBe('failing');
  expect(await chat(200)).toBe('ok');
  expect(await chat(403)).toBe('failing');
  await expect.poll(() => notices.length).toBeGreaterThan(1);
  // The quotation marks are not decoded.
  const mails = () => mail.mails.filter(({ text }) => /our OpenAI key.* at keyed is failing/.test(text));
  await expect.poll(() => mails().length).toBe(4);
  // Another secret that is refused too is no news: nothing has served since.
  const replace = (api_key: string) => call('PATCH', `/credentials/${made.id}`, { secret: { api_key } });
  expect((await replace(`${own}-second`)).status).toBe(200);
  expect(await chat(401)).toBe('failing');
  expect(await chat(200)).toBe('ok');
  expect((await replace(own)).json.state.status).toBe('unchecked');
  expect(await chat(401)).toBe('failing');
  await expect.poll(() => notices.length).toBeGreaterThan(2);
  expect(notices.map(({ type, data }) => [type, (data as Json).credential])).toEqual(
    Array(3).fill(['credential.failing', made.id]),
  );
  await expect
    .poll(() =>
      mails()
        .flatMap(({ to }) => to)
        .sort(),
    )
    .toEqual([admin.email, owner.email].flatMap((email) => Array(3).fill(email)).sort());
  for (const text of [...mail.mails.map((each) => each.text), JSON.stringify(notices)]) expect(text).not.toContain(own);
});

it('a notice that could not be delivered yet stands in the way of none, once a secret has served and was replaced', async () => {
  const { call, key } = await managerOf({ gateway });
  const { json: made } = await call('POST', '/credentials', {
    ...{ provider: 'keyed', name: 'ours', secret: { api_key: own } },
  });
  const chat = async (status: number) => {
    upstream.enqueue(status === 200 ? json(completion()) : refused(status));
    await gateway.chat(ask({ model: 'keyed/meta/llama/defra' }), { key });
  };
  const state = async () => (await call('GET', `/credentials/${made.id}`)).json.state.status;
  refusedLeft = 1;
  await chat(401);
  expect(await state()).toBe('failing');
  await expect.poll(() => refusedLeft).toBe(0);
  // That it has served need not have been written down when its secret is replaced.
  await chat(200);
  expect((await call('PATCH', `/credentials/${made.id}`, { secret: { api_key: `${own}-other` } })).status).toBe(200);
  await chat(403);
  expect(await state()).toBe('failing');
  const reasons = () =>
    notices.flatMap(({ data }) => ((data as Json).credential === made.id ? [(data as Json).reason] : []));
  // The first one is tried again later.
  await expect.poll(reasons).toEqual([expect.stringContaining('HTTP 403')]);
});
