/** What a caller asks of a provider must not change which model answers, nor make a route look ill to other callers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const price = { input: 3, output: 15, output_audio: 60, tiers: { fast: { input: 6, output: 30 } } };
const route = (provider: string, more: YamlObject = {}): YamlObject => ({
  ...{ provider, locode: 'defra', upstream_model: 'upstream-model', price, ...more },
});

function catalogue(url: string): YamlObject {
  const provider = { base_url: `${url}/v1`, auth: 'none', headquarters: 'DE', cloud_act: false };
  return {
    providers: [
      { id: 'claude', dialect: 'anthropic', ...provider },
      { id: 'plain', apis: ['chat', 'responses'], ...provider },
    ],
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      { creator: 'acme', model: 'one', max_output_tokens: 8_192, routes: [route('claude'), route('plain')] },
      { creator: 'acme', model: 'quiet', routes: [route('claude', { price: { input: 3, output: 15 } })] },
      { creator: 'acme', model: 'silent', routes: [route('plain', { price: { input: 3, output: 15 } })] },
      { creator: 'acme', model: 'agent', routes: [route('plain', { responses_only: true })] },
      { creator: 'acme', model: 'mixed', routes: [route('plain', { responses_only: true }), route('claude')] },
      { creator: 'acme', model: 'vectors', kind: 'embedding', dimensions: 2, routes: [route('plain')] },
    ],
  };
}

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ catalogue: catalogue(upstream.url) });
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const messages = [{ role: 'user', content: 'Hi' }];

describe('a list of models that the provider would choose from', () => {
  it.each([
    ['/v1/messages', 'claude', 'fallbacks', { max_tokens: 5, messages }],
    ['/v1/chat/completions', 'claude', 'fallbacks', { messages }],
    ['/v1/chat/completions', 'plain', 'models', { messages }],
    ['/v1/responses', 'plain', 'models', { input: 'Hi' }],
  ])('at %s on %s is refused, and nobody is asked', async (path, provider, param, body) => {
    upstream.reset();
    const model = `${provider}/acme/one/defra`;
    for (const value of [[{ model: 'other' }], ['other/model'], 'other', {}]) {
      const reply = await gateway.call('POST', path, { model, ...body, [param]: value });
      expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param } } });
      expect(reply.json.error.message).toContain('`fallback.models`');
    }
    expect(upstream.calls).toHaveLength(0);
  });

  it('that is empty or null asks for nothing', async () => {
    upstream.reset();
    for (const models of [[], null]) {
      const reply = await gateway.call('POST', '/v1/chat/completions', {
        ...{ model: 'plain/acme/one/defra', messages, models },
      });
      expect(reply.status, reply.text).toBe(200);
    }
  });
});

describe('a route that takes requests of the Responses API alone', () => {
  const response = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'upstream-model' },
    output: [
      {
        ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      },
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  };
  const pin = 'plain/acme/agent/defra';

  it.each([
    ['/v1/chat/completions', pin, { messages }],
    ['/v1/chat/completions', 'auto/acme/agent', { messages }],
    ['/v1/messages', pin, { max_tokens: 5, messages }],
  ])('answers %s of %s with 400, which names the API, and nobody is asked', async (path, model, body) => {
    upstream.reset();
    const reply = await gateway.call('POST', path, { model, ...body });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.text).toContain(
      `plain takes requests of the Responses API alone on ${pin}. Send the request to /v1/responses`,
    );
    expect(upstream.calls).toHaveLength(0);
  });

  it('serves the Responses API', async () => {
    upstream.reset();
    upstream.enqueue(json(response));
    const reply = await gateway.call('POST', '/v1/responses', { model: pin, input: 'Hi' });
    expect([reply.status, reply.json.output?.[0].content[0].text], reply.text).toEqual([200, 'Hello']);
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/v1/responses']);
  });

  it('is passed over by auto/ where another route takes the chat', async () => {
    upstream.reset();
    await gateway.call('POST', '/v1/chat/completions', { model: 'auto/acme/mixed', messages });
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/v1/messages']);
  });
});

describe('a word that every object knows', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    '%s as a type is an unknown one',
    async (type) => {
      const model = 'plain/acme/one/defra';
      const image = { type: 'image', source: { type } };
      const bodies: [string, object][] = [
        ...[[{ type }], [image], [{ type: 'text', text: 'Hi' }]].map((content): [string, object] => [
          '/v1/messages',
          { model, max_tokens: 5, messages: [{ role: 'user', content }], tool_choice: { type } },
        ]),
        ['/v1/responses', { model, input: [{ role: 'user', content: [{ type }] }] }],
        ['/v1/responses', { model, input: [{ type }] }],
      ];
      for (const [path, body] of bodies) {
        const reply = await gateway.call('POST', path, body);
        // A native route gets it as it is, and this one does not answer it.
        expect(reply.status, `${path} ${reply.text}`).toBe(path === '/v1/messages' ? 400 : 503);
      }
    },
  );
});

describe('a spoken answer', () => {
  const ask = (model: string) => ({
    ...{ model, messages, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
  });

  it('is not asked for on a route without a price for it', async () => {
    upstream.reset();
    const reply = await gateway.call('POST', '/v1/chat/completions', ask('plain/acme/silent/defra'));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'modalities' } } });
    expect(reply.json.error.message).toContain('no price for audio in the answer');
    expect(upstream.calls).toHaveLength(0);
  });

  it('is asked for on a route with one', async () => {
    upstream.reset();
    const reply = await gateway.call('POST', '/v1/chat/completions', ask('plain/acme/one/defra'));
    expect(reply.status, reply.text).toBe(200);
    expect(upstream.calls[0]!.json).toMatchObject({ modalities: ['text', 'audio'] });
  });
});

describe('fast mode', () => {
  const answer = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 100, output_tokens: 10, speed: 'fast' },
  };
  const ask = (model: string) => ({ model, messages, max_tokens: 5, speed: 'fast' });

  it.each(['/v1/messages', '/v1/chat/completions'])('at %s has the price of its tier', async (path) => {
    upstream.reset();
    upstream.onRequest(() => json(answer));
    const reply = await gateway.call('POST', path, ask('claude/acme/one/defra'));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.usage.cost).toBe((100 * 6 + 10 * 30) / 1e6);
    expect(upstream.calls[0]!.json).toMatchObject({ speed: 'fast' });
  });

  it.each(['/v1/messages', '/v1/chat/completions'])('at %s is not asked for where it has none', async (path) => {
    upstream.reset();
    const reply = await gateway.call('POST', path, ask('claude/acme/quiet/defra'));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'speed' } } });
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('vectors of another length than the caller asked for', () => {
  it('fail the request, and do not count against the route', async () => {
    upstream.reset();
    upstream.onRequest(() =>
      json({
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      }),
    );
    const ask = (more: object) =>
      gateway.call('POST', '/v1/embeddings', { model: 'auto/acme/vectors', input: 'x', ...more });
    for (let i = 0; i < 12; i++) {
      const reply = await ask({ dimensions: 5 });
      expect(reply.status, reply.text).toBe(503);
      expect(reply.json.error.message).toContain('a vector of 2 numbers, and not of 5');
    }
    const reply = await ask({});
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.data[0].embedding).toEqual([0.5, 0.25]);
  });
});
