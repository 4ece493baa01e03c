/** Upstreams that break HTTP: the caller gets our headers and our statuses or a 503, and the process goes on. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectError, expectServes, providerError, type Rig, startRig } from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig({ config: { timeouts: { first_byte_non_streaming: '1500ms', overall: '3s' } } });
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  account = await rig.gateway.createAccount();
});
const chat = (more = {}) => rig.gateway.chat(ask(more), { key: account.key });

const body = JSON.stringify(up.completion());
const lengthOf = (text: string) => `content-length: ${Buffer.byteLength(text)}\r\n`;
const ok = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lengthOf(body)}\r\n${body}`;

describe('headers of an upstream', () => {
  const names = [
    'retry-after',
    'set-cookie',
    'server',
    'openai-organization',
    'openai-processing-ms',
    'via',
    'x-request-id',
    'cf-ray',
    'location',
    'www-authenticate',
    'x-ratelimit-limit-requests',
    'x-ratelimit-remaining-tokens',
    'alt-svc',
    'link',
    'etag',
    'age',
    'x-powered-by',
    'nel',
    'report-to',
    'x-cache',
  ];
  const headers = Object.fromEntries(
    [...names, ...Array.from({ length: 10 }, (_, at) => `x-upstream-${at}`)].map((name) => [name, 'canary-7']),
  );

  it('none of thirty upstream headers reaches the caller, on a 200, a stream, a 400 or a 503', async () => {
    const scripts = (headers: up.Headers) => [
      up.json(up.completion(), { headers }),
      up.json({ error: { message: 'unsupported value' } }, { status: 400, headers }),
      up.json({ error: { message: 'slow down' } }, { status: 429, headers }),
      up.sse(up.streamOf([' a']), { headers }),
    ];
    rig.upstream.enqueue(...scripts({}), ...scripts(headers));
    const four = async () => [
      await chat(),
      await chat(),
      await chat(),
      await rig.gateway.stream(ask(), { key: account.key }),
    ];
    const [plain, replies] = [await four(), await four()];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 503, 200]);
    replies.forEach((reply, at) => {
      expect(JSON.stringify(reply.headers)).not.toContain('canary-7');
      expect(Object.keys(reply.headers)).toEqual(Object.keys(plain[at]!.headers));
    });
    const costs = [costOf(9, 3), costOf(9, 1), costOf(9, 3), costOf(9, 1)];
    await expectBooks(rig.gateway, account, { records: 8, costs });
  });

  const odd: [string, Buffer][] = [
    ['a control character', Buffer.from('x-odd: a\x01b')],
    ['a NUL', Buffer.from('x-odd: a\0b')],
    ['a bare CR', Buffer.from('x-odd: a\rb')],
    ['a bare LF', Buffer.from('x-odd: a\nb: c')],
    ['an emoji', Buffer.from('x-odd: 🚀')],
    ['latin1', Buffer.from('x-odd: Z\u00fcrich', 'latin1')],
    ['20 KB', Buffer.from(`x-odd: ${'y'.repeat(20_000)}`)],
    ['no colon', Buffer.from('x-odd')],
    ['an empty name', Buffer.from(': value')],
    ['a blank in its name', Buffer.from('x odd: value')],
  ];

  it.each(odd)('a header with %s is at worst a 503, and no byte of it reaches the caller', async (_, line) => {
    const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lengthOf(body)}`);
    for (const stream of [false, true]) {
      rig.upstream.reset();
      const rest = Buffer.from(`\r\n\r\n${body}`);
      rig.upstream.reply(up.rawBytes([Buffer.concat([head, line, rest])], { end: 'keep' }));
      const reply = await chat({ stream });
      if (reply.status === 200) expect(reply.json.choices[0].message.content).toBe('Hello there.');
      else expectError(reply, providerError);
      expect(reply.headers['x-odd']).toBeUndefined();
      expect(rig.upstream.calls).toHaveLength(1);
      await expectServes(rig);
    }
  });
});

describe('statuses and framing', () => {
  it('interim responses before the answer are passed over (RFC 9110, section 15.2)', async () => {
    rig.upstream.enqueue(
      up.rawBytes(['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 20, ok], { end: 'keep' }),
      up.rawBytes([`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${ok}`], { end: 'keep' }),
    );
    for (const reply of [await chat(), await chat()])
      expect([reply.status, reply.headers.link]).toEqual([200, undefined]);
    await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(9, 3), costOf(9, 3)] });
  });

  const failures: [string, up.Script][] = [
    ['a flood of interim responses', up.rawBytes(['HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5_000)], { end: 'close' })],
    [
      '101 Switching Protocols',
      up.rawBytes(['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'], { end: 'close' }),
    ],
    ['status 999', up.rawBytes([ok.replace('200', '999')])],
    ['status 600', up.rawBytes([ok.replace('200', '600')])],
    ['status 99', up.rawBytes([ok.replace('200', '99')])],
    ['status 20', up.rawBytes([ok.replace('200', '20')])],
    ['status 2000', up.rawBytes([ok.replace('200', '2000')])],
    ['status -1', up.rawBytes([ok.replace('200', '-1')])],
    ['no status', up.rawBytes([ok.replace('200 ', '')])],
    ['204 with a body', up.rawBytes([ok.replace('200 OK', '204 No Content')])],
    ['205', up.rawBytes(['HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n'])],
    ['304', up.rawBytes(['HTTP/1.1 304 Not Modified\r\n\r\n'])],
    ['a redirect', up.redirect('http://127.0.0.1:1/elsewhere', 307)],
    ['HTTP/0.9', up.rawBytes([body])],
    ['HTTP/2 prefaced', up.rawBytes([ok.replace('HTTP/1.1', 'HTTP/2')])],
    ['HTTP/9.9', up.rawBytes([ok.replace('HTTP/1.1', 'HTTP/9.9')])],
    ['another protocol', up.rawBytes(['SSH-2.0-OpenSSH_9.6\r\n'])],
    ['binary garbage', up.rawBytes([Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at * 37) % 256))])],
    ['nothing but a close', up.rawBytes([])],
    ['half a head', up.rawBytes(['HTTP/1.1 200 OK\r\ncontent-ty'])],
    ['a shorter body than its length', up.rawBytes([ok.slice(0, -20)])],
    ['two lengths that differ', up.rawBytes([ok.replace('\r\n\r\n', '\r\ncontent-length: 5\r\n\r\n')])],
    ['a negative length', up.rawBytes([ok.replace(/content-length: \d+/, 'content-length: -5')])],
    ['a length that is no number', up.rawBytes([ok.replace(/content-length: \d+/, 'content-length: 1e3')])],
    [
      'a chunk size that is none',
      up.rawBytes([`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`]),
    ],
    [
      'a chunk that ends elsewhere',
      up.rawBytes([`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n${body}\r\n0\r\n\r\n`]),
    ],
    [
      'an endless chunk size',
      up.rawBytes(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 'f'.repeat(100_000)]),
    ],
    [
      'a head that never ends',
      up.rawBytes([
        'HTTP/1.1 200 OK\r\n',
        ...Array.from({ length: 400 }, (_, at) => `x-${at}: ${'y'.repeat(1_000)}\r\n`),
      ]),
    ],
  ];

  it.each(failures)('%s is a 503 in both modes, never an odd status, and nothing is billed', async (_, script) => {
    for (const stream of [false, true]) {
      rig.upstream.reset();
      rig.upstream.reply(script);
      const reply = await chat({ stream });
      expect(expectError(reply, providerError)).toMatch(/^The provider acme failed: /);
      expect(rig.upstream.calls).toHaveLength(1);
      await expectServes(rig);
    }
    await expectBooks(rig.gateway, account, { records: 2, costs: [] });
    expect(rig.other.calls).toHaveLength(0);
  });

  it('bytes after a complete answer spoil neither it nor the next one (RFC 9112, section 9.3)', async () => {
    rig.upstream.enqueue(up.rawBytes([`${ok}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen`], { end: 'keep' }));
    expect((await chat()).json.choices[0].message.content).toBe('Hello there.');
    expect((await chat()).json.choices[0].message.content).toBe('Hello there.');
    await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(9, 3), costOf(9, 3)] });
    await expectServes(rig);
  });
});
