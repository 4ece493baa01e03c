import { describe, expect, it } from 'vitest';
import { ask, badRequest, expectError, expectNothingSpent, expectRefused, useGateway } from '../harness.js';

const bench = useGateway();
const noParam = (...says: (string | RegExp)[]) => badRequest(undefined, 'The request body', ...says);

describe('400 the body is not a JSON object: no param', () => {
  it.each(['null', '[]', '"text"', '5', 'true', '[{"model":"acme/meta/llama"}]'])('%s', (body) =>
    expectRefused(bench, body, noParam('not a JSON object')),
  );

  it.each(['{', '{"model":}', '{"model":"a"', "{'model':'a'}", '{"a":1,}', 'model=acme', '<xml/>', '{} {}', '\u0000'])(
    '%j is no JSON, and its text is not repeated',
    async (body) => {
      await expectRefused(bench, body, noParam('not JSON', 'application/json'));
    },
  );

  it('an empty body', () => expectRefused(bench, '', noParam('empty')));

  it('invalid UTF-8 and UTF-16', async () => {
    const text = JSON.stringify(ask());
    const broken = Buffer.from(text.replace('Say hello.', 'Say \u0001')).map((byte) => (byte === 1 ? 0xff : byte));
    for (const body of [Buffer.from(broken), Buffer.from(text, 'utf16le'), Buffer.from([0xff, 0xfe, 0x7b, 0x00])]) {
      await expectRefused(bench, body, noParam('not JSON'));
    }
  });

  it('nesting deeper than 128 levels, small or large', async () => {
    const deep = (levels: number, pad = 0) =>
      `{"model":"acme/meta/llama","messages":[{"role":"user"}],"pad":"${'x'.repeat(pad)}","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    await expectRefused(bench, deep(129), noParam('deeper than 128 levels'));
    await expectRefused(bench, deep(100_000), noParam('deeper than 128 levels'));
    await expectRefused(bench, deep(5_000, 400_000), noParam('deeper than 128 levels'));
  });

  it('a large body with a fault is refused with the same words as a small one', async () => {
    const large = [{ role: 'user', content: 'x'.repeat(400_000) }];
    await expectRefused(
      bench,
      ask({ messages: large, temperature: 7 }),
      badRequest('temperature', '`temperature` is 7', 'from 0 to 2'),
    );
    await expectRefused(bench, `${JSON.stringify(ask({ messages: large }))}x`, noParam('not JSON'));
  });
});

describe('400 a content-type other than JSON', () => {
  const wrong = [
    'text/plain',
    'text/plain; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/octet-stream',
    'application/jsonp',
    'application/json5',
    'text/json-but-not',
    'json',
    'application',
    '*/*',
    'application/ json',
  ];

  it.each(wrong)('%s: validation cannot be skipped by it', async (type) => {
    const account = await bench.gateway.account();
    for (const body of [ask(), ask({ temperature: 7 })]) {
      const act = () => bench.gateway.chat(body, { headers: { 'content-type': type } });
      expectError(await expectNothingSpent(bench, account, act), noParam(type, 'application/json'));
    }
  });

  it('a missing one', async () => {
    const { gateway } = bench;
    const { key } = await gateway.account();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: Buffer.from(JSON.stringify(ask())),
    });
    const body = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, body.error.code]).toEqual([400, 'invalid_request_error']);
    expect(body.error.message).toContain('no content-type');
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json ; charset="UTF-8"',
    'application/vnd.api+json',
  ])('%s is JSON: served when sound, checked when not', async (type) => {
    const headers = { 'content-type': type };
    expect((await bench.gateway.chat(ask(), { headers })).status).toBe(200);
    expectError(await bench.gateway.chat(ask({ top_p: 2 }), { headers }), badRequest('top_p'));
    expect(bench.upstream.calls).toHaveLength(1);
  });
});
