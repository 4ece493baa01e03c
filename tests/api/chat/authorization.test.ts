/** Sixty malformed `Authorization` headers. None reaches an upstream, and no answer repeats one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestBytes, sendRaw } from '../../support/raw-http.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway();
let key = '';
let secret = '';

beforeAll(async () => {
  ({ key } = await bench.gateway.account());
  secret = key.slice(6);
});

/** Each is given a good key and makes a bad header value of it. */
const malformed: [string, (key: string) => string][] = [
  ['no scheme', (k) => k],
  ['lower-case scheme', (k) => `bearer ${k}`],
  ['upper-case scheme', (k) => `BEARER ${k}`],
  ['mixed-case scheme', (k) => `BeArEr ${k}`],
  ['two spaces', (k) => `Bearer  ${k}`],
  ['three spaces', (k) => `Bearer   ${k}`],
  ['a tab', (k) => `Bearer\t${k}`],
  ['a space and a tab', (k) => `Bearer \t${k}`],
  ['no space', (k) => `Bearer${k}`],
  ['a colon', (k) => `Bearer: ${k}`],
  ['a colon and no space', (k) => `Bearer:${k}`],
  ['an equals sign', (k) => `Bearer=${k}`],
  ['a comma', (k) => `Bearer, ${k}`],
  ['double quotes', (k) => `Bearer "${k}"`],
  ['single quotes', (k) => `Bearer '${k}'`],
  ['backticks', (k) => `Bearer \`${k}\``],
  ['an opening quote', (k) => `Bearer "${k}`],
  ['a closing quote', (k) => `Bearer ${k}"`],
  ['angle brackets', (k) => `Bearer <${k}>`],
  ['square brackets', (k) => `Bearer [${k}]`],
  ['braces', (k) => `Bearer {${k}}`],
  ['everything quoted', (k) => `"Bearer ${k}"`],
  ['Basic', (k) => `Basic ${k}`],
  ['Basic in base64', (k) => `Basic ${Buffer.from(`user:${k}`).toString('base64')}`],
  ['Token', (k) => `Token ${k}`],
  ['ApiKey', (k) => `ApiKey ${k}`],
  ['Digest', (k) => `Digest username="${k}"`],
  ['Negotiate', (k) => `Negotiate ${k}`],
  ['a scheme before the scheme', (k) => `Authorization: Bearer ${k}`],
  ['the scheme twice', (k) => `Bearer Bearer ${k}`],
  ['only the scheme', () => 'Bearer'],
  ['the prefix only', () => 'Bearer sk-lr-'],
  ['an empty token in quotes', () => 'Bearer ""'],
  ['null', () => 'Bearer null'],
  ['undefined', () => 'Bearer undefined'],
  ['a template variable', () => 'Bearer $LODESTONE_API_KEY'],
  ['a placeholder', () => 'Bearer <API_KEY>'],
  ['one character less', (k) => `Bearer ${k.slice(0, -1)}`],
  ['one character more', (k) => `Bearer ${k}A`],
  ['first character lost', (k) => `Bearer ${k.slice(1)}`],
  ['prefix lost', (k) => `Bearer ${k.slice(6)}`],
  ['an ellipsis in the middle', (k) => `Bearer ${k.slice(0, 10)}...${k.slice(-4)}`],
  ['upper-case prefix', (k) => `Bearer SK-LR-${k.slice(6)}`],
  ['underscores in the prefix', (k) => `Bearer sk_lr_${k.slice(6)}`],
  ['another prefix', (k) => `Bearer sk-${k.slice(6)}`],
  ['a longer prefix', (k) => `Bearer sk-lr-live-${k.slice(6)}`],
  ['the retired prefix', (k) => `Bearer sk-bf-${k.slice(6)}`],
  ['the key twice', (k) => `Bearer ${k}${k}`],
  ['two keys with a space', (k) => `Bearer ${k} ${k}`],
  ['two keys with a comma', (k) => `Bearer ${k},${k}`],
  ['a comma list of headers', (k) => `Bearer ${k}, Bearer ${k}`],
  ['a trailing comma', (k) => `Bearer ${k},`],
  ['a trailing semicolon', (k) => `Bearer ${k};`],
  ['a trailing parameter', (k) => `Bearer ${k}; charset=utf-8`],
  ['a trailing escape', (k) => `Bearer ${k}%0a`],
  ['a trailing backslash n', (k) => `Bearer ${k}\\n`],
  ['a space inside', (k) => `Bearer ${k.slice(0, 20)} ${k.slice(20)}`],
  ['a byte beyond ASCII', (k) => `Bearer ${k}\u00e9`],
  ['an OpenAI key', () => `Bearer sk-proj-${'a'.repeat(48)}`],
  ['a key of 8 KB', (k) => `Bearer ${k}${'a'.repeat(8_000)}`],
];

