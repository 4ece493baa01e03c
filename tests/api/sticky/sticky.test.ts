/** Conversations over three equal providers: where each turn goes. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { completion } from '../../support/openai-shapes.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { json } from '../../support/upstream-scripts.js';

const names = ['alpha', 'beta', 'gamma'];
const upstreams: Record<string, ScriptedUpstream> = {};
let gateway: TestGateway;

beforeAll(async () => {
  for (const name of names) upstreams[name] = await startUpstream();
  const price = { input: 1, output: 1, cached_input: 0.1 };
  const routesWith = (own: object) => names.map((provider) => ({ provider, locode: 'defra', ...own }));
  gateway = await startGateway({
    catalogue: {
      providers: names.map((id) => ({ id, base_url: `${upstreams[id]!.url}/v1`, auth: 'none' })),
      regions: [{ locode: 'defra', country: 'DE', carbon: 100 }],
      models: [
        { creator: 'meta', model: 'equal', routes: routesWith({ price }) },
        { creator: 'meta', model: 'breaking', routes: routesWith({ price }) },
        { creator: 'meta', model: 'uncached', routes: routesWith({ price: { input: 1, output: 1 } }) },
      ],
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  for (const upstream of Object.values(upstreams)) await upstream.stop();
});

/** The order that the ranking gives; what is remembered differs from it, so that staying shows. */
let key: string;
beforeEach(async () => {
  for (const upstream of Object.values(upstreams)) upstream.reset();
  ({ key } = await gateway.createAccount());
});

interface Turn {
  provider: string;
  sticky: boolean;
}

async function turn(more: Json = {}, options: { key?: string; headers?: Record<string, string> } = {}): Promise<Turn> {
  const body = { model: 'auto/meta/equal', messages: [{ role: 'user', content: 'Hello' }], ...more };
  const reply = await gateway.chat(body, { key, ...options });
  expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  const { provider, sticky } = reply.json.router_metadata;
  return { provider, sticky };
}

async function turns(count: number, more: Json = {}): Promise<Turn[]> {
  const all: Turn[] = [];
  for (let i = 0; i < count; i++) all.push(await turn(more));
  return all;
}

/** Makes a provider other than the best ranked one the last to have served. */
const begin = (session: Json, provider = 'beta') => turn({ ...session, provider: { order: [provider] } });

