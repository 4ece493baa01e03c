import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { RawConnection, requestBytes } from '../../../tests/support/raw-http.js';
import { BodyMemory } from '../../limits/body-memory.js';
import { createServer, type LodestoneServer } from '../server/server.js';

let fixture: HttpFixture;
beforeEach(async () => {
  fixture = await httpFixture();
});

const call = (method: 'GET' | 'PUT' | 'DELETE', payload?: object) =>
  fixture.app.inject({ method, url: '/v1/fallback', headers: fixture.asKey, ...(payload && { payload }) });
const save = (...models: unknown[]) => call('PUT', { fallback: { models } });
const chainOf = (...models: string[]) => ({ object: 'fallback', fallback: { models } });

describe('/v1/fallback', () => {
  it('gives an empty chain before one was saved', async () => {
    const answer = await call('GET');
    expect([answer.statusCode, answer.json()]).toEqual([200, chainOf()]);
  });

  it('PUT replaces the chain, in the store, in memory and in the next answer', async () => {
    await save('zeta/meta/llama/global');
    const answer = await save('auto/meta/llama', 'acme/meta/llama/defra');
    const models = ['auto/meta/llama', 'acme/meta/llama/defra'];
    expect([answer.statusCode, answer.json()]).toEqual([200, chainOf(...models)]);
    expect((await call('GET')).json()).toEqual(answer.json());
    expect(fixture.account.fallback).toEqual(models);
    expect(fixture.store.accountRows.get(fixture.account.id)?.fallback).toEqual(models);
    expect((await call('PUT', answer.json())).statusCode).toBe(200);
  });

  it('takes an empty chain, and DELETE is the same', async () => {
    await save('auto/meta/llama');
    expect((await save()).json()).toEqual(chainOf());
    await save('auto/meta/llama');
    const answer = await call('DELETE');
    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect((await call('GET')).json()).toEqual(chainOf());
  });

  it('is in the audit', async () => {
    await save('auto/meta/llama');
    await call('DELETE');
    const actor = `account:${fixture.account.id}`;
    expect(fixture.store.auditRows.slice(-2)).toMatchObject([
      { actor, action: 'fallback.set', subject: fixture.account.id, details: { models: ['auto/meta/llama'] } },
      { actor, action: 'fallback.delete', subject: fixture.account.id },
    ]);
  });

  it.each<[string, object, string]>([
    ['fallback.models', {}, 'is missing'],
    ['fallback.models', { fallback: null }, 'is missing'],
    ['fallback.models', { fallback: {} }, 'is missing'],
    ['fallback.models', { fallback: { models: null } }, 'is missing'],
    ['fallback.models', { models: ['auto/meta/llama'] }, 'is missing'],
    ['fallback', { fallback: ['auto/meta/llama'] }, 'an array'],
    ['fallback', { fallback: 'auto/meta/llama' }, 'auto/meta/llama'],
    ['fallback.models', { fallback: { models: 'auto/meta/llama' } }, 'auto/meta/llama'],
    ['fallback.models', { fallback: { models: { 0: 'auto/meta/llama' } } }, 'an object'],
    ['fallback.models', { fallback: { models: ['auto/meta/llama', 5] } }, 'entry 1 is 5'],
    ['fallback.models', { fallback: { models: Array(11).fill('auto/meta/llama') } }, 'has 11 entries'],
  ])('400 invalid_request_error, param %s, for %j', async (param, body, says) => {
    const answer = await call('PUT', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'invalid_request_error', param });
    expect(answer.json().error.message).toContain(says);
  });

  it('400 invalid_fallback_model for an entry that is not served, and the old chain stays', async () => {
    await save('auto/meta/llama');
    const answer = await save('auto/meta/llama', 'acme/meta/llama/jptyo');
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'invalid_fallback_model', param: 'fallback.models' });
    expect((await call('GET')).json()).toEqual(chainOf('auto/meta/llama'));
  });

  it('checks the body, then the snapshot, then the entries', async () => {
    fixture = await httpFixture({ catalogue: { current: null, reload: async () => ({ ok: false, faults: [] }) } });
    expect((await save(5)).statusCode).toBe(400);
    const answer = await save('auto/meta/nothing');
    expect([answer.statusCode, answer.json().error.code]).toEqual([503, 'service_unavailable']);
  });

  it.each(['PUT', 'DELETE'] as const)(
    '500 on %s when the store is away, and memory keeps the old one',
    async (method) => {
      await save('auto/meta/llama');
      fixture.store.away = true;
      expect((await call(method, method === 'PUT' ? chainOf('zeta/meta/llama') : undefined)).statusCode).toBe(500);
      expect(fixture.account.fallback).toEqual(['auto/meta/llama']);
    },
  );
});

it('a client that leaves during its dry run takes no memory for bodies with it', async () => {
  const bodyMemory = new BodyMemory({ bytesMax: 8_000_000 });
  let answer = () => {};
  const answers = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const explain = vi.fn(async () => {
    await answers;
    return {};
  });
  const { deps, asKey } = await httpFixture({ bodyMemory, explain });
  const server = await createServer(deps);
  const connection = await RawConnection.open(`http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`);
  const headers = { ...asKey, 'content-type': 'application/json' };
  await connection.write(requestBytes('POST', '/v1/routes/explain', headers, 'x'.repeat(100_000)));
  await expect.poll(() => explain.mock.calls.length).toBe(1);
  expect(bodyMemory.heldBytes).toBeGreaterThan(100_000);
  connection.reset();
  await expect.poll(() => openConnections(server)).toBe(0);
  answer();
  await expect.poll(() => bodyMemory.heldBytes).toBe(0);
  await server.close();
  bodyMemory.close();
});

function openConnections({ server }: LodestoneServer): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}
