/** The end user that a request names is kept where the account wants it, and looked at nowhere else. */
import { expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json } from '../../support/scripted-upstream.js';
import { ask, badRequest, expectRefused, llama, messages, useGateway } from '../harness.js';

const bench = useGateway();
const long = 'u'.repeat(129);

it('keeps `user` or `metadata.user_id` as `end_user`, filters by it, and refuses longer ones', async () => {
  const { gateway, upstream } = bench;
  upstream.reply(json(completion()));
  const account = await gateway.createAccount();
  const { key } = account;
  const newest = async (query = '') =>
    (await gateway.call('GET', `/v1/generations?limit=1${query}`, undefined, { key })).json.data[0] as Json;
  const sends: [string, (user: string) => Promise<{ status: number; text: string }>][] = [
    ['chat', (user) => gateway.chat(ask({ user }), { key })],
    ['Responses', (user) => gateway.call('POST', '/v1/responses', { model: llama, input: 'Hi', user }, { key })],
    [
      'Messages',
      (user) =>
        gateway.call(
          'POST',
          '/v1/messages',
          { model: llama, messages, max_tokens: 9, metadata: { user_id: user } },
          { key },
        ),
    ],
    [
      'a large chat',
      (user) => gateway.chat(ask({ messages: [{ role: 'user', content: 'x'.repeat(300_000) }], user }), { key }),
    ],
  ];
  for (const [name, send] of sends) {
    expect((await send(long)).status, name).toBe(200);
    expect((await newest()).end_user, `${name}, while recording is off`).toBeNull();
  }
  await gateway.admin('PATCH', `/accounts/${account.accountId}`, { record_end_users: true });
  for (const [name, send] of sends) {
    const user = `${name} \u00e9\t"${'\u{1f9ed}'.repeat(100)}`;
    const served = await send(user);
    expect(served.status, served.text).toBe(200);
    expect((await newest()).end_user).toBe(user);
    expect((await newest(`&end_user=${encodeURIComponent(user)}`)).end_user).toBe(user);
    expect((await send('')).status, name).toBe(200);
    expect((await newest()).end_user, `${name}, with an empty one`).toBeNull();
    expect((await send(long)).status, `${name}, with a longer one`).toBe(400);
  }
  expect(await newest('&end_user=nobody')).toBeUndefined();
  await expectRefused(bench, ask({ user: long }), badRequest('user', '129 characters', 'at most 128'), account);
});
