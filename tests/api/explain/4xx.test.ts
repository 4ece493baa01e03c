import { describe, expect, it } from 'vitest';
import { useRouting } from '../../support/routing.js';
import { badRequest, expectError } from '../harness.js';

const routing = useRouting();

describe('POST /v1/routes/explain refuses what is no valid request', () => {
  it.each<[string, unknown, string | undefined]>([
    ['no messages', { messages: undefined }, 'messages'],
    ['a temperature out of range', { temperature: 3 }, 'temperature'],
    ['a chain of eleven', { fallback: { models: Array(11).fill('auto/meta/m1') } }, 'fallback.models'],
    ['n of 0', { n: 0 }, 'n'],
  ])('400 for %s', async (_what, more, param) => {
    const lane = await routing.lane(['alpha']);
    expectError(await lane.explain(more as Record<string, unknown>), badRequest(param));
  });

  it('400 for a body that is no JSON object, 401 without a key, 405 for another method', async () => {
    const lane = await routing.lane(['alpha']);
    expectError(await lane.call('POST', '/v1/routes/explain', '[]'), badRequest());
    const anonymous = await routing.gateway.call('POST', '/v1/routes/explain', lane.body(), { key: null });
    expect(anonymous.status).toBe(401);
    const reply = await lane.call('GET', '/v1/routes/explain');
    expect([reply.status, reply.json.error.code]).toEqual([405, 'method_not_allowed']);
  });
});
