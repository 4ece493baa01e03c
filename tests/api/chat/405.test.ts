import { describe, expect, it } from 'vitest';
import { ask, expectError, useGateway } from '../harness.js';

const bench = useGateway();

describe('405 method_not_allowed, with allow', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['PUT', '/v1/chat/completions', 'POST'],
    ['PATCH', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['DELETE', '/v1/models/acme/meta/llama', 'GET'],
    ['PUT', '/v1/aliases', 'GET, POST'],
    ['POST', '/v1/aliases/x', 'GET, PUT, PATCH, DELETE'],
    ['POST', '/v1/generations', 'GET'],
    ['DELETE', '/v1/generation/gen-x', 'GET'],
    ['POST', '/v1/credits', 'GET'],
    ['DELETE', '/v1/key', 'GET'],
    ['DELETE', '/admin/v1/accounts', 'GET, POST'],
    ['GET', '/admin/v1/catalogue/reload', 'POST'],
    ['POST', '/healthz', 'GET'],
  ])('%s %s: before the key is looked at', async (method, path, methods) => {
    for (const options of [{}, { key: null }]) {
      const body = method === 'GET' ? undefined : ask();
      const reply = await bench.gateway.call(method, path, body, options);
      expectError(reply, {
        status: 405,
        type: 'invalid_request_error',
        code: 'method_not_allowed',
        says: [method, path],
      });
      const allow = String(reply.headers.allow).split(', ');
      for (const allowed of methods.split(', ')) expect(allow).toContain(allowed);
      expect(allow).not.toContain(method);
    }
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('OPTIONS answers 204 with allow, and open CORS under /v1 without credentials', async () => {
    const reply = await bench.gateway.call('OPTIONS', '/v1/chat/completions', undefined, {
      key: null,
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-allow-methods']).toContain('POST');
    expect(reply.headers['access-control-allow-headers']).toContain('authorization');
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('every answer to a browser under /v1 is readable from any origin, errors and streams too', async () => {
    const headers = { origin: 'https://app.example' };
    for (const reply of [
      await bench.gateway.chat(ask(), { headers }),
      await bench.gateway.stream(ask(), { headers }),
      await bench.gateway.chat(ask(), { headers, key: null }),
      await bench.gateway.call('GET', '/v1/models', undefined, { headers }),
    ]) {
      expect(reply.headers['access-control-allow-origin']).toBe('*');
      expect(reply.headers['access-control-expose-headers']).toContain('x-request-id');
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});
