import { describe, expect, it } from 'vitest';
import { useGateway } from '../harness.js';

const bench = useGateway();
const get = (path: string) => bench.gateway.call('GET', path, undefined, { key: null });

describe('operations (contract 9)', () => {
  it('GET /healthz and /readyz are 200 without a key, and never cached', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const reply = await get(path);
      expect(reply.status).toBe(200);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.headers['x-request-id']).toMatch(/^req-/);
    }
  });

  it('HEAD is answered like GET without a body (ruling 19)', async () => {
    const reply = await bench.gateway.call('HEAD', '/healthz', undefined, { key: null });
    expect([reply.status, reply.text]).toEqual([200, '']);
    const models = await bench.gateway.call('HEAD', '/v1/models');
    expect([models.status, models.text]).toEqual([200, '']);
  });

  it('every answer has a request id of its own', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await get('/healthz')).headers['x-request-id']),
    );
    expect(new Set(ids).size).toBe(20);
  });
});
