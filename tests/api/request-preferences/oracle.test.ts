/**
 * Random policies of accounts and wishes of requests, for every form of an id, against an oracle that knows only the table of facts
 * below. The oracle, the dry run and the upstream that was really called must agree.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { scaled } from '../../support/scaled.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { catalogueAt, expectedOutcome, facts, keyless, randomPolicy, randomWishes } from './oracle.js';

const bench = {} as { gateway: TestGateway; upstream: ScriptedUpstream };
beforeAll(async () => {
  bench.upstream = await startUpstream();
  bench.gateway = await startGateway({ catalogue: catalogueAt(bench.upstream.url) });
});
afterAll(async () => {
  await bench.gateway?.stop();
  await bench.upstream?.stop();
});

const forms = ['auto', 'pin', 'alias to auto', 'alias to a pin', 'chain entry'] as const;

it('oracle, dry run and real calls agree', async () => {
  const { gateway, upstream } = bench;
  const { key } = await gateway.createAccount();
  const call = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, { key });
  await call('POST', '/v1/aliases', { name: 'auto', target: 'auto/meta/gated' });
  const count = scaled(160, 10_000);
  for (let seed = 1; seed <= count; seed++) {
    const random = new SeededRandom(seed);
    const form = forms[seed % forms.length]!;
    const pinned = random.pick(facts);
    const policy = randomPolicy(random);
    const wishes = randomWishes(random);
    expect((await call('PUT', '/v1/routing-policy', policy)).status).toBe(200);
    const pin = `${pinned.provider}/meta/gated/${pinned.locode}`;
    if (form === 'alias to a pin') {
      const target = { provider: pinned.provider, canonical_id: 'meta/gated', locode: pinned.locode };
      const made = await call('PUT', '/v1/aliases/pin', { target });
      if (made.status === 404) await call('POST', '/v1/aliases', { name: 'pin', target });
    }
    const isPin = form === 'pin' || form === 'alias to a pin';
    const ids = { auto: 'auto/meta/gated', pin, 'alias to auto': 'alias/auto', 'alias to a pin': 'alias/pin' };
    // An entry of a chain is entered when the first id has failed; a pin without credentials fails at once.
    const asked =
      form === 'chain entry'
        ? { model: 'keyless/meta/other/defra', fallback: { models: ['auto/meta/gated'] } }
        : { model: ids[form] };
    const body = { ...asked, messages: [{ role: 'user', content: `seed ${seed}` }], provider: wishes };
    const first = form === 'chain entry' ? expectedOutcome(policy, wishes, keyless) : null;
    // A chain is not entered where the first id fails a wish.
    const isEntered = first !== null && first.served !== null;
    const expected = first !== null && !isEntered ? first : expectedOutcome(policy, wishes, isPin ? pinned : null);
    const dry = (await call('POST', '/v1/routes/explain', body)).json;
    const before = upstream.calls.length;
    const reply = await gateway.chat(body, { key });
    const called = upstream.calls.slice(before);
    const where = `seed ${seed}, ${form}`;
    if (expected.served === null && isEntered) {
      expect([reply.status, reply.json.error?.code], where).toEqual([503, 'provider_not_configured']);
      expect([called.length, dry.would_serve], where).toEqual([0, null]);
      continue;
    }
    if (expected.served === null) {
      expect([reply.status, reply.json.error?.code, reply.json.error?.param], where).toEqual([
        403,
        'routing_policy_exhausted',
        expected.param,
      ]);
      expect(reply.json.error.message, where).toContain(`: ${expected.counts}. Relax`);
      expect(dry.error.error, where).toEqual(reply.json.error);
      expect(called.length, where).toBe(0);
      continue;
    }
    expect(reply.status, `${where}: ${JSON.stringify(reply.json)}`).toBe(200);
    const { served_model, provider, request_policy } = reply.json.router_metadata;
    expect(expected.served, where).toContain(provider);
    expect(dry.would_serve, where).toBe(served_model);
    expect(
      called.map(({ body: sent }) => JSON.parse(String(sent)).model),
      where,
    ).toEqual([provider]);
    expect(String(called[0]!.body), where).not.toContain('"provider"');
    expect(request_policy, where).toBe(expected.hasWishes);
    const gated = dry.candidates.filter((one: { verdict: string; entry: string }) => one.verdict === 'gated');
    expect(gated.map((one: { id: string }) => one.id.split('/')[0]).sort(), where).toEqual(expected.removed);
  }
}, 3_600_000);
