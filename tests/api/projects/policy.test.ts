/** The policy of a project holds beside the account's, and receipts have the hash of both. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/base/canonical-json.js';
import type { Json } from '../../support/client.js';
import { catalogueOf, startGateway } from '../../support/gateway.js';
import { proofOf, verifyReceipt } from '../../support/proofs.js';
import { startUpstream } from '../../support/scripted-upstream.js';
import { type Bench, badRequest, expectError, messages } from '../harness.js';
import { managerOf } from './manager.js';

/** acme: under the CLOUD Act, Frankfurt. zeta: not, Paris, more expensive. dark: nothing is known of it, and no region. */
const bench = {} as Bench;
beforeAll(async () => {
  bench.upstream = await startUpstream();
  const { url } = bench.upstream;
  const catalogue = catalogueOf(
    { acme: url, zeta: url, dark: url },
    {
      providers: { acme: { cloud_act: true }, dark: { cloud_act: undefined } },
      routes: { zeta: { locode: 'frpar', price: { input: 30, output: 40 } }, dark: { locode: 'global' } },
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
const sha256 = (value: Json) => createHash('sha256').update(canonicalJson(value)).digest('hex');

async function team(policy?: Json, accountPolicy?: Json) {
  const manager = await managerOf(bench);
  const { id } = (await manager.call('POST', '/projects', { name: 'team' })).json;
  const path = `/projects/${id}/routing-policy`;
  if (policy) expect((await manager.call('PUT', path, policy)).status).toBe(200);
  if (accountPolicy) expect((await manager.call('PUT', '/routing-policy', accountPolicy)).status).toBe(200);
  const { token } = (await manager.call('POST', '/keys', { name: 'k', project: id })).json;
  const chat = (key = token, more: Json = {}) => bench.gateway.chat({ model, messages, ...more }, { key });
  const explain = async () =>
    (await bench.gateway.call('POST', '/v1/routes/explain', { model, messages }, { key: token })).json;
  return { ...manager, path, token: token as string, chat, explain };
}

describe('/v1/projects/{id}/routing-policy', () => {
  it('GET, PUT and DELETE as the account’s; `prefer` is null where the account’s holds', async () => {
    const { call, path } = await team();
    const own = (await call('GET', '/routing-policy')).json;
    const none = { ...own, prefer: null };
    expect((await call('GET', path)).json).toEqual(none);
    const put = await call('PUT', path, { regions: { allow: ['fr'], deny: [] }, prefer: 'carbon' });
    expect(put.json).toEqual({ ...none, regions: { allow: ['FR'], deny: [] }, prefer: 'carbon' });
    expect((await call('GET', path)).json).toEqual(put.json);
    expect((await call('PUT', path, none)).json).toEqual(none);
    expect((await call('GET', '/routing-policy')).json).toEqual(own);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).json).toEqual(none);
    expectError(await call('PUT', path, { max_water: 5 }), badRequest('max_water'));
    expectError(await call('PUT', path, { max_carbon: -1 }), badRequest('max_carbon'));
    expectError(await call('PUT', path, { prefer: 'wind' }), badRequest('prefer'));
  });

  it('only narrows: a key of another project is not bound, and the account’s gates still hold', async () => {
    const { chat, key, call } = await team({ providers: { allow: ['zeta'] } });
    const served = await chat();
    expect(served.json.model).toContain('zeta');
    await call('PUT', '/routing-policy', { providers: { allow: ['acme'] } });
    expect((await chat()).status).toBe(403);
    expect((await chat(key)).json.model).toContain('acme');
  });

  it('403 names the project’s gates with `project.` after the account’s, and each route once', async () => {
    const { chat, explain } = await team(
      { regions: { allow: ['SE'] }, deny_cloud_act: true },
      { deny_cloud_act: true },
    );
    const says = ['deny_cloud_act removed 2 routes, project.regions removed 1 route', model];
    const row = { status: 403, type: 'permission_error', code: 'routing_policy_exhausted', param: 'model', says };
    expectError(await chat(), row);
    const explained = await explain();
    const gates = explained.candidates.map(({ gate, verdict }: Json) => [verdict, gate]);
    expect(gates.sort()).toEqual([
      ...[
        ['gated', 'deny_cloud_act'],
        ['gated', 'deny_cloud_act'],
        ['gated', 'project.regions'],
      ],
    ]);
    expect(explained.counterfactuals, 'no change of the account’s policy helps').toEqual([]);
    expect((await chat(undefined, { model: 'acme/meta/llama-3.3-70b/defra' })).status, 'a pin').toBe(200);
  });

  it('`prefer` of the project wins over the account’s, and null takes the account’s', async () => {
    const { chat, call, path } = await team({ prefer: 'price' }, { prefer: 'carbon' });
    expect((await chat()).json.model).not.toContain('zeta');
    await call('PUT', path, { prefer: null });
    expect((await chat()).json.model).toContain('zeta');
  });
});

describe('the receipt of a request', () => {
  const receiptOf = async (id: string, key: string) => {
    const proof = await proofOf(bench.gateway, id, { key });
    const verdict = await verifyReceipt(proof);
    expect(verdict.code, verdict.out).toBe(0);
    return JSON.parse(proof.receipt) as Json;
  };

  it('has the hash of both policies and the gates of both; null where the project has none', async () => {
    const { chat, key, call, path, token } = await team({ deny_cloud_act: true }, { max_price: 500 });
    const { object: _, ...own } = (await call('GET', '/routing-policy')).json;
    const { object: __, ...narrow } = (await call('GET', path)).json;
    const bound = await receiptOf((await chat()).json.id, token);
    expect(bound).toMatchObject({ v: 3, policy: sha256(own), project_policy: sha256(narrow) });
    expect(bound.gates).toEqual([
      { name: 'max_price', removed: 0 },
      { name: 'project.deny_cloud_act', removed: 2 },
    ]);
    const free = await receiptOf((await chat(key)).json.id, key);
    expect(free).toMatchObject({
      policy: sha256(own),
      project_policy: null,
      gates: [{ name: 'max_price', removed: 0 }],
    });
  });
});