const body = JSON.stringify(ask());
const send = (headers: Record<string, string>, path = '/v1/chat/completions') =>
  sendRaw(
    bench.gateway.url,
    requestBytes('POST', path, { 'content-type': 'application/json', connection: 'close', ...headers }, body),
    { idleMs: 2_000 },
  );

describe('Authorization of a wrong form', () => {
  afterAll(() => expect(bench.upstream.calls).toHaveLength(0));

  it('are sixty, each another', () => {
    expect(new Set(malformed.map(([, make]) => make(key))).size).toBe(60);
  });

  it.each(malformed)('%s: 401 api_key_malformed, no upstream call, no echo', async (_, make) => {
    const response = await send({ authorization: make(key) });
    const { error } = response.json as { error: Record<string, string> };
    expect([response.status, error.type, error.code]).toEqual([401, 'authentication_error', 'api_key_malformed']);
    expect(error.message).toMatch(/Copy the key again/);
    const text = response.raw.toString('latin1');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(secret.slice(0, 12));
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it('two headers are a comma list, also when the first is right: 401 malformed', async () => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    for (const pair of [
      [key, 'sk-lr-x'],
      ['sk-lr-x', key],
      [key, key],
    ]) {
      const both = pair.map((token) => `authorization: Bearer ${token}\r\n`).join('');
      const response = await sendRaw(bench.gateway.url, `${head}${both}\r\n${body}`, { idleMs: 2_000 });
      expect(response.status).toBe(401);
      expect((response.json as { error: { code: string } }).error.code).toBe('api_key_malformed');
      expect(response.raw.toString('latin1')).not.toContain(secret);
    }
  });

  it('a header that is there but empty is malformed, not missing', async () => {
    const response = await send({ authorization: '' });
    expect(response.status).toBe(401);
    expect((response.json as { error: { code: string } }).error.code).toBe('api_key_malformed');
  });

  it('a key in a query, a cookie or another header is no key: 401 authentication_error, no echo', async () => {
    for (const [path, headers] of [
      [`/v1/chat/completions?api_key=${key}`, {}],
      ['/v1/chat/completions', { 'x-api-key': key }],
      ['/v1/chat/completions', { 'api-key': key }],
      ['/v1/chat/completions', { cookie: `authorization=Bearer ${key}` }],
      ['/v1/chat/completions', { 'proxy-authorization': `Bearer ${key}` }],
    ] as [string, Record<string, string>][]) {
      const response = await send(headers, path);
      expect(response.status).toBe(401);
      expect((response.json as { error: { code: string } }).error.code).toBe('authentication_error');
      expect(response.raw.toString('latin1')).not.toContain(secret);
    }
  });
});

describe('Authorization of the right form', () => {
  it('is taken whatever the case of the header’s name', async () => {
    for (const name of ['Authorization', 'AUTHORIZATION', 'authorization']) {
      expect((await send({ [name]: `Bearer ${key}` })).status).toBe(200);
    }
  });
});
