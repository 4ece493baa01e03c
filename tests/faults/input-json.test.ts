/** Bodies that two readers could read in two ways: what was checked is what is sent on, and everything else is a 400. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { ask, expectBooks, pin, prompt } from './fixture.js';

const dear = 'acme/meta/llama-dear/defra';
let gateway: TestGateway;
let upstream: up.ScriptedUpstream;
beforeAll(async () => {
  upstream = await up.startUpstream();
  const catalogue = catalogueOf({ acme: upstream.url });
  const [model] = catalogue.models as { model: string; routes: object[] }[];
  const route = { ...model!.routes[0]!, upstream_model: 'dear-model', price: { input: 600, output: 800 } };
  (catalogue.models as object[]).push({ ...model, model: 'llama-dear', routes: [route] });
  gateway = await startGateway({ catalogue });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => upstream.reset());

const invalid = { status: 400, type: 'invalid_request_error', code: 'invalid_request_error' };
const shape = ({ status, json }: Reply) => ({ status, type: json.error?.type, code: json.error?.code });
const messages = JSON.stringify([{ role: 'user', content: prompt }]);

async function expectServes(): Promise<void> {
  upstream.reset();
  expect((await gateway.chat(ask())).status).toBe(200);
}

describe('duplicate keys', () => {
  it.each([
    [pin, dear, 'dear-model', 1_000n],
    [dear, pin, 'upstream-model', 1n],
  ])('of two models, %s and %s, the last is checked, sent, priced and reported', async (first, last, sent, factor) => {
    const account = await gateway.createAccount();
    upstream.onRequest(({ json }) => up.json(up.completion({ model: (json as { model: string }).model })));
    const body = `{"model":"${first}","messages":${messages},"\\u006dodel":"nonsense","model":"${last}"}`;
    const reply = await gateway.chat(body, { key: account.key });
    expect([reply.status, reply.json.model, reply.json.router_metadata?.requested_model]).toEqual([200, last, last]);
    expect(upstream.calls.map(({ body: bytes }) => bytes.toString().match(/"model":"[^"]*"/g))).toEqual([
      [`"model":"${sent}"`],
    ]);
    const cost = BigInt(9 * 600_000 + 3 * 800_000) * factor;
    const [record] = await expectBooks(gateway, account, { records: 1, costs: [cost] });
    expect(record).toMatchObject({ requested_model: last, served_model: last });
  });

  it('of other duplicates, too, the last is the one that is checked and the only one that is sent', async () => {
    const body = (pair: string) => `{"model":"${pin}","messages":[],"messages":${messages},${pair}}`;
    const refused = await gateway.chat(body('"temperature":1,"temperature":9'));
    expect([shape(refused), refused.json.error.param]).toEqual([invalid, 'temperature']);
    expect(upstream.calls).toHaveLength(0);
    expect((await gateway.chat(body('"temperature":9,"temperature":1,"stream":true,"stream":false'))).status).toBe(200);
    expect(
      upstream.calls[0]!.body.toString()
        .match(/temperature|"stream"|messages/g)
        ?.sort(),
    ).toEqual(['"stream"', 'messages', 'temperature']);
    expect(upstream.calls[0]!.json).toMatchObject({ temperature: 1, stream: false, messages: [{ role: 'user' }] });
    await expectServes();
  });

  it.each([
    ['a role', '[{"role":"function","role":"user","content":"a"}]'],
    ['a role behind an escape', '[{"r\\u006fle":"function","role":"user","content":"a"}]'],
    ['a role in a later message', '[{"role":"user","content":"a"},{"role":"developer","content":"b","role":"user"}]'],
    ['content', '[{"role":"user","content":"first","content":"last"}]'],
  ])('%s given twice inside a message reaches the upstream once, as it was checked', async (_, twice) => {
    expect((await gateway.chat(`{"model":"${pin}","messages":${twice}}`)).status).toBe(200);
    const text = upstream.calls[0]!.body.toString();
    const parsed = (upstream.calls[0]!.json as { messages: object[] }).messages;
    expect(parsed).toEqual(JSON.parse(twice));
    expect(text).toContain(`"messages":${JSON.stringify(parsed)}`);
    expect(text).not.toMatch(/function|first|developer/);
    await expectServes();
  });
});

describe('numbers at the edge', () => {
  const fields = { temperature: [0, 2], top_p: [0, 1], frequency_penalty: [-2, 2], presence_penalty: [-2, 2] } as const;
  const whole = ['n', 'max_tokens', 'max_completion_tokens'];
  const values = [
    '1e999',
    '-1e999',
    '1e-400',
    '-0',
    '2.0000000001',
    '"1"',
    'true',
    '[]',
    '{}',
    '1e308',
    '-2.0000000001',
  ];
  const cases = [...Object.keys(fields), ...whole].flatMap((field) => values.map((value) => [field, value] as const));

  /** The expected verdict on the value, read as JSON reads it. */
  function allowed(field: string, text: string): boolean {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'number') return false;
    if (whole.includes(field)) return Number.isInteger(value) && value >= 1;
    const [low, high] = fields[field as keyof typeof fields];
    return value >= low && value <= high;
  }

  it.each(cases)(
    '`%s` of %s is served as it is or refused by its name, and never becomes null',
    async (field, value) => {
      const reply = await gateway.chat(`{"model":"${pin}","messages":${messages},"${field}":${value}}`);
      if (allowed(field, value)) {
        expect(reply.status).toBe(200);
        expect((upstream.calls[0]!.json as Record<string, number>)[field]! + 0).toBe(JSON.parse(value) + 0);
        return;
      }
      expect([shape(reply), reply.json.error.param]).toEqual([invalid, field]);
      expect(reply.json.error.message).toContain(`\`${field}\` is `);
      expect(reply.json.error.message).not.toMatch(/is null|is undefined|NaN/);
      if (/^-?\d/.test(value) && !/999/.test(value))
        expect(reply.json.error.message).toContain(String(JSON.parse(value)));
      expect(upstream.calls).toHaveLength(0);
    },
  );
});

