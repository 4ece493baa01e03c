/** Upstreams that break HTTP's framing and then stay silent: each answer fails at once, long before a time budget would end it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  expectBooks,
  expectError,
  expectServes,
  expectWithin,
  pin,
  providerError,
  type Rig,
  startRig,
} from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig({
    config: {
      timeouts: { first_byte_non_streaming: '3s', first_byte_streaming: '3s', overall: '3s' },
      breaker: { failures: 1000 },
    },
  });
  account = await rig.gateway.createAccount();
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

const soonMs = 500;
const body = JSON.stringify(up.completion());
const length = `content-length: ${body.length}\r\n`;
const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
const firstChunk = `${body.length.toString(16)}\r\n${body}\r\n`;

/** Each is sent, and then nothing more: the connection stays open. */
const heads: [string, string][] = [
  ['a bare LF after the status line', 'HTTP/1.1 200 OK\ncontent-length: 2\n\n{}'],
  ['a bare LF after the status line and nothing else', 'HTTP/1.1 200 OK\n'],
  ['a bare LF in a header', `${ok}${length}x-odd: a\nb: c\r\n`],
  ['bare LFs instead of the empty line', `${ok}${length}\n\n${body}`],
  ['a bare CR in a header', `${ok}x-odd: a\rb\r\n`],
  ['bare CRs instead of line ends', 'HTTP/1.1 200 OK\rcontent-length: 2\r\r{}'],
  ['a NUL in a header', `${ok}x-odd: a\0b`],
  ['a NUL in the status line', 'HTTP/1.1 200 O\0K'],
  ['a control character in a header', `${ok}x-odd: a\x01b`],
  ['a folded header', `${ok}x-odd: a\r\n b`],
  ['a header folded by a tab', `${ok}x-odd: a\r\n\tb`],
  ['a folded first header', `${ok} x-odd: a`],
  ['a blank before the colon', `${ok}content-length : 2\r\n`],
  ['a header without a colon', `${ok}nonsense\r\n`],
  ['a header without a name', `${ok}: x\r\n`],
  ['a status line that is none', 'HTTP/1.1 abc\r\n'],
  ['two lengths that differ', `${ok}content-length: 2\r\ncontent-length: 3\r\n`],
  ['a list of lengths', `${ok}content-length: 2, 3\r\n`],
  ['a length and chunks', `${ok}${length}transfer-encoding: chunked\r\n`],
  ['chunks and a length', `${ok}transfer-encoding: chunked\r\n${length}`],
  ['a transfer coding beside chunks', `${ok}transfer-encoding: gzip, chunked\r\n`],
  ['a head over its cap', `${ok}${`x-fill: ${'y'.repeat(1_000)}\r\n`.repeat(20)}`],
  ['a header line over the cap of a head', `${ok}x-fill: ${'y'.repeat(20_000)}`],
  ['endless interim answers', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(200)],
  ['an interim answer with a bare LF', 'HTTP/1.1 103 Early Hints\nlink: x\n\n'],
];

const bodies: [string, string][] = [
  ['a chunk size over 32 bits', `${chunked}fffffffff\r\n`],
  ['a chunk size without an end', `${chunked}${'0'.repeat(5_000)}`],
  ['a chunk size with a sign', `${chunked}-5\r\n`],
  ['a chunk size in another base', `${chunked}0x5\r\n`],
  ['a bare LF after a chunk size', `${chunked}5\nhello`],
  ['an endless chunk extension', `${chunked}5;${'x'.repeat(5_000)}`],
  ['a bare LF in a chunk extension', `${chunked}5;a\n`],
  ['a NUL in a chunk extension', `${chunked}5;a\0`],
  ['a bare LF after a chunk', `${chunked}5\r\nhello\n`],
  ['endless trailers', `${chunked}${firstChunk}0\r\n${'x-trailer: y\r\n'.repeat(5_000)}`],
  ['a bare LF that ends the trailers', `${chunked}${firstChunk}0\r\n\n`],
  ['a bare LF in a trailer', `${chunked}${firstChunk}0\r\nx-trailer: y\n`],
  ['a bare CR in a trailer', `${chunked}${firstChunk}0\r\nx-trailer: a\rb`],
  ['a NUL in a trailer', `${chunked}${firstChunk}0\r\nx-trailer: a\0b`],
];

describe('an answer that is malformed and then silent', () => {
  it.each([...heads, ...bodies])('with %s is a 503 at once, and its connection is closed', async (_, bytes) => {
    rig.upstream.reply(up.rawBytes([Buffer.from(bytes, 'latin1')], { end: 'hang' }));
    const started = performance.now();
    const reply = await rig.gateway.chat(ask(), { key: account.key });
    expectWithin(performance.now() - started, soonMs);
    expect(expectError(reply, providerError)).toMatch(/^The provider acme failed: /);
    const [call] = await rig.upstream.waitForCalls(1);
    await rig.upstream.waitFor(() => call!.closedAt !== null);
    expect(rig.upstream.calls).toHaveLength(1);
  });

  it.each(heads)('with %s fails as soon as the malformed byte is there, however slowly it comes', async (_, bytes) => {
    // The last piece holds the fault; what is before it came in another read.
    const at = Math.max(1, bytes.length - 12);
    rig.upstream.reply(
      up.rawBytes([Buffer.from(bytes.slice(0, at), 'latin1'), 20, Buffer.from(bytes.slice(at), 'latin1')], {
        end: 'hang',
      }),
    );
    const started = performance.now();
    expectError(await rig.gateway.chat(ask({ stream: true }), { key: account.key }), providerError);
    expectWithin(performance.now() - started, soonMs);
  });

  it('counts against its route', async () => {
    const counting = await startRig({ config: { breaker: { failures: 2 } } });
    try {
      counting.upstream.reply(up.rawBytes(['HTTP/1.1 200 OK\ncontent-length: 2\n\n{}'], { end: 'hang' }));
      for (let i = 0; i < 2; i++) expectError(await counting.gateway.chat(ask()), providerError);
      const { json } = await counting.gateway.admin('GET', '/routes');
      const route = (json.data as Json[]).find(({ id }) => id === pin);
      expect(route!.breaker).toBe('open');
    } finally {
      await counting.stop();
    }
  });

  it('is billed nothing, and leaves the gateway serving', async () => {
    await expectBooks(rig.gateway, account, { records: 2 * heads.length + bodies.length, costs: [] });
    await expectServes(rig);
  });
});
