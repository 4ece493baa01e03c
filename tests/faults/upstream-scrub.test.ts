/** What goes out to a provider and what comes back of it: only catalogue paths, and never our credentials or addresses in a quote. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as up from '../support/scripted-upstream.js';
import { ask, expectError, expectServes, providerError, type Rig, startRig } from './fixture.js';

const providerKey = 'acme-secret-2f8a91c47d0e';
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: { providers: { acme: { api_key: providerKey } } },
    catalogue: { providers: { acme: { auth: undefined, api_key_env: 'ACME_API_KEY' } } },
  });
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

describe('quotes of an upstream', () => {
  /** Says what it was sent, as careless servers do. */
  const echo =
    (status: number, shape: (text: string) => unknown): up.Script =>
    (exchange) => {
      const { headers, path } = exchange.call;
      const text = `invalid value for ${headers.authorization} at http://${headers.host}${path} (key ${providerKey}, host ${headers.host})`;
      return up.json(shape(text), { status })(exchange);
    };

  it.each([
    ['a 400', 400, (text: string) => ({ error: { message: text } })],
    ['a 401', 401, (text: string) => ({ message: text })],
    ['a 500 in plain text', 500, (text: string) => text],
    ['an error inside a 200', 200, (text: string) => ({ error: { message: text, code: 500 } })],
  ])(
    '%s that quotes our credential and address reaches the caller without them, in the answer and in the records',
    async (_, status, shape) => {
      const account = await rig.gateway.createAccount();
      for (const stream of [false, true]) {
        rig.upstream.reset();
        rig.upstream.reply(echo(status, shape));
        const reply = await rig.gateway.chat(ask({ stream }), { key: account.key });
        expect([400, 503]).toContain(reply.status);
        expect(rig.upstream.calls[0]!.headers.authorization).toBe(`Bearer ${providerKey}`);
        const { text: records } = await rig.gateway.call('GET', '/v1/generations', undefined, { key: account.key });
        for (const text of [reply.text, JSON.stringify(reply.headers), records]) {
          expect(text).not.toContain(providerKey);
          expect(text).not.toContain(`:${rig.upstream.port}`);
          expect(text).not.toContain(account.key);
        }
        expect(reply.json.error.message).toContain('invalid value for');
      }
      await expectServes(rig);
    },
  );

  it('a provider that quotes the prompt is quoted to the caller, and no word of it is stored', async () => {
    const account = await rig.gateway.createAccount();
    const prompt = 'The patient in bed 7 has been coughing since Tuesday.';
    rig.upstream.reply(up.json({ error: { message: `Refused: "${prompt}" is no question` } }, { status: 400 }));
    const body = ask({ messages: [{ role: 'user', content: prompt }] });
    const reply = await rig.gateway.chat(body, { key: account.key });
    expect(reply.json.error.message).toContain(prompt);
    const { json } = await rig.gateway.call('GET', '/v1/generations', undefined, { key: account.key });
    expect(json.data[0].attempts[0].error).toBe('Refused: "[…]" is no question (HTTP 400)');
  });

  it('a refused connection is reported without our address', async () => {
    const broken = await startRig({ providers: { closed: 'http://127.0.0.1:1' } });
    const reply = await broken.gateway.chat(ask({ model: 'closed/meta/llama-3.3-70b/defra' }));
    expect(expectError(reply, providerError)).not.toMatch(/127\.0\.0\.1|:1\b/);
    await broken.stop();
  });
});

describe('hostile model ids', () => {
  const pieces = [
    '..',
    '.',
    '%2e%2e',
    '%2f',
    '%2F..%2F',
    '#',
    '?x=1',
    '\\',
    ';',
    ' ',
    '\u0000',
    '\r\nx: y',
    'é',
    '/../../admin',
    '//',
    '@127.0.0.1:1',
    '{jndi}',
    '*',
    '🚀',
    'constructor',
    '__proto__',
  ];
  const ids = pieces.flatMap((piece) => [
    piece,
    `${piece}/meta/llama-3.3-70b`,
    `acme/${piece}/llama-3.3-70b`,
    `acme/meta/${piece}`,
    `acme/meta/llama-3.3-70b${piece}`,
    `acme/meta/llama-3.3-70b/${piece}`,
    `${piece}acme/meta/llama-3.3-70b/defra`,
    `acme/meta/llama-3.3-70b/defra${piece}`,
    `auto/meta/llama-3.3-70b${piece}x`,
    `alias/${piece}`,
  ]);

  it('no hostile id reaches an upstream or another path: each is a 400 or a 404 that names `model`', async () => {
    expect(ids.length).toBeGreaterThanOrEqual(200);
    for (const model of ids) {
      const reply = await rig.gateway.chat(ask({ model }));
      expect([model, [400, 404].includes(reply.status)]).toEqual([model, true]);
      expect([model, reply.json.error.param]).toEqual([model, 'model']);
    }
    expect(rig.upstream.calls).toHaveLength(0);
    expect(rig.other.calls).toHaveLength(0);
    await expectServes(rig);
    expect(rig.upstream.calls.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
    expect(rig.upstream.calls[0]!.json).toMatchObject({ model: 'upstream-model' });
  });
});
