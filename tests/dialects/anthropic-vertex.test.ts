import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { json, sse } from '../support/scripted-upstream.js';
import { anthropicVertexFixture as fixture, vertexBasePath } from './anthropic-vertex.js';
import { cases } from './cases.js';
import { failuresSuite } from './failures-suite.js';
import { type DialectRig, pin, startDialect } from './rig.js';
import { dialectSuite } from './suite.js';

dialectSuite(fixture);
failuresSuite(fixture);

describe('a native pass to Claude on Vertex AI', () => {
  let rig: DialectRig;
  beforeAll(async () => {
    rig = await startDialect(fixture);
  });
  afterAll(() => rig.stop());
  beforeEach(() => rig.upstream.reset());

  const { said } = cases[0]!;
  const answer = fixture.whole(said) as Json;
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Grüße', cache_control: { type: 'ephemeral' } }] }];
  const tools = [{ name: 'get_weather', input_schema: { type: 'object' } }];
  const version = 'vertex-2023-10-16';

  it('sends the body as it is but for the model, which is in the path', async () => {
    rig.upstream.reply(json(answer));
    const body = { model: pin, max_tokens: 50, messages, tools, a_later_field: { model: 'x' } };
    const headers = { 'anthropic-beta': 'one-2026-01-01' };
    const reply = await rig.gateway.call('POST', '/v1/messages', body, { headers });
    expect(reply.status, reply.text).toBe(200);
    const [call] = rig.upstream.calls;
    const { model: _, ...rest } = body;
    expect(call!.path).toBe(fixture.paths.whole);
    expect(call!.json).toEqual({ anthropic_version: version, ...rest });
    expect(call!.headers).toMatchObject({ 'anthropic-beta': 'one-2026-01-01' });
    expect(call!.headers).not.toHaveProperty('x-api-key');
    expect(reply.json).toMatchObject({ ...answer, model: pin, usage: { cost: expect.any(Number) } });
  });

  it.each([
    [
      'first, with blanks',
      (model: string) => `{ "model" : "${model}" , "max_tokens":5,"messages":[{"role":"user","content":"a"}]}`,
    ],
    [
      'last',
      (model: string) => `{"max_tokens":5,"messages":[{"role":"user","content":"a \\"model\\": "}],"model":"${model}"}`,
    ],
    [
      'with an escaped name',
      (model: string) => `{"max_tokens":5,"mod\\u0065l":"${model}","messages":[{"role":"user","content":"a"}]}`,
    ],
  ])('finds the member of the model wherever it is: %s', async (_, textOf) => {
    rig.upstream.reply(json(answer));
    const reply = await rig.gateway.call('POST', '/v1/messages', textOf(pin));
    expect(reply.status, reply.text).toBe(200);
    const { messages: sent, ...rest } = rig.upstream.calls[0]!.json as Record<string, unknown>;
    expect(rest).toEqual({ anthropic_version: version, max_tokens: 5 });
    expect(sent).toHaveLength(1);
  });

  it('does so for a large body too', async () => {
    rig.upstream.reply(json(answer));
    const text = 'ü'.repeat(400_000);
    const body = { max_tokens: 5, messages: [{ role: 'user', content: text }], model: pin };
    const reply = await rig.gateway.call('POST', '/v1/messages', body);
    expect(reply.status, reply.text).toBe(200);
    const { model: _, ...rest } = body;
    expect(rig.upstream.calls[0]!.json).toEqual({ anthropic_version: version, ...rest });
  });

  it('asks for a stream at another path, and passes its events on', async () => {
    const events = [
      { type: 'vertex_event' },
      { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ];
    rig.upstream.reply(sse(events, { noDone: true }));
    const reply = await rig.gateway.stream({ model: pin, max_tokens: 50, messages } as never, { path: '/v1/messages' });
    expect(reply.status, reply.text).toBe(200);
    expect(rig.upstream.calls[0]!.path).toBe(fixture.paths.stream);
    expect(rig.upstream.calls[0]!.json).toEqual({ anthropic_version: version, max_tokens: 50, messages, stream: true });
    const got = reply.frames.map(({ json: data }) => (data as { type: string }).type);
    expect(got.filter((type) => type !== 'vertex_event')).toEqual(events.slice(1).map(({ type }) => type));
  });

  it('has the tokens of a prompt counted at Google\u2019s path for it', async () => {
    rig.upstream.reply(json({ input_tokens: 77 }));
    const reply = await rig.gateway.call('POST', '/v1/messages/count_tokens', { model: pin, messages });
    expect(reply.json).toMatchObject({ input_tokens: 77 });
    const [call] = rig.upstream.calls;
    expect(call!.path).toBe(`${vertexBasePath}/models/count-tokens:rawPredict`);
    expect(call!.json).toEqual({ anthropic_version: version, model: fixture.upstreamModel, messages });
  });

  it('gives errors in Anthropic\u2019s form, whoever wrote them', async () => {
    const send = () => rig.gateway.call('POST', '/v1/messages', { model: pin, max_tokens: 5, messages });
    const { rejected, unknown_model } = fixture.failures;
    rig.upstream.reply(json(rejected.body, { status: rejected.status }));
    expect((await send()).json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    rig.upstream.reply(json(unknown_model.body, { status: unknown_model.status }));
    const reply = await send();
    expect([reply.status, reply.json]).toMatchObject([503, { type: 'error', error: { type: expect.any(String) } }]);
  });
});