describe('encodings', () => {
  const text = JSON.stringify(ask({ user: 'Zürich 🚀' }));
  const utf16be = Buffer.from(text, 'utf16le').swap16();
  const refused: [string, Buffer][] = [
    ['UTF-16LE', Buffer.from(text, 'utf16le')],
    ['UTF-16BE', utf16be],
    ['UTF-16LE with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])],
    ['UTF-32', Buffer.concat([...text].map((one) => Buffer.from([one.charCodeAt(0) & 255, 0, 0, 0])))],
    ['latin1', Buffer.from(text.replace('🚀', ''), 'latin1')],
    [
      'a cut UTF-8 sequence',
      Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xf0, 0x9f]), Buffer.from('"}')]),
    ],
    [
      'an overlong UTF-8 sequence',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]),
    ],
    [
      'a surrogate in UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['a NUL before it', Buffer.from(`\0${text}`)],
    ['a NUL after it', Buffer.from(`${text}\0`)],
    ['a raw NUL in a string', Buffer.from(text.replace('Zürich', 'Zü\0ich'))],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])],
  ];

  it.each(refused)('%s is a 400 without a param, never a 500, and no upstream is called', async (_, body) => {
    const reply = await gateway.chat(body);
    expect([shape(reply), reply.json.error.param]).toEqual([invalid, undefined]);
    expect(upstream.calls).toHaveLength(0);
    await expectServes();
  });

  it('UTF-8 with a byte-order mark, and escapes of every kind, are read as what they say', async () => {
    const account = await gateway.createAccount();
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
    const escaped = text.replace('🚀', '\\ud83d\\ude80').replace('ü', '\\u00fc');
    for (const body of [marked, escaped, text]) {
      upstream.reset();
      const reply = await gateway.chat(body, { key: account.key });
      if (body === marked && reply.status === 400) continue;
      expect(reply.status).toBe(200);
      expect(upstream.calls[0]!.json).toMatchObject({ user: 'Zürich 🚀' });
    }
    expect((await gateway.chat(text.replace('Zürich', '\\u0000\\ud800'), { key: account.key })).status).toBe(200);
    await expectServes();
  });
});
