/** Callers that leave and upstreams that are given up: the upstream is let go at once, and only what was delivered is billed. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chatDoor } from '../../src/doors/chat/chat-door.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  costOf,
  countedCost,
  expectAt,
  expectBooks,
  expectError,
  expectServes,
  expectWithin,
  pause,
  promptTokens,
  type Rig,
  startRig,
  timeoutError,
  timeoutMessage,
  words,
} from './fixture.js';

describe('callers that leave', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      config: { timeouts: { first_byte_streaming: '400ms', first_byte_non_streaming: '1500ms' } },
    });
    // The first time loads and compiles what the others find there: their times are the gateway's own.
    await hangUpAfterTen((await rig.gateway.account()).key);
  });
  afterAll(() => rig.stop());

  /** A stream of 100 words, left after the tenth. No more come: one that is sent while the client leaves is delivered, and billed. */
  async function hangUpAfterTen(key: string) {
    rig.upstream.reset();
    rig.upstream.reply(up.sse(up.streamOf(words(100)), { gapMs: 40, hangAfter: 11 }));
    const reply = await rig.gateway.stream(ask(), { key, hangUpAfter: 11 });
    const leftAt = reply.frames.at(-1)!.at;
    const [call] = rig.upstream.calls;
    await rig.upstream.waitFor(() => call!.aborted);
    return { reply, abortMs: call!.abortedAt! - leftAt };
  }

  it('a stream whose client disconnects is aborted upstream within 100 ms and billed for the prompt and what was delivered', async () => {
    const account = await rig.gateway.createAccount();
    const { reply, abortMs } = await hangUpAfterTen(account.key);
    expect(reply.content).toBe(words(10).join(''));
    expectWithin(abortMs, 100);
    const [record] = await expectBooks(rig.gateway, account, {
      records: 1,
      costs: [countedCost(words(10).join(''))],
    });
    expect(record).toMatchObject({
      stream_end: 'client_closed',
      status: 200,
      completion_tokens: 10,
      finish_reason: null,
    });
    expect(rig.upstream.calls).toHaveLength(1);
    await expectServes(rig);
  });

  it('a token costs the same whether the usage frame came or the caller left before it', async () => {
    const account = await rig.gateway.createAccount();
    await hangUpAfterTen(account.key);
    rig.upstream.reply(up.sse(up.streamOf(words(10), { usage: up.usage(promptTokens, 10) })));
    const whole = await rig.gateway.stream(ask(), { key: account.key });
    expect(whole.done).toBe(true);
    const cost = costOf(promptTokens, 10);
    const records = await expectBooks(rig.gateway, account, { records: 2, costs: [cost, cost] });
    expect(records.map(({ usage_source }) => usage_source)).toEqual(['provider', 'counted']);
  });

  it('a caller that resets its connection in the middle of a stream counts as gone, too', async () => {
    const account = await rig.gateway.createAccount();
    rig.upstream.reset();
    rig.upstream.reply(up.sse(up.streamOf(words(100)), { gapMs: 40 }));
    const connection = await RawConnection.open(rig.gateway.url);
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify(ask({ stream: true }));
    await connection.write(requestBytes('POST', '/v1/chat/completions', headers, body));
    const texts = (received: Buffer) => received.toString().split('"content":" ').length - 1;
    const seen = await connection.readUntil((received) => texts(received) >= 5);
    const leftAt = performance.now();
    connection.reset();
    await rig.upstream.waitFor(() => rig.upstream.calls[0]!.aborted);
    expectWithin(rig.upstream.calls[0]!.abortedAt! - leftAt, 100);
    const cost = countedCost(words(texts(seen.raw)).join(''));
    await expectBooks(rig.gateway, account, { records: 1, costs: [cost] });
    await expectServes(rig);
  });

  it('a caller that leaves before a whole answer aborts the upstream within 100 ms and pays nothing', async () => {
    const account = await rig.gateway.createAccount();
    for (const body of [ask(), ask({ stream: true })]) {
      rig.upstream.reset();
      rig.upstream.reply(up.json(up.completion(), { delayMs: 5_000 }));
      const controller = new AbortController();
      const answer = rig.gateway
        .chat(body, { key: account.key, signal: controller.signal })
        .catch((error) => error.name);
      await rig.upstream.waitForCalls(1);
      await pause(100);
      const leftAt = performance.now();
      controller.abort();
      expect(await answer).toBe('AbortError');
      const [call] = rig.upstream.calls;
      await rig.upstream.waitFor(() => call!.aborted);
      expectWithin(call!.abortedAt! - leftAt, 100);
    }
    const records = await expectBooks(rig.gateway, account, { records: 2, costs: [] });
    for (const record of records) expect(record).toMatchObject({ status: 499, error_code: 'client_closed' });
    expect(rig.upstream.calls).toHaveLength(1);
    expect(rig.other.calls).toHaveLength(0);
    await expectServes(rig);
  });

  it('a caller that leaves while a whole answer is arriving pays nothing, and the rest is not fetched', async () => {
    const account = await rig.gateway.createAccount();
    rig.upstream.reset();
    rig.upstream.reply(up.slowBody(up.completion({ content: 'slow '.repeat(200) }), { pieceBytes: 20, gapMs: 20 }));
    const controller = new AbortController();
    const answer = rig.gateway
      .chat(ask(), { key: account.key, signal: controller.signal })
      .catch((error) => error.name);
    await rig.upstream.waitFor(() => (rig.upstream.calls[0]?.bytesWritten ?? 0) > 200);
    const leftAt = performance.now();
    controller.abort();
    expect(await answer).toBe('AbortError');
    await rig.upstream.waitFor(() => rig.upstream.calls[0]!.aborted);
    expectWithin(rig.upstream.calls[0]!.abortedAt! - leftAt, 100);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('a caller that leaves while a large answer is hashed pays nothing: it was not sent', async () => {
    const account = await rig.gateway.createAccount();
    rig.upstream.reset();
    rig.upstream.reply(up.json(up.completion({ content: 'large '.repeat(1 << 20) })));
    const connection = await RawConnection.open(rig.gateway.url);
    const { writeAnswer } = chatDoor;
    const written = vi.spyOn(chatDoor, 'writeAnswer').mockImplementation((answer) => {
      // The hash of 6 MB that follows takes two dozen turns of the event loop.
      connection.reset();
      return writeAnswer(answer);
    });
    try {
      const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
      await connection.write(requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask())));
      const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      expect(written).toHaveBeenCalledOnce();
      expect(record).toMatchObject({ status: 499, error_code: 'client_closed', first_byte_ms: null });
    } finally {
      written.mockRestore();
    }
    await expectServes(rig);
  });

  it.each([
    { stream: true, budget: '400ms', ms: 400 },
    { stream: false, budget: '1.5s', ms: 1_500 },
  ])(
    'at the deadline of $budget the upstream is let go, the answer is a 504, and nothing is billed',
    async ({ stream, budget, ms }) => {
      const account = await rig.gateway.createAccount();
      rig.upstream.reset();
      rig.upstream.reply(up.hang());
      const startedAt = performance.now();
      const reply = await rig.gateway.chat(ask({ stream }), { key: account.key });
      const answeredMs = performance.now() - startedAt;
      expect(expectError(reply, timeoutError)).toBe(timeoutMessage('acme', 'first-byte', budget));
      expect(reply.headers['retry-after']).toBeUndefined();
      const [call] = rig.upstream.calls;
      await rig.upstream.waitFor(() => call!.aborted);
      expectAt(call!.abortedAt! - call!.requestAt!, ms);
      expectAt(answeredMs, ms);
      await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      expect(rig.upstream.calls).toHaveLength(1);
      await expectServes(rig);
    },
  );
});
