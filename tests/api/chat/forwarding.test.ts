import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json, sse, streamOf } from '../../support/scripted-upstream.js';
import { ask, messages, useGateway } from '../harness.js';

const bench = useGateway({ env: { KEYED_API_KEY: 'provider-credential-1' } });

/** Sends one chat and returns what the upstream was sent. */
async function sent(
  body: unknown,
): Promise<{ json: Json; text: string; headers: Record<string, string>; path: string }> {
  const reply = await bench.gateway.chat(body);
  expect(reply.status, reply.text).toBe(200);
  const call = bench.upstream.calls.at(-1)!;
  return { json: call.json as Json, text: call.body.toString('utf8'), headers: call.headers, path: call.path };
}

describe('what the upstream receives', () => {
  it('is a POST to its chat path with the route’s own model and an explicit "stream": false', async () => {
    const { json: body, path } = await sent(ask());
    expect(path).toBe('/v1/chat/completions');
    expect(bench.upstream.calls[0]!.method).toBe('POST');
    expect(body).toEqual({ model: 'upstream-model', stream: false, messages });
  });

  it('has "stream": false also where the caller sent it or null', async () => {
    for (const stream of [false, null]) expect((await sent(ask({ stream }))).json.stream).toBe(false);
  });

  it('has no no-op that the caller did not send', async () => {
    expect(Object.keys((await sent(ask())).json).sort()).toEqual(['messages', 'model', 'stream']);
  });

  it('is every sampling parameter as it was sent', async () => {
    const parameters = {
      temperature: 0.7,
      top_p: 0.25,
      frequency_penalty: -1.5,
      presence_penalty: 2,
      n: 2,
      max_tokens: 17,
      max_completion_tokens: 18,
      stop: ['a', 'b', 'c', 'd'],
      response_format: { type: 'json_object' },
      logprobs: true,
      logit_bias: { '50256': -100 },
    };
    expect((await sent(ask(parameters))).json).toEqual({
      model: 'upstream-model',
      stream: false,
      messages,
      ...parameters,
    });
  });

  it('has a stop of one string as one string', async () => {
    expect((await sent(ask({ stop: 'END' }))).json.stop).toBe('END');
  });

  it('has every field outside the table as it is, except `fallback`', async () => {
    const unknown = {
      seed: 12,
      tools: [{ type: 'function', function: { name: 'f' } }],
      user: 'u',
      x: { y: [1, null, {}] },
    };
    const { json: body } = await sent(ask({ ...unknown, fallback: { models: [] } }));
    expect(body).toEqual({ model: 'upstream-model', stream: false, messages, ...unknown });
  });

  it.each(['temperature', 'top_p', 'n', 'max_tokens', 'stop', 'response_format', 'logprobs', 'logit_bias', 'fallback'])(
    'has no %s where the caller sent null',
    async (field) => {
      expect(Object.keys((await sent(ask({ [field]: null }))).json)).not.toContain(field);
    },
  );

  it.each([
    ['n', 1],
    ['logprobs', false],
    ['logit_bias', {}],
    ['response_format', { type: 'text' }],
  ])('has no %s where it asks for nothing, also on a route that cannot apply it', async (field, value) => {
    const { json: body } = await sent(ask({ model: 'acme/meta/plain', [field]: value }));
    expect(Object.keys(body)).not.toContain(field);
  });

  it('has the last of duplicate keys, once, and it is the one that was routed, priced and reported', async () => {
    const { upstream, gateway } = bench;
    const body = (first: string, last: string) =>
      `{"model":"${first}","temperature":9,"messages":[],"model":"${last}","temperature":1,"messages":[{"role":"user","content":"a","content":"b"}]}`;
    for (const [first, last] of [
      ['acme/meta/llama/defra', 'acme/meta/free/defra'],
      ['acme/meta/free/defra', 'acme/meta/llama/defra'],
    ] as const) {
      const reply = await gateway.chat(body(first, last));
      expect([reply.status, reply.json.model, reply.json.router_metadata.requested_model]).toEqual([200, last, last]);
      expect(reply.json.usage.cost > 0).toBe(last.includes('llama'));
      const text = upstream.calls.at(-1)!.body.toString();
      for (const key of ['"model"', '"temperature"', '"messages"', '"content"']) {
        expect(text.split(key), `${key} once in ${text}`).toHaveLength(2);
      }
      expect(JSON.parse(text)).toEqual({
        model: 'upstream-model',
        stream: false,
        temperature: 1,
        messages: [{ role: 'user', content: 'b' }],
      });
    }
  });

  it('has every level of nesting up to 128', async () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 126; level++) deep = [deep];
    expect((await sent(ask({ x: deep }))).json.x).toEqual(deep);
  });

  it.each([
    ['reasoning', 'reasoning_content'],
    ['reasoning_content', 'reasoning'],
  ])(
    'has the reasoning of an earlier answer under the provider’s own name, %s, and not under %s',
    async (own, alias) => {
      const { gateway, upstream } = bench;
      upstream.enqueue(json(completion({ message: { [own]: 'Let me see é.' } })));
      const answer = (await gateway.chat(ask())).json.choices[0].message;
      expect([answer[own], answer[alias]]).toEqual(['Let me see é.', 'Let me see é.']);
      const { json: body } = await sent(ask({ messages: [...messages, answer, ...messages] }));
      expect((body.messages as Json[])[1]).toEqual({ ...answer, [alias]: undefined });
    },
  );

  it('has two names of reasoning where they say different things', async () => {
    const said = { role: 'assistant', content: 'a', reasoning: 'one', reasoning_content: 'two' };
    expect((await sent(ask({ messages: [said, ...messages] }))).json.messages).toEqual([said, ...messages]);
  });

  it('has image addresses untouched: they are passed on, never fetched', async () => {
    const { upstream } = bench;
    const content = [{ type: 'image_url', image_url: { url: `${upstream.url}/canary.png` } }];
    const { json: body } = await sent(ask({ messages: [{ role: 'user', content }] }));
    expect((body.messages as Json[])[0]!.content).toEqual(content);
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });
});

