/** Path and method tricks, spoofed hosts and pipelines pass no guard and confuse no answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import { completion, json } from '../support/scripted-upstream.js';
import { ask, full, pause, type Rig, scaled, startRig } from './fixture.js';

let rig: Rig;
let key: string;
beforeAll(async () => {
  rig = await startRig();
  ({ key } = await rig.gateway.createAccount());
});
beforeEach(() => rig.upstream.reset());
afterAll(() => rig?.stop());

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCOL'];
const tricks = (path: string): string[] => [
  `/${path}`,
  path.toUpperCase(),
  path.replace('/v1', '/v1/.'),
  path.replace('/v1', '/v1/..//v1'),
  path.replace('/v1/', '/v1%2f'),
  path.replace('/v1', '/%2e/v1'),
  path.replace('/v1', '/v1;x'),
  `${path}%00`,
  path.replace('/v1', '/v1\\'),
  `${path}/`,
  `${path}%20`,
  `${path}.json`,
  `http://elsewhere.test${path}`,
];
const targets = [...tricks('/v1/chat/completions'), ...tricks('/v1/models'), ...tricks('/v1/aliases')].filter(
  // A model or an alias without a name: paths of ours, guarded like the others.
  (target) => !/(models|aliases)\/$/.test(target),
);

async function exchange(bytes: Buffer): Promise<{ status: number; json: unknown; headers: Record<string, string> }> {
  const connection = await RawConnection.open(rig.gateway.url);
  await connection.write(bytes);
  const response = await connection.readUntil(() => false, 5_000);
  connection.close();
  return response;
}

describe('paths and methods', () => {
  it('no trick of a path or a method reaches anything: 404 or 405 with the envelope, with and without a key', async () => {
    expect(methods.length * targets.length).toBeGreaterThanOrEqual(300);
    const body = JSON.stringify(ask());
    for (const [at, target] of targets.entries()) {
      const answers = methods.flatMap((method, turn) =>
        // With one of the two, in turns; with full counts each with both.
        (full ? [key, null] : [(at + turn) % 2 ? key : null]).map(async (token) => {
          const headers = { connection: 'close', ...(token && { authorization: `Bearer ${token}` }) };
          const sent = method === 'POST' || method === 'PUT' ? body : '';
          const {
            status,
            json: envelope,
            headers: got,
          } = await exchange(requestBytes(method, target, { 'content-type': 'application/json', ...headers }, sent));
          const named = `${method} ${target} ${status}`;
          expect([named, [404, 405].includes(status)]).toEqual([named, true]);
          if (method !== 'HEAD') expect((envelope as { error?: object })?.error).toBeTruthy();
          expect(got.server).toBeUndefined();
        }),
      );
      await Promise.all(answers);
    }
    expect(rig.upstream.calls).toHaveLength(0);
  }, 180_000);

  it.each(['/%76%31/aliases', '/v1/%61liases', '/%61dmin/v1/accounts'])(
    'GET %s is no path: an encoded letter is not the letter',
    async (path) => {
      for (const token of [null, 'x']) {
        expect((await rig.gateway.call('GET', path, undefined, { key: token })).status).toBe(404);
      }
    },
  );

  const guarded: [string, string][] = [
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/auto/meta/llama-3.3-70b'],
    ['GET', '/v1/aliases'],
    ['POST', '/v1/aliases'],
    ['GET', '/v1/aliases/x'],
    ['PUT', '/v1/aliases/x'],
    ['PATCH', '/v1/aliases/x'],
    ['DELETE', '/v1/aliases/x'],
    ['GET', '/v1/fallback'],
    ['PUT', '/v1/fallback'],
    ['DELETE', '/v1/fallback'],
    ['GET', '/v1/routing-policy'],
    ['PUT', '/v1/routing-policy'],
    ['DELETE', '/v1/routing-policy'],
    ['GET', '/v1/generations'],
    ['GET', '/v1/generation'],
    ['GET', '/v1/generation/x'],
    ['POST', '/v1/routes/explain'],
    ['GET', '/v1/credits'],
    ['GET', '/v1/key'],
    ['HEAD', '/v1/models'],
    ['GET', '/admin/v1/accounts'],
    ['POST', '/admin/v1/accounts'],
    ['GET', '/admin/v1/accounts/x'],
    ['PATCH', '/admin/v1/accounts/x'],
    ['POST', '/admin/v1/accounts/x/credits'],
    ['GET', '/admin/v1/accounts/x/ledger'],
    ['POST', '/admin/v1/accounts/x/keys'],
    ['GET', '/admin/v1/accounts/x/keys'],
    ['DELETE', '/admin/v1/accounts/x/keys/y'],
    ['GET', '/admin/v1/routes'],
    ['PUT', '/admin/v1/models/a/b/availability'],
    ['DELETE', '/admin/v1/routes/a/b/c/d/hold'],
    ['POST', '/admin/v1/catalogue/reload'],
    ['GET', '/admin/v1/audit'],
  ];

  it.each(guarded)(
    '%s %s is guarded: 401 without a key, with a wrong one, and with a body that is none',
    async (method, path) => {
      for (const token of [null, `sk-lr-${'A'.repeat(43)}`, 'x']) {
        const sent = ['POST', 'PUT', 'PATCH'].includes(method) ? '{' : undefined;
        const reply = await rig.gateway.call(method, path, sent, { key: token });
        expect(reply.status).toBe(401);
      }
      expect(rig.upstream.calls).toHaveLength(0);
    },
  );
});

describe('spoofed hosts', () => {
  it.each(['/v1/models', '/v1/nothing', '/v1/key', '/admin/v1/nothing'])(
    'Host, X-Forwarded-Host and -Proto change nothing in the answer of %s',
    async (path) => {
      const answer = async (headers: Record<string, string>) => {
        const own = { authorization: `Bearer ${key}`, connection: 'close' };
        const { status, headers: got, json: body } = await exchange(requestBytes('GET', path, { ...own, ...headers }));
        const rest = Object.entries(got).filter(([name]) => !/^(x-request-id|date|x-ratelimit-.*)$/.test(name));
        return { status, rest, body };
      };
      const plain = await answer({});
      const spoofed = await answer({
        host: 'evil.test',
        'x-forwarded-host': 'evil.test',
        'x-forwarded-proto': 'gopher',
        'x-forwarded-port': '666',
        'x-original-url': '/healthz',
        'x-rewrite-url': '/healthz',
        'x-http-method-override': 'DELETE',
      });
      expect(spoofed).toEqual(plain);
      expect(JSON.stringify(spoofed)).not.toContain('evil.test');
    },
  );
});

describe('pipelines', () => {
  const pipelined = (count: number) =>
    Buffer.concat(
      Array.from({ length: count }, (_, index) => {
        const body = JSON.stringify(ask({ messages: [{ role: 'user', content: `canary-${index};` }] }));
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
        return requestBytes('POST', '/v1/chat/completions', headers, body);
      }),
    );
  const echo = () =>
    rig.upstream.onRequest(({ json: sent }) => {
      const { content } = (sent as { messages: { content: string }[] }).messages[0]!;
      // The later ones are ready first.
      return json(completion({ content }), { delayMs: 50 - 5 * Number(/\d+/.exec(content)![0]) });
    });
  const canaries = (received: Buffer) => received.toString().match(/"content":"canary-\d+;"/g) ?? [];

  it('ten pipelined requests are answered in order, each with its own answer', async () => {
    echo();
    const connection = await RawConnection.open(rig.gateway.url);
    await connection.write(pipelined(10));
    await connection.readUntil((received) => canaries(received).length === 10);
    expect(canaries(connection.received)).toEqual(Array.from({ length: 10 }, (_, i) => `"content":"canary-${i};"`));
    connection.close();
  });

  it('a caller that leaves in the middle of its pipeline ends it, and nobody else sees any of it', async () => {
    echo();
    const [leaving, staying] = [await RawConnection.open(rig.gateway.url), await RawConnection.open(rig.gateway.url)];
    await leaving.write(pipelined(10));
    await staying.write(pipelined(3));
    await leaving.readUntil((received) => canaries(received).length >= 5);
    leaving.reset();
    await staying.readUntil((received) => canaries(received).length === 3);
    expect(canaries(staying.received)).toEqual(Array.from({ length: 3 }, (_, i) => `"content":"canary-${i};"`));
    staying.close();
    expect((await rig.gateway.call('GET', '/v1/key', undefined, { key })).status).toBe(200);
  });
});

describe('connections that are kept', () => {
  const idleMs = scaled(5_500, 61_000);
  const request = () => requestBytes('GET', '/v1/key', { authorization: `Bearer ${key}` });

  it('are promised for longer than a balancer’s 60 s, on every path', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const chat = requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask()));
    for (const bytes of [request(), chat]) {
      const connection = await RawConnection.open(rig.gateway.url);
      await connection.write(bytes);
      const { headers: got } = await connection.readUntil((received) => received.includes('\r\n\r\n'));
      connection.close();
      expect(got.connection).toBe('keep-alive');
      expect(Number(/timeout=(\d+)/.exec(got['keep-alive'] ?? '')?.[1])).toBeGreaterThan(60);
    }
  });

  it(`are there after ${idleMs} ms of silence, longer than Node’s own 5 s`, { timeout: 180_000 }, async () => {
    const connection = await RawConnection.open(rig.gateway.url);
    await connection.write(request());
    await pause(idleMs);
    await connection.write(request());
    await connection.readUntil((received) => received.toString().split('HTTP/1.1 200').length === 3);
    expect(connection.closedByPeer).toBe(false);
    connection.close();
  });
});