describe('a conversation', () => {
  it('of 20 turns stays with the route that served it', async () => {
    const session = { session_id: 'twenty' };
    expect(await begin(session)).toEqual({ provider: 'beta', sticky: false });
    for (const each of await turns(19, session)) expect(each).toEqual({ provider: 'beta', sticky: true });
    expect(upstreams.beta!.calls).toHaveLength(20);
    for (const { body } of upstreams.beta!.calls) expect(String(body)).not.toContain('session_id');
  });

  it('moves to one other route when its own fails, and stays there', async () => {
    const session = { session_id: 'broken' };
    await begin(session);
    await turns(9, session);
    upstreams.beta!.enqueue(json({ error: { message: 'boom' } }, { status: 500 }));
    const [moved, ...rest] = await turns(10, session);
    expect(moved?.sticky).toBe(false);
    expect(moved?.provider).not.toBe('beta');
    for (const each of rest) expect(each).toEqual({ provider: moved!.provider, sticky: true });
  });

  it('of 20 turns goes on at one other route when the breaker of its own opens in the middle', async () => {
    const session = { session_id: 'breaking', model: 'auto/meta/breaking' };
    await begin(session);
    for (const each of await turns(9, session)) expect(each).toEqual({ provider: 'beta', sticky: true });
    upstreams.beta!.reply(json({ error: { message: 'boom' } }, { status: 500 }));
    const pinned = { model: 'beta/meta/breaking/defra', messages: [{ role: 'user', content: 'Hello' }] };
    for (let i = 0; i < 5; i++) expect((await gateway.chat(pinned, { key })).status).toBe(503);
    const called = upstreams.beta!.calls.length;
    const [moved, ...rest] = await turns(10, session);
    expect(['alpha', 'gamma']).toContain(moved!.provider);
    expect(moved!.sticky).toBe(false);
    for (const each of rest) expect(each).toEqual({ provider: moved!.provider, sticky: true });
    expect(upstreams.beta!.calls, 'an open breaker is not tried').toHaveLength(called);
    expect(upstreams[moved!.provider]!.calls).toHaveLength(10);
  });

  it('goes as ranked with sticky: false, which neither reads nor writes', async () => {
    const session = { session_id: 'loose' };
    const loose = { ...session, provider: { sticky: false } };
    await begin(session, 'gamma');
    for (let i = 0; i < 20; i++) {
      const body = { model: 'auto/meta/equal', messages: [{ role: 'user', content: 'Hello' }], ...loose };
      const ranked = (await gateway.call('POST', '/v1/routes/explain', body, { key })).json;
      expect(ranked.candidates).not.toContainEqual(expect.objectContaining({ sticky: true }));
      expect(await turn(loose)).toEqual({ provider: ranked.would_serve.split('/')[0], sticky: false });
    }
    expect(await turn(session)).toEqual({ provider: 'gamma', sticky: true });
  });

  it('never wins over a gate or an order, and outlives a sort', async () => {
    const session = { session_id: 'gated' };
    await begin(session);
    expect((await turn({ ...session, provider: { sort: 'price' } })).sticky).toBe(true);
    expect(await turn({ ...session, provider: { ignore: ['beta'] } })).toMatchObject({ sticky: false });
    await begin(session, 'gamma');
    expect(await turn({ ...session, provider: { order: ['alpha'] } })).toEqual({ provider: 'alpha', sticky: false });
    expect(await turn(session)).toEqual({ provider: 'alpha', sticky: true });
  });

  it('is named by body, header or cache key, and the names do not mix', async () => {
    await begin({ session_id: 'same' }, 'gamma');
    const ranked = (await turn()).provider;
    expect(await turn({}, { headers: { 'x-session-id': 'same' } })).toEqual({ provider: ranked, sticky: false });
    expect((await turn({}, { headers: { 'x-session-id': 'same' } })).sticky).toBe(true);
    expect((await turn({ prompt_cache_key: 'same' })).sticky).toBe(false);
    expect((await turn({ prompt_cache_key: 'same' })).sticky).toBe(true);
    expect((await turn({}, { headers: { 'x-claude-code-session-id': 'same' } })).sticky).toBe(false);
    expect((await turn({}, { headers: { 'x-claude-code-session-id': 'same' } })).sticky).toBe(true);
    expect((await turn({}, { headers: { 'x-session-id': 'x'.repeat(257) } })).sticky).toBe(false);
    expect((await turn({}, { headers: { 'x-session-id': 'x'.repeat(257) } })).sticky).toBe(false);
  });

  it('of another account changes nothing', async () => {
    const other = await gateway.createAccount();
    await begin({ session_id: 'mine' }, 'gamma');
    const ranked = (await turn()).provider;
    expect(await turn({ session_id: 'mine' }, { key: other.key })).toEqual({ provider: ranked, sticky: false });
    expect(await turn({ session_id: 'mine' })).toEqual({ provider: 'gamma', sticky: true });
  });

  it('without a name stays only where the last answer used a cache that has its own price', async () => {
    const cached = {
      ...completion(),
      usage: { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 8 } },
    };
    for (const upstream of Object.values(upstreams)) upstream.reply(json(cached));
    await begin({}, 'gamma');
    expect(await turn()).toEqual({ provider: 'gamma', sticky: true });
    expect((await turn({ messages: [{ role: 'user', content: 'Other' }] })).sticky).toBe(false);
    await begin({ model: 'auto/meta/uncached' }, 'gamma');
    expect((await turn({ model: 'auto/meta/uncached' })).sticky).toBe(false);
    for (const upstream of Object.values(upstreams)) upstream.reset();
    expect((await turn()).sticky).toBe(true);
    expect((await turn()).sticky).toBe(false);
  });

  it('is shown by the dry run', async () => {
    await begin({ session_id: 'dry' }, 'gamma');
    const body = { model: 'auto/meta/equal', messages: [{ role: 'user', content: 'Hi' }], session_id: 'dry' };
    const { candidates, would_serve } = (await gateway.call('POST', '/v1/routes/explain', body, { key })).json;
    expect(candidates[0]).toMatchObject({ id: would_serve, rank: 1, sticky: true });
    expect(candidates[1]).not.toHaveProperty('sticky');
    expect(would_serve).toMatch(/^gamma\//);
  });

  it('may have a session_id of 256 characters, also of two units each', async () => {
    await begin({ session_id: '😀'.repeat(256) }, 'gamma');
    expect(await turn({ session_id: '😀'.repeat(256) })).toEqual({ provider: 'gamma', sticky: true });
  });

  it.each([[''], ['😀'.repeat(257)], ['x'.repeat(257)], [7], [['a']]])(
    '400 for the session_id %j',
    async (session_id) => {
      const reply = await gateway.chat(
        { model: 'auto/meta/equal', messages: [{ role: 'user', content: 'Hi' }], session_id },
        { key },
      );
      expect([reply.status, reply.json.error.param]).toEqual([400, 'session_id']);
    },
  );

  it('is counted as hits, misses and cached tokens', async () => {
    const text = (await gateway.call('GET', '/metrics', undefined, { key: null })).text;
    expect(text).toMatch(/lodestone_sticky_total\{route="gamma\/meta\/equal\/defra",result="hit"\} [1-9]/);
    expect(text).toMatch(/lodestone_sticky_total\{route="gamma\/meta\/equal\/defra",result="miss"\} [1-9]/);
    expect(text).toMatch(/lodestone_sticky_cached_tokens_total\{route="gamma\/meta\/equal\/defra"\} [1-9]/);
  });
});
