import { describe, expect, it } from 'vitest';
import { badRequest, expectError, llama } from '../harness.js';
import { startWithoutSnapshot } from '../no-snapshot.js';

describe('503 service_unavailable on PUT /v1/fallback', () => {
  it('before the routing snapshot is there, after the body was checked; what needs no snapshot answers', async () => {
    const waiting = await startWithoutSnapshot();
    try {
      const { key } = await waiting.client.createAccount();
      const put = (models: unknown) => waiting.client.call('PUT', '/v1/fallback', { fallback: { models } }, { key });
      expectError(await put([llama]), {
        ...{ status: 503, type: 'internal_server_error', code: 'service_unavailable', param: 'model' },
        says: ['Retry'],
      });
      expectError(await put([5]), badRequest('fallback.models', '5'));
      expect((await waiting.client.call('GET', '/v1/fallback', undefined, { key })).status).toBe(200);
      const policy = await waiting.client.call('PUT', '/v1/routing-policy', { max_carbon: 5 }, { key });
      expect(policy.status).toBe(200);
    } finally {
      await waiting.stop();
    }
  });
});
