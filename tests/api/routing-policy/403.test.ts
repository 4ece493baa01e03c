import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { catalogueOf, startGateway } from '../../support/gateway.js';
import { json, startUpstream } from '../../support/scripted-upstream.js';
import { type Bench, expectRefused, messages } from '../harness.js';

/** acme: under the CLOUD Act, Frankfurt. zeta: not, Paris, more expensive. dark: nothing is known of it, and no region. */
const bench = {} as Bench;
beforeAll(async () => {
  bench.upstream = await startUpstream();
  const { url } = bench.upstream;
  const catalogue = catalogueOf(
    { acme: url, zeta: url, dark: url },
    {
      providers: { acme: { cloud_act: true }, dark: { cloud_act: undefined } },
      routes: { zeta: { locode: 'frpar', price: { input: 0.29, output: 1.1 } }, dark: { locode: 'global' } },
    },
  );
  bench.gateway = await startGateway({ catalogue });
});
beforeEach(() => bench.upstream.reset());
afterAll(async () => {
  await bench.gateway.stop();
  await bench.upstream.stop();
});

const model = 'auto/meta/llama-3.3-70b';

async function accountWith(policy: Json) {
  const account = await bench.gateway.createAccount();
  const reply = await bench.gateway.call('PUT', '/v1/routing-policy', policy, { key: account.key });
  expect(reply.status, reply.text).toBe(200);
  const chat = (id = model) => bench.gateway.chat({ model: id, messages }, { key: account.key });
  return { ...account, chat };
}

const exhausted = (...says: (string | RegExp)[]) => ({
  ...{ status: 403, type: 'permission_error', code: 'routing_policy_exhausted', param: 'model' },
  says: [model, ...says],
});

describe('403 routing_policy_exhausted', () => {
  it.each<[Json, string]>([
    [{ deny_cloud_act: true, max_carbon: 10 }, 'deny_cloud_act removed 2 routes, max_carbon removed 1 route.'],
    [{ max_carbon: 10 }, 'max_carbon removed 3 routes.'],
    [{ max_price: 0.79 }, 'max_price removed 3 routes.'],
    [{ providers: { allow: ['nobody'] } }, 'providers removed 3 routes.'],
    [{ creators: { deny: ['meta'] } }, 'creators removed 3 routes.'],
    [{ regions: { allow: ['US'] } }, 'regions removed 3 routes.'],
    [
      { deny_cloud_act: true, providers: { deny: ['zeta'] }, regions: { allow: ['us'] } },
      'deny_cloud_act removed 2 routes, providers removed 1 route.',
    ],
  ])('for %j: each gate with its count, no upstream is called, nothing is recorded', async (policy, says) => {
    await expectRefused(bench, { model, messages }, exhausted(says), await accountWith(policy));
  });

  it('of a stream too, as an ordinary answer', async () => {
    const account = await accountWith({ max_carbon: 10 });
    await expectRefused(bench, { model, messages, stream: true }, exhausted('max_carbon removed 3 routes'), account);
  });

  it('ends with the policy: the very next request is served', async () => {
    const { chat, key } = await accountWith({ max_carbon: 10 });
    expect((await chat()).status).toBe(403);
    await bench.gateway.call('DELETE', '/v1/routing-policy', undefined, { key });
    expect((await chat()).status).toBe(200);
  });
});

describe('a policy that leaves something', () => {
  it.each<[string, Json, string]>([
    ['what is known to be outside of the act', { deny_cloud_act: true }, 'zeta'],
    ['what is at the ceiling; an unpublished figure is not', { max_carbon: 56 }, 'zeta'],
    ['what is priced at the ceiling, to the last decimal', { max_price: 0.8, providers: { deny: ['dark'] } }, 'acme'],
    ['an allowed country, by its regions', { regions: { allow: ['fr'] } }, 'zeta'],
    ['a global route where its regions are only denied', { regions: { deny: ['DE', 'frpar'] } }, 'dark'],
    ['what is allowed and not denied', { providers: { allow: ['acme', 'zeta'], deny: ['zeta'] } }, 'acme'],
  ])('serves %s', async (_what, policy, provider) => {
    const { chat } = await accountWith(policy);
    const reply = await chat();
    expect(reply.json.router_metadata, reply.text).toMatchObject({ provider, providers_attempted: [provider] });
  });

  it('never widens to a route that a gate removed, whatever fails', async () => {
    const { chat } = await accountWith({ providers: { allow: ['zeta'] } });
    bench.upstream.reply(json({ error: { message: 'broken' } }, { status: 500 }));
    const reply = await chat();
    expect([reply.status, reply.json.error.providers_attempted]).toEqual([503, ['zeta']]);
    expect(bench.upstream.calls).toHaveLength(1);
  });

  it('never touches an explicit id', async () => {
    const { chat } = await accountWith({ deny_cloud_act: true, max_carbon: 0, providers: { deny: ['acme'] } });
    const reply = await chat('acme/meta/llama-3.3-70b/defra');
    expect([reply.status, reply.json.router_metadata?.provider]).toEqual([200, 'acme']);
  });
});
