import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { messageIn, quoteOf } from './quote.js';

const key = 'sk-proj-Zq81-provider_key.0042';
const provider = { ...smallSnapshot().providers.get('acme')!, apiKey: key };
const baseUrl = 'https://eu.acme.example:8443/v1';
const quote = (text: string, url = baseUrl): string => quoteOf(text, provider, url);

describe('the message in an envelope', () => {
  it.each([
    [{ error: { message: 'said' } }],
    [{ error: 'said' }],
    [{ message: 'said' }],
    [{ Message: 'said' }],
    [{ detail: 'said' }],
    [{ detail: [{ loc: ['body'], msg: 'said', type: 'x' }] }],
    [[{ error: { code: 429, message: 'said' } }]],
    [{ error: { code: 400, errors: [{ message: 'said' }] } }],
    [{ errors: [{ message: 'said' }] }],
    [{ object: 'error', message: ' said ' }],
    [{ error: { error: { message: 'said' } } }],
    [{ error: { message: { detail: 'said' } } }],
    [{ error: null, message: 'said' }],
    [{ error: '', title: 'said' }],
    ['said'],
    [{ error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"said"}}' } } }],
    [{ error: { message: 'Provider returned error', metadata: { raw: 'said' } } }],
    [{ error: { message: 'Provider returned error', metadata: { raw: { message: 'said' } } } }],
    [{ base_resp: { status_code: 1, status_msg: 'said' } }],
    [{ error_code: 1, error_msg: 'said' }],
  ])('is found in %j', (body) => expect(messageIn(body)).toBe('said'));

  it.each([[null], [undefined], [1], [''], [[]], [{}], [{ error: {} }], [{ error: 5 }], [{ x: 'no' }]])(
    'is not in %j',
    (body) => {
      expect(messageIn(body)).toBeUndefined();
    },
  );

  it('is made where a prompt was blocked without a word', () => {
    expect(messageIn({ promptFeedback: { blockReason: 'SAFETY' } })).toBe('the prompt was blocked (SAFETY)');
  });

  it('is not searched for ever', () => {
    let body: unknown = 'deep';
    for (let i = 0; i < 10_000; i++) body = { error: body };
    expect(messageIn(body)).toBeUndefined();
  });
});

describe('a quote', () => {
  it.each([
    [
      '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr>nginx</body></html>',
      '502 Bad Gateway',
    ],
    [
      '<!DOCTYPE html><html><head><title>\n  acme | 524: A timeout occurred </title><style>p{color:red}</style></head><body>x</body>',
      'acme | 524: A timeout occurred',
    ],
    ['<html><body><script>var a="<p>";</script><p>Service&nbsp;down</p></body></html>', 'Service down'],
    ['<h1>Too &lt;busy', 'Too busy'],
    ['plain text, 1 < 2 and 3 > 2', 'plain text, 1 < 2 and 3 > 2'],
    ['two\n\n  lines\t', 'two lines'],
  ])('of %j is short text without markup', (page, text) => expect(quote(page)).toBe(text));

  it.each([
    '<p>cut off<div class="x',
    '<html><script>let secret = 1; // never closed',
    '<style>p { color',
    '<<<p>>>x',
    '<!-- note -->x<br',
  ])('of the broken page %j has no markup either', (page) => {
    expect(quote(page)).not.toMatch(/<[a-z!/]|secret|color|class/i);
  });

  it('is at most 500 characters and breaks none', () => {
    for (const text of ['x'.repeat(10_000), `x${'😀'.repeat(5_000)}`, '😀'.repeat(5_000), `${'y '.repeat(5_000)}`]) {
      expect(quote(text).length).toBeLessThanOrEqual(500);
      expect(quote(text)).toBe(Buffer.from(quote(text)).toString());
      expect(quote(text).endsWith('…')).toBe(true);
    }
    expect(quote('x'.repeat(500))).toBe('x'.repeat(500));
  });

  it.each([
    `Incorrect API key provided: ${key}.`,
    `Bearer ${key}`,
    `{"headers":{"authorization":"Bearer ${key}"}}`,
    `authorization=${key}&x`,
    `${'x'.repeat(490)}${key}`,
    `<p>${key}</p>`,
  ])('never has our provider key in it: %s', (text) => {
    expect(quote(text)).not.toContain(key.slice(0, 12));
    expect(quote(text)).not.toContain('provider_key');
  });

  it('masks a key of any form, also one that looks like nothing', () => {
    const odd = { ...provider, apiKey: 'hunter2(.*)$&' };
    expect(quoteOf('you sent hunter2(.*)$& twice: hunter2(.*)$&', odd, baseUrl)).toBe(
      'you sent [credential] twice: [credential]',
    );
  });

  it.each([
    'sk-abc123***wxyz',
    'AIzaSyA1234567890abcdefghijklmnop',
    'gsk_abcdefgh12345678',
    'org-abcdef123456',
    'proj_abcdef123456',
    'Bearer eyJhbGciOi.abc.def',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/x',
    'projects/my-project-17',
    'team 0a1b2c3d-1111-2222-3333-444455556666',
  ])('masks %s, which is a credential or an account of somebody', (secret) => {
    expect(quote(`Refused for ${secret} today`)).not.toContain(secret);
  });

  it.each([
    'POST https://eu.acme.example:8443/v1/chat/completions failed',
    'HTTPS://EU.ACME.EXAMPLE:8443/internal?x=1 failed',
    'upstream eu.acme.example:8443 is down',
    'getaddrinfo ENOTFOUND eu.acme.example',
    'host EU.acme.Example is down',
  ])('never has our upstream\u2019s address in it: %s', (text) => {
    expect(quote(text)).toContain('[address]');
    expect(quote(text).toLowerCase()).not.toContain('acme.example');
    expect(quote(text)).not.toContain('internal');
  });

  it.each([
    ['connect ECONNREFUSED 10.1.2.3:8443', 'http://localhost:9001/v1'],
    ['connect ECONNREFUSED 127.0.0.1:9001', 'http://127.0.0.1:9001/v1'],
    ['connect ECONNREFUSED ::1:9001', 'http://localhost:9001/v1'],
    ['getaddrinfo EAI_AGAIN vllm:8443', 'http://vllm:8443/v1'],
    ['http://localhost:9001/v1/chat is down', 'http://localhost:9001/v1'],
  ])('masks the address in %j of %s', (text, url) => {
    expect(quote(text, url)).toContain('[address]');
    expect(quote(text, url)).not.toMatch(/\d+\.\d+\.\d+\.\d+|:9001|:8443/);
  });

  it.each([
    ['The key AKIAIOSFODNN7EXAMPLE is not valid', 'AKIAIOSFODNN7'],
    ['token ya29.a0AfH6SMBx-1_2 has expired', 'a0AfH6SMB'],
    ["should have been 'POST\nhost:h\nx-amz-security-token:IQoJb3JpZ2luX2VjEA\n'", 'IQoJb3JpZ2'],
  ])('masks a cloud\u2019s credential in %j', (text, secret) => {
    expect(quote(text)).toContain('[credential]');
    expect(quote(text)).not.toContain(secret);
  });

  it('costs by the length of the text, whatever is in it', () => {
    for (const piece of ['<', '<a', '<script', '<title', '<title>', '<!--', 'Bearer ', 'sk-', ' ', '&a', 'http://']) {
      const started = threadTime().ranMs;
      quote(piece.repeat(65_536 / piece.length));
      expect(threadTime().ranMs - started, piece).toBeLessThan(5_000);
    }
  });
});
