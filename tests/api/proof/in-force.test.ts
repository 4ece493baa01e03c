/** A receipt states what decided its request, also where that is changed while the request waits to be admitted. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SpendHolds } from '../../../src/accounts/spending/spend-holds.js';
import type { Json, Reply } from '../../support/client.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { proofOf } from '../../support/proofs.js';
import { broken, type Lane, modelOf, routingCatalogue, useRouting } from '../../support/routing.js';

const routing = useRouting();
afterEach(() => {
  vi.restoreAllMocks();
});

/** What is asked, with the answer's receipt; without what is another's for every request. */
async function receiptOf(lane: Lane, reply: Reply): Promise<Json> {
  expect(reply.status, reply.text).toBe(200);
  const proof = await proofOf(routing.gateway, reply.json.id as string, { key: lane.key });
  const { generation, created_at, answer_sha256, ...stated } = JSON.parse(proof.receipt) as Json;
  return stated;
}

/** Sends a chat, and makes the change after the routes were chosen, while the hold on the balance is waited for. */
async function chatDuring(lane: Lane, body: Json, change: () => Promise<unknown>): Promise<Reply> {
  const take = SpendHolds.prototype.take;
  let release = () => {};
  const changed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = new Promise<void>((resolve) => {
    vi.spyOn(SpendHolds.prototype, 'take').mockImplementationOnce(async function (this: SpendHolds, ...args) {
      resolve();
      await changed;
      return take.apply(this, args);
    });
  });
  const answer = lane.chat(body);
  await waiting;
  await change().finally(release);
  return answer;
}

const strict = { prefer: 'price', deny_cloud_act: true };

/** A catalogue with the lane's model alone, some of whose facts are others. */
async function reloadWith(lane: Lane, edit: (catalogue: YamlObject) => void, models: Json = {}): Promise<void> {
  const routes = { gamma: {}, beta: {}, alpha: {}, ...models };
  const catalogue = structuredClone(routingCatalogue(routing.upstream.url, [modelOf(lane.model, routes)]));
  edit(catalogue);
  routing.gateway.files.writeCatalogue(catalogue);
  const reply = await routing.gateway.admin('POST', '/catalogue/reload');
  expect(reply.status, reply.text).toBe(200);
}

const facts = (key: string, id: string, more: Json) => (catalogue: YamlObject) => {
  const name = key === 'providers' ? 'id' : 'locode';
  const entry = (catalogue[key] as Json[]).find((each) => each[name] === id);
  Object.assign(entry!, more);
};

type Change = (lane: Lane) => Promise<unknown>;

const changes: Record<string, Change> = {
  'another gate of the policy': (lane) => lane.policy({ ...strict, providers: { allow: ['alpha', 'beta'] } }),
  'a gate that would remove the route': (lane) => lane.policy({ ...strict, providers: { allow: ['beta'] } }),
  'no policy': (lane) => lane.call('DELETE', '/v1/routing-policy'),
  'another preference of the policy': (lane) => lane.policy({ ...strict, prefer: 'carbon' }),
  'the scope of the key': (lane) =>
    routing.gateway.admin('PATCH', `/accounts/${lane.account.accountId}/keys/${lane.account.keyId}`, {
      allowed_providers: ['beta', 'gamma'],
    }),
  'the price of the route': (lane) => reloadWith(lane, () => {}, { alpha: { price: { input: 0.41, output: 7 } } }),
  'the route itself': (lane) => routing.withdraw(lane, ['beta', 'gamma']),
  'the carbon of its place': (lane) => reloadWith(lane, facts('regions', 'defra', { carbon: 1 })),
  'the jurisdiction of the provider': (lane) => reloadWith(lane, facts('providers', 'alpha', { cloud_act: true })),
};

/** The receipts of three requests: one before the change, one that waits during it, and one after it. */
async function receiptsAround(lane: Lane, body: Json, change: () => Promise<unknown>) {
  const replies = [await lane.chat(body), await chatDuring(lane, body, change), await lane.chat(body)];
  return Promise.all(replies.map((reply) => receiptOf(lane, reply))) as Promise<[Json, Json, Json]>;
}

describe('the receipt of a request that waited for its admission states what it was decided by', () => {
  it.each(Object.entries(changes))('while the account or the operator changes %s', async (_, change) => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma'], { policy: strict });
    const [before, during, after] = await receiptsAround(lane, {}, () => change(lane));
    expect(before).toMatchObject({ provider: 'alpha', gates: [{ name: 'deny_cloud_act', removed: 1 }] });
    expect(during).toEqual(before);
    expect(after, 'the change shows afterwards').not.toEqual(before);
  });

  it('with the gates of the request itself', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma'], { policy: strict });
    const asked = { provider: { ignore: ['alpha'] } };
    const [before, during, after] = await receiptsAround(lane, asked, () => lane.policy({ prefer: 'price' }));
    const names = (before.gates as Json[]).map(({ name }) => name);
    expect(names).toEqual(['deny_cloud_act', 'provider.ignore']);
    expect(during).toEqual(before);
    expect(after.gates).toEqual([{ name: 'provider.ignore', removed: 1 }]);
  });

  it('an entry of the saved chain passes the gates of the same policy, and the chain is that of the same moment', async () => {
    const first = await routing.lane(['alpha'], { policy: strict });
    const next = await routing.lane(['beta', 'gamma'], { account: first.account });
    const other = await routing.lane(['delta', 'epsilon'], { account: first.account });
    routing.on('alpha', broken);
    await first.saveChain(next.auto);
    const [before, during, after] = await receiptsAround(first, {}, async () => {
      await first.policy({ prefer: 'price', providers: { allow: ['alpha', 'gamma', 'epsilon'] } });
      await first.saveChain(other.auto);
    });
    expect(before).toMatchObject({ provider: 'beta', gates: [{ name: 'deny_cloud_act', removed: 1 }] });
    expect(during).toEqual(before);
    expect(after).toMatchObject({ provider: 'epsilon', gates: [{ name: 'providers', removed: 1 }] });
  });

  it('with the route that an alias stood for', async () => {
    const lane = await routing.lane(['alpha', 'beta'], { policy: strict });
    const model = await lane.alias('mine', lane.auto);
    const repoint = () => lane.call('PUT', '/v1/aliases/mine', { target: lane.pin('beta') });
    const [before, during, after] = await receiptsAround(lane, { model }, repoint);
    expect([before.provider, after.provider]).toEqual(['alpha', 'beta']);
    expect(during).toEqual(before);
  });
});
