/** Resources of another account look nonexistent: every endpoint with an id answers as for an id that never existed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import { ask, pin, prompt, type Rig, startRig } from './fixture.js';

let rig: Rig;
let owner: TestAccount;
let stranger: TestAccount;
const theirs = { alias: 'owned', generation: '', keyId: '' };
const missing = { alias: 'never', generation: 'gen-00000000000000000000000000', keyId: 'AAAAAAAAAA' };

beforeAll(async () => {
  rig = await startRig();
  [owner, stranger] = [await rig.gateway.createAccount(), await rig.gateway.createAccount()];
  const target = { provider: 'acme', canonical_id: 'meta/llama-3.3-70b', locode: 'defra' };
  await rig.gateway.call('POST', '/v1/aliases', { name: theirs.alias, target }, { key: owner.key });
  theirs.generation = (await rig.gateway.chat(ask(), { key: owner.key })).json.id;
  theirs.keyId = owner.keyId;
  await rig.gateway.call('PUT', '/v1/fallback', { fallback: { models: [pin] } }, { key: owner.key });
  await rig.gateway.call('PUT', '/v1/routing-policy', { deny_cloud_act: true }, { key: owner.key });
});
afterAll(() => rig?.stop());

type Ids = typeof theirs;
const target = { target: pin };
const messages = [{ role: 'user', content: prompt }];

/** Every call that takes an id of something an account owns. */
const calls: [string, string, (ids: Ids) => string, (ids: Ids) => unknown][] = [
  ['an alias read', 'GET', ({ alias }) => `/v1/aliases/${alias}`, () => undefined],
  ['an alias repointed', 'PUT', ({ alias }) => `/v1/aliases/${alias}`, () => target],
  ['an alias patched', 'PATCH', ({ alias }) => `/v1/aliases/${alias}`, () => target],
  ['an alias deleted', 'DELETE', ({ alias }) => `/v1/aliases/${alias}`, () => undefined],
  ['an alias as a model', 'GET', ({ alias }) => `/v1/models/alias/${alias}`, () => undefined],
  ['an alias in a chat', 'POST', () => '/v1/chat/completions', ({ alias }) => ({ model: `alias/${alias}`, messages })],
  ['an alias in a dry run', 'POST', () => '/v1/routes/explain', ({ alias }) => ({ model: `alias/${alias}`, messages })],
  ['an alias in a chain', 'PUT', () => '/v1/fallback', ({ alias }) => ({ fallback: { models: [`alias/${alias}`] } })],
  ['a generation', 'GET', ({ generation }) => `/v1/generation/${generation}`, () => undefined],
  ['a generation by query', 'GET', ({ generation }) => `/v1/generation?id=${generation}`, () => undefined],
  ['a page after a generation', 'GET', ({ generation }) => `/v1/generations?after=${generation}`, () => undefined],
  ['a page of a key', 'GET', ({ keyId }) => `/v1/generations?key=${keyId}`, () => undefined],
];

describe('another account’s resources', () => {
  it.each(calls)('%s: the same answer as for one that never was', async (_, method, path, body) => {
    const answer = async (ids: Ids) => {
      const reply = await rig.gateway.call(method, path(ids), body(ids), { key: stranger.key });
      const text = Object.values(ids).reduce((all, id) => all.replaceAll(id, '<id>'), reply.text);
      return { status: reply.status, text };
    };
    expect(await answer(theirs)).toEqual(await answer(missing));
  });

  it('lists, settings, credits and the key’s own view show nothing of another account', async () => {
    const read = async (path: string) => (await rig.gateway.call('GET', path, undefined, { key: stranger.key })).json;
    expect((await read('/v1/aliases')).data).toEqual([]);
    expect((await read('/v1/generations')).data).toEqual([]);
    expect((await read('/v1/fallback')).fallback.models).toEqual([]);
    expect((await read('/v1/routing-policy')).deny_cloud_act).toBe(false);
    expect((await read('/v1/credits')).data.balance_usd).toBe('10');
    expect((await read('/v1/key')).data.label).toContain(stranger.key.slice(-4));
    const ids = ((await read('/v1/models')).data as Json[]).map(({ id }) => String(id));
    expect(ids.filter((id) => id.startsWith('alias/'))).toEqual([]);
  });

  it('nothing that the stranger tried changed what the owner has', async () => {
    const { json: alias } = await rig.gateway.call('GET', `/v1/aliases/${theirs.alias}`, undefined, { key: owner.key });
    expect(alias.model_id).toBe(pin);
    expect(alias.updated_at).toBe(alias.created_at);
  });

  it.each([
    ['GET', '/accounts'],
    ['GET', '/routes'],
    ['GET', '/audit'],
    ['POST', '/accounts'],
  ])('a key is no admin token: 401 on %s /admin/v1%s', async (method, path) => {
    const reply = await rig.gateway.call(method, `/admin/v1${path}`, method === 'POST' ? {} : undefined, {
      key: owner.key,
    });
    expect([reply.status, reply.json.error.code]).toEqual([401, 'authentication_error']);
  });
});
