import { describe, expect, it } from 'vitest';
import { completion, json, sse } from '../../support/scripted-upstream.js';
import { ask, badRequest, expectError, expectWalkFailed, newestRecord, useGateway } from '../harness.js';

const bench = useGateway();

describe('400 without a code: the route cannot apply a parameter', () => {
  const rows: [string, unknown][] = [
    ['response_format', { type: 'json_object' }],
    ['logprobs', true],
    ['logit_bias', { '5': 1 }],
    ['n', 2],
  ];

  it.each(rows)(
    '%s: the message begins with who rejected it, names provider and reason; no upstream is called',
    async (param, value) => {
      const row = {
        status: 400,
        type: 'invalid_request_error',
        param,
        says: [
          /^Lodestone rejected the request before it reached the provider/,
          'acme',
          'cannot apply',
          `\`${param}\``,
        ],
      };
      await expectWalkFailed(bench, ask({ model: 'acme/meta/plain', [param]: value }), row, {
        upstreamCalls: 0,
        record: { attempts: [], providers_attempted: [], requested_model: 'acme/meta/plain', error_code: null },
      });
    },
  );

  it.each(rows)('%s is served where the route can apply it', async (param, value) => {
    expect((await bench.gateway.chat(ask({ [param]: value }))).status).toBe(200);
  });

  it.each([
    ['tools', [{ type: 'function', function: { name: 'f' } }]],
    ['top_logprobs', 3],
    ['seed', 1],
    ['reasoning_effort', 'low'],
  ])('%s is never refused: only four parameters are', async (field, value) => {
    expect((await bench.gateway.chat(ask({ model: 'acme/meta/plain', [field]: value }))).status).toBe(200);
  });
});

describe('400 the upstream rejected the request itself', () => {
  const rejection = (...says: (string | RegExp)[]) =>
    badRequest(undefined, /^The provider acme rejected the request/, ...says);
  const record = {
    providers_attempted: ['acme'],
    attempts: [expect.objectContaining({ provider: 'acme', locode: 'defra', outcome: 'rejected' })],
  };

  it.each([
    [400, 'Unsupported value: `temperature` does not support 0.3 with this model.'],
    [400, 'Invalid content block: type video is not implemented'],
    [422, 'extra fields not permitted: foo'],
    [501, 'This feature is not implemented'],
    [400, "This model's maximum context length is 8192 tokens."],
  ])('HTTP %i "%s" is quoted; one call, nothing billed', async (status, message) => {
    const { upstream } = bench;
    upstream.reply(json({ error: { message, type: 'invalid_request_error' } }, { status }));
    await expectWalkFailed(bench, ask(), rejection(message.slice(0, 30)), { upstreamCalls: 1, record });
  });

  it('in a 200 that holds an error', async () => {
    bench.upstream.reply(
      json({ error: { code: 400, message: 'Unsupported parameter: foo', type: 'invalid_request_error' } }),
    );
    await expectWalkFailed(bench, ask(), rejection('Unsupported parameter: foo'), { upstreamCalls: 1, record });
  });

  it('in the first frame of a stream, before anything was delivered: an ordinary 400', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(
      sse([{ error: { code: 400, message: 'Unsupported parameter: foo', type: 'invalid_request_error' } }]),
    );
    const account = await gateway.account();
    const reply = await gateway.stream(ask());
    expectError(reply, rejection('Unsupported parameter: foo'));
    expect(await newestRecord(gateway, account.key)).toMatchObject({
      streamed: true,
      status: 400,
      cost_usd: '0',
      stream_end: null,
    });
  });

  it('is quoted at most 500 characters, without markup, credentials and addresses of ours', async () => {
    const { gateway, upstream } = bench;
    const said = `<b>Unsupported</b> value at ${upstream.url}/v1/x with Bearer sk-provider-secret-0123456789 ${'y'.repeat(2_000)}`;
    upstream.reply(json({ error: { message: said, type: 'invalid_request_error' } }, { status: 400 }));
    const { json: body, headers } = await gateway.chat(ask());
    expect(body.error.message.length).toBeLessThan(600);
    expect(body.error.message).not.toMatch(/<b>|sk-provider|127\.0\.0\.1/);
    expect(headers['retry-after']).toBeUndefined();
  });

  it('a rejected pin is not tried again, anywhere', async () => {
    const { gateway, upstream } = bench;
    upstream.enqueue(json({ error: { message: 'Unsupported value', type: 'invalid_request_error' } }, { status: 400 }));
    upstream.enqueue(json(completion()));
    expect((await gateway.chat(ask())).status).toBe(400);
    expect(upstream.calls).toHaveLength(1);
  });
});