describe('the headers that the upstream receives', () => {
  it('are only ours: nothing of the caller’s gets through', async () => {
    const { gateway, upstream } = bench;
    const headers = {
      cookie: 'session=secret',
      'x-forwarded-for': '9.9.9.9',
      'user-agent': 'caller/1',
      'openai-organization': 'org-caller',
      'x-custom': 'caller',
      'accept-language': 'de',
    };
    expect((await gateway.chat(ask(), { headers })).status).toBe(200);
    const call = upstream.calls[0]!;
    const allowed = ['host', 'connection', 'content-type', 'content-length', 'accept', 'accept-encoding', 'user-agent'];
    expect(Object.keys(call.headers).filter((name) => !allowed.includes(name))).toEqual([]);
    expect(call.rawHead).not.toMatch(/sk-lr-|secret|9\.9\.9\.9|caller/);
    expect(call.headers['content-type']).toBe('application/json');
  });

  it('have the provider’s credential, never the caller’s key', async () => {
    const { headers, text } = await sent(ask({ model: 'keyed/meta/llama/defra' }));
    expect(headers.authorization).toBe('Bearer provider-credential-1');
    expect(text).not.toContain('provider-credential-1');
  });
});

describe('what the upstream receives for a stream', () => {
  it.each([
    [undefined, { include_usage: true }],
    [null, { include_usage: true }],
    [{ include_usage: false }, { include_usage: true }],
    [
      { include_usage: true, include_obfuscation: false },
      { include_usage: true, include_obfuscation: false },
    ],
  ])('always asks for usage: the caller’s %j becomes %j', async (stream_options, expected) => {
    const { gateway, upstream } = bench;
    upstream.reply(sse(streamOf(['a'])));
    const reply = await gateway.stream(ask({ stream_options }));
    expect(reply.status).toBe(200);
    expect(upstream.calls[0]!.json).toEqual({
      model: 'upstream-model',
      stream: true,
      stream_options: expected,
      messages,
    });
  });

  it('a whole answer is asked without stream_options', async () => {
    bench.upstream.reply(json(completion()));
    const { json: body } = await sent(ask({ stream_options: { include_usage: true } }));
    expect(Object.keys(body)).not.toContain('stream_options');
  });
});
