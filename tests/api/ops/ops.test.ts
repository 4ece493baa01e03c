import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { startGateway } from '../../support/gateway.js';
import { useGateway } from '../harness.js';

const bench = useGateway();
const get = (path: string) => bench.gateway.call('GET', path, undefined, { key: null });

describe('operations', () => {
  it('GET /healthz and /readyz are 200 without a key, and never cached', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const reply = await get(path);
      expect(reply.status).toBe(200);
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(reply.headers['x-request-id']).toMatch(/^req-/);
    }
  });

  it('HEAD is answered like GET without a body', async () => {
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

  it('a process that shares a database with another, but no Redis, says so in its log and at /readyz, and serves (0022)', async () => {
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: unknown, text: unknown) => warnings.push(text) } as never;
    // No database of its own: the one of the first.
    const storage = { database_url: bench.gateway.files.databaseUrl };
    const second = await startGateway({ embedded: true, config: { storage }, logger });
    try {
      const ready = await second.call('GET', '/readyz', undefined, { key: null });
      expect([ready.status, ready.json]).toMatchObject([200, { status: 'ready', degraded: ['redis_url'] }]);
      expect(warnings).toEqual([expect.stringContaining('storage.redis_url')]);
    } finally {
      await second.stop();
    }
  });
});
