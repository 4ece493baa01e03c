/** Time budgets on streams: silence, slow drips and comments end on time, with the right message. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  countedCost,
  expectAt,
  expectBooks,
  expectError,
  expectServes,
  expectWithin,
  type Rig,
  startRig,
  timeoutError,
  timeoutMessage,
  words,
} from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig({
    config: {
      timeouts: {
        first_byte_streaming: '500ms',
        first_byte_non_streaming: '700ms',
        stream_idle: '400ms',
        overall: '1500ms',
      },
    },
  });
  // The first count loads the tokenizer, which takes a while.
  rig.upstream.enqueue(up.sse(up.streamOf(words(2), { usage: null })));
  await rig.gateway.stream(ask());
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  account = await rig.gateway.createAccount();
});
const stream = (more = {}) => rig.gateway.stream(ask(more), { key: account.key });

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';

/** Content first where asked, then a piece every `gapMs` for ever. */
function drip(first: readonly unknown[], piece: () => string, gapMs: number): up.Script {
  return async (exchange) => {
    await exchange.write(head + first.map(up.frameText).join(''));
    while (!exchange.call.aborted) {
      await exchange.sleep(gapMs);
      await exchange.write(piece());
    }
  };
}

/** When the upstream was let go, counted from its request. */
async function letGoMs(): Promise<number> {
  const [call] = rig.upstream.calls;
  await rig.upstream.waitFor(() => call!.aborted);
  return call!.abortedAt! - call!.requestAt!;
}

async function expectStalled(content: string, lastFrameText: string): Promise<void> {
  const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(content)] });
  expect(record).toMatchObject({ stream_end: 'stalled', status: 200, finish_reason: null });
  expect(lastFrameText).toContain('"stream_end":"stalled"');
  await expectServes(rig);
}

describe('after the stream has begun', () => {
  it('twenty chunks and then silence end at the idle budget with exactly [DONE] and no error, billed as delivered', async () => {
    rig.upstream.reply(up.sse(up.streamOf(words(30)), { hangAfter: 21 }));
    const reply = await stream();
    expect([reply.status, reply.content, reply.done, reply.complete]).toEqual([200, words(20).join(''), true, true]);
    expect(reply.text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(reply.text).not.toContain('error');
    expect(reply.text).not.toContain('finish_reason":"');
    expectAt(await letGoMs(), 400);
    expectAt(reply.endMs, 400);
    await expectStalled(words(20).join(''), reply.frames.at(-2)!.raw);
  });

  it('comments are no progress: a stream of them stalls at the idle budget', async () => {
    rig.upstream.reply(drip(up.streamOf(words(2), { finishReason: null, usage: null }), () => ': keep-alive\n\n', 80));
    const reply = await stream();
    expect([reply.content, reply.done]).toEqual([words(2).join(''), true]);
    expectAt(await letGoMs(), 400);
    await expectStalled(words(2).join(''), reply.frames.at(-2)!.raw);
  });

  it('single bytes of a frame that never ends are no progress either', async () => {
    rig.upstream.reply(drip(up.streamOf(words(2), { finishReason: null, usage: null }), () => 'x', 50));
    const reply = await stream();
    expect([reply.content, reply.done]).toEqual([words(2).join(''), true]);
    expectAt(await letGoMs(), 400);
    await expectStalled(words(2).join(''), reply.frames.at(-2)!.raw);
  });

  it('content that drips just under the idle budget for ever ends at the overall budget, as stalled', async () => {
    rig.upstream.reply(
      drip(
        up.streamOf([], { finishReason: null, usage: null }),
        () => up.frameText(up.chunk({ content: ' one' })),
        350,
      ),
    );
    const reply = await stream();
    expect([reply.status, reply.done, reply.complete]).toEqual([200, true, true]);
    expectAt(await letGoMs(), 1_500);
    expect(reply.content).toBe(' one'.repeat(4));
    await expectStalled(reply.content, reply.frames.at(-2)!.raw);
  });

  it('silence after the finish_reason is a complete stream that only waited for its usage', async () => {
    rig.upstream.reply(up.sse(up.streamOf(words(3), { usage: null }), { noDone: true, keepOpen: true }));
    const reply = await stream();
    expect(reply.done).toBe(true);
    expect(reply.frames.at(-2)!.raw).toMatch(/"finish_reason":"stop".*"stream_end":"complete"/);
    const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(words(3).join(''))] });
    expect(record).toMatchObject({ stream_end: 'complete', finish_reason: 'stop' });
  });
});

describe('before the stream has begun', () => {
  const never: [string, up.Script][] = [
    ['no head', up.hang()],
    ['a head and nothing else', up.hangAfterHeaders()],
    ['comments', drip([], () => ': PROCESSING\n\n', 80)],
    ['comments that are sent as data', drip([], () => 'data: : keepalive\n\n', 80)],
    ['single bytes of a frame that never ends', drip([], () => 'd', 50)],
  ];

  it.each(never)('%s until the first-byte budget is a 504 that names it, and nothing is billed', async (_, script) => {
    rig.upstream.reply(script);
    const reply = await stream();
    expect(expectError(reply, timeoutError)).toBe(timeoutMessage('acme', 'first-byte', '500ms'));
    expectAt(await letGoMs(), 500);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('a first frame without content and then silence is a 504 that names stream-idle', async () => {
    rig.upstream.reply(up.sse(up.streamOf(words(3)), { hangAfter: 1 }));
    expect(expectError(await stream(), timeoutError)).toBe(timeoutMessage('acme', 'stream-idle', '400ms'));
    expectAt(await letGoMs(), 400);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });

  it('frames without content for ever are a 504 that names the overall budget', async () => {
    rig.upstream.reply(drip([], () => up.frameText(up.chunk({ role: 'assistant', content: '' })), 200));
    expect(expectError(await stream(), timeoutError)).toBe(timeoutMessage('acme', 'overall', '1.5s'));
    expectAt(await letGoMs(), 1_500);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });
});

describe('whole answers', () => {
  const chat = () => rig.gateway.chat(ask(), { key: account.key });

  it('an answer before the first-byte budget is served, one after it is a 504 that names it', async () => {
    rig.upstream.enqueue(up.json(up.completion(), { delayMs: 550 }), up.json(up.completion(), { delayMs: 850 }));
    expect((await chat()).status).toBe(200);
    expect(expectError(await chat(), timeoutError)).toBe(timeoutMessage('acme', 'first-byte', '700ms'));
    const [, late] = rig.upstream.calls;
    await rig.upstream.waitFor(() => late!.aborted);
    expectAt(late!.abortedAt! - late!.requestAt!, 700);
    await expectBooks(rig.gateway, account, { records: 2, costs: [BigInt(9 * 600_000 + 3 * 800_000)] });
  });

  it('a body that begins in time and drips past the overall budget is a 504 that names it', async () => {
    rig.upstream.reply(up.slowBody(up.completion({ content: 'slow '.repeat(100) }), { pieceBytes: 4, gapMs: 50 }));
    expect(expectError(await chat(), timeoutError)).toBe(timeoutMessage('acme', 'overall', '1.5s'));
    expectAt(await letGoMs(), 1_500);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('an error status whose body never ends is answered long before the budgets, from what has come', async () => {
    rig.upstream.reply(
      up.rawBytes(['HTTP/1.1 500 Oops\r\ncontent-length: 9999\r\n\r\n', '{"error":{"message":"half an'], {
        end: 'hang',
      }),
    );
    const reply = await chat();
    expect(reply.status).toBe(503);
    expectWithin(await letGoMs(), 800);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });
});
