import { describe, expect, it } from 'vitest';
import { chatCatalogue, model, route } from '../catalogue.js';
import { ask, expectError, llama, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('backup', [route({ upstream_model: 'upstream-backup' })])] });

async function owner() {
  const account = await bench.gateway.createAccount();
  const { key } = account;
  const call = (method: string, body?: unknown) => bench.gateway.call(method, '/v1/fallback', body, { key });
  return { ...account, call, save: (...models: unknown[]) => call('PUT', { fallback: { models } }) };
}

const chainOf = (...models: string[]) => ({ object: 'fallback', fallback: { models } });

describe('GET, PUT and DELETE /v1/fallback', () => {
  it('200 with an empty chain where none was saved', async () => {
    const reply = await (await owner()).call('GET');
    expect([reply.status, reply.json]).toEqual([200, chainOf()]);
  });

  it('200 with the chain, which replaces the old one; its own answer can be sent back', async () => {
    const { call, save } = await owner();
    await save('auto/meta/other');
    const models = ['auto/meta/llama', 'acme/meta/llama', 'acme/meta/llama/FRPAR', 'acme/meta/everywhere/global'];
    const reply = await save(...models);
    expect([reply.status, reply.json]).toEqual([200, chainOf(...models)]);
    expect((await call('GET')).json).toEqual(reply.json);
    expect((await call('PUT', reply.json)).json).toEqual(reply.json);
  });

  it('takes ten entries, aliases of the account, and none', async () => {
    const { save, key } = await owner();
    await bench.gateway.call('POST', '/v1/aliases', { name: 'fast', target: 'auto/meta/llama' }, { key });
    expect((await save(...Array(10).fill('alias/fast'))).status).toBe(200);
    expect((await save()).json).toEqual(chainOf());
  });

  it('204 without a body on DELETE, and the chain is empty', async () => {
    const { call, save } = await owner();
    await save(llama);
    for (let i = 0; i < 2; i++) {
      const reply = await call('DELETE');
      expect([reply.status, reply.text]).toEqual([204, '']);
    }
    expect((await call('GET')).json).toEqual(chainOf());
  });

  it('is the account’s own, and in the audit', async () => {
    const [mine, theirs] = [await owner(), await owner()];
    await mine.save(llama);
    expect((await theirs.call('GET')).json).toEqual(chainOf());
    const { json } = await bench.gateway.admin('GET', '/audit');
    expect(json.data.find(({ subject }: { subject: string }) => subject === mine.accountId)).toMatchObject({
      actor: `account:${mine.accountId}`,
      action: 'fallback.set',
      details: { models: [llama] },
    });
  });

  it('accepts a model that is soft-disabled: that passes', async () => {
    const state = (state: string) => bench.gateway.admin('PUT', '/models/meta/backup/availability', { state });
    const { save } = await owner();
    await state('soft_disabled');
    expect((await save('auto/meta/backup')).status).toBe(200);
    await state('available');
  });

  it('keeps an entry that is withdrawn after it was saved, and it fails no request', async () => {
    const { call, save, key } = await owner();
    await save('auto/meta/backup', 'acme/meta/other');
    bench.gateway.files.writeCatalogue(chatCatalogue(bench.upstream.url));
    expect((await bench.gateway.admin('POST', '/catalogue/reload')).status).toBe(200);
    expect((await call('GET')).json).toEqual(chainOf('auto/meta/backup', 'acme/meta/other'));
    const reply = await bench.gateway.chat(ask(), { key });
    expect([reply.status, reply.json.router_metadata.served_model]).toEqual([200, llama]);
    expect((await save('auto/meta/backup')).json.error.code).toBe('invalid_fallback_model');
  });

  it('401 without a key, 405 with allow for another method', async () => {
    expect((await bench.gateway.call('GET', '/v1/fallback', undefined, { key: null })).status).toBe(401);
    const reply = await (await owner()).call('POST', chainOf());
    expectError(reply, { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' });
    expect(reply.headers.allow).toMatch(/GET.*PUT.*DELETE/);
  });
});
