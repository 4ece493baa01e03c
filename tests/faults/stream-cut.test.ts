/** Streams that end where they should not, or do not end where they should: what was delivered stays, nothing is spliced, nothing hangs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StreamReply, TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  costOf,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  expectWithin,
  pause,
  providerError,
  type Rig,
  startRig,
  words,
} from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig();
  await rig.gateway.stream(ask());
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  account = await rig.gateway.createAccount();
});
const stream = (more = {}) => rig.gateway.stream(ask(more), { key: account.key });

interface LastFrame {
  choices: { finish_reason?: string | null }[];
  router_metadata: { stream_end: string };
  usage?: object;
}

/** The last JSON frame, before `[DONE]`. */
const receiptOf = (reply: StreamReply): LastFrame => reply.frames.at(-2)!.json as LastFrame;

function expectEnded(reply: StreamReply, end: string, content: string): void {
  expect([reply.status, reply.content, reply.done, reply.complete, reply.remainder]).toEqual([
    200,
    content,
    true,
    true,
    '',
  ]);
  expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(reply.text.match(/\[DONE\]/g)).toHaveLength(1);
  expect(receiptOf(reply).router_metadata.stream_end).toBe(end);
  expect(reply.text).not.toContain('"error"');
}

describe('streams that the upstream cuts', () => {
  it.each(['reset', 'fin'] as const)(
    'three chunks, then a %s: the three chunks, [DONE], no other route, billed as delivered',
    async (cutWith) => {
      rig.upstream.reply(up.sse(up.streamOf(words(9)), { cutAfter: 4, cutWith, gapMs: 5 }));
      const reply = await stream();
      expectEnded(reply, 'cut', words(3).join(''));
      expect(receiptOf(reply).choices).toEqual([]);
      expect(reply.text).not.toContain('finish_reason":"');
      expect(rig.upstream.calls).toHaveLength(1);
      expect(rig.other.calls).toHaveLength(0);
      const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(words(3).join(''))] });
      expect(record).toMatchObject({ stream_end: 'cut', finish_reason: null, providers_attempted: ['acme'] });
      await expectServes(rig);
    },
  );

  it('an error frame after content ends the stream as cut, without a word of it in the stream', async () => {
    rig.upstream.reply(
      up.sse([
        ...up.streamOf(words(3), { finishReason: null, usage: null }),
        { error: { message: 'out of memory', code: 500 } },
      ]),
    );
    const reply = await stream({ stream_options: { include_usage: true } });
    expectEnded(reply, 'cut', words(3).join(''));
    expect(reply.text).not.toContain('out of memory');
    expect(receiptOf(reply).usage).toMatchObject({ completion_tokens: 3 });
    await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(words(3).join(''))] });
  });

  it.each(['reset', 'fin'] as const)(
    'a %s before any content is an ordinary 503, and nothing is billed',
    async (cutWith) => {
      for (const cutAfter of [0, 1]) {
        rig.upstream.enqueue(up.sse(up.streamOf(words(3)), { cutAfter, cutWith, gapMs: 5 }));
        expectError(await stream(), providerError);
      }
      await expectBooks(rig.gateway, account, { records: 2, costs: [] });
      expect(rig.other.calls).toHaveLength(0);
    },
  );

  it('a malformed frame in the middle is dropped and the rest goes on', async () => {
    const [role, one, two, finish, usage] = up.streamOf([' one', ' two']);
    rig.upstream.reply(
      up.sse([role, one, 'data: {"choices":[{"delta":{"content":" lo\n\n', 'data: nonsense\n\n', two, finish, usage]),
    );
    expectEnded(await stream(), 'complete', ' one two');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
  });
});

describe('streams without their last line', () => {
  it.each([
    ['a FIN inside the chunked body', up.sse(up.streamOf([' a', ' b']), { noDone: true, cutAfter: 5 })],
    ['a RST', up.sse(up.streamOf([' a', ' b']), { noDone: true, cutAfter: 5, cutWith: 'reset', gapMs: 5 })],
    ['the end of the chunked body', up.sse(up.streamOf([' a', ' b']), { noDone: true })],
    [
      'the end of a body without length',
      up.rawBytes([
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n',
        up.streamOf([' a', ' b']).map(up.frameText).join(''),
      ]),
    ],
  ])('a finish_reason and then %s without [DONE] is complete', async (_, script) => {
    rig.upstream.reply(script);
    const reply = await stream();
    expectEnded(reply, 'complete', ' a b');
    expect(receiptOf(reply).choices[0]!.finish_reason).toBe('stop');
    const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
    expect(record).toMatchObject({ stream_end: 'complete', finish_reason: 'stop', usage_source: 'provider' });
    await expectServes(rig);
  });

  it('[DONE] after content without a finish_reason is complete, and none is invented', async () => {
    rig.upstream.reply(up.sse(up.streamOf([' a', ' b'], { finishReason: null })));
    const reply = await stream();
    expectEnded(reply, 'complete', ' a b');
    expect(reply.text).not.toContain('finish_reason":"');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
  });

  it('content that the upstream closes without finish_reason or [DONE] is cut, however cleanly', async () => {
    rig.upstream.reply(up.sse(up.streamOf([' a', ' b'], { finishReason: null, usage: null }), { noDone: true }));
    expectEnded(await stream(), 'cut', ' a b');
    await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(' a b')] });
  });
});

describe('streams that go on after their end', () => {
  it('a connection kept open after [DONE] ends for the caller within 100 ms, and the upstream is dropped', async () => {
    rig.upstream.reply(up.sse(up.streamOf([' a', ' b']), { keepOpen: true }));
    const reply = await stream();
    expectEnded(reply, 'complete', ' a b');
    expectWithin(reply.endMs - reply.firstFrameMs!, 100);
    const [call] = rig.upstream.calls;
    await rig.upstream.waitFor(() => call!.aborted);
    expectWithin(call!.abortedAt! - call!.requestAt!, 500);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
    await expectServes(rig);
  });

  it.each([
    ['more content', [up.chunk({ content: ' after' })]],
    ['a second [DONE]', ['data: [DONE]\n\n', 'data: [DONE]\n\n']],
    ['other usage', [up.chunk({ choices: [], usage: up.usage(900, 900) })]],
    ['an error', [{ error: { message: 'too late' } }]],
    ['a second finish_reason', [up.chunk({ finishReason: 'length', delta: {} }), 'data: [DONE]\n\n']],
  ])('%s after [DONE] is ignored, in the stream and in the books', async (_, extra) => {
    rig.upstream.reply(
      up.sse([...up.streamOf([' a', ' b']), 'data: [DONE]\n\n', ...extra], { noDone: true, gapMs: 5 }),
    );
    const reply = await stream();
    expectEnded(reply, 'complete', ' a b');
    expect(reply.text).not.toMatch(/after|too late|length|\b900\b/);
    await pause(60);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
    await expectServes(rig);
  });

  it('two finish_reasons before [DONE]: both frames are passed on, and the first is the one on record', async () => {
    const frames = [
      ...up.streamOf([' a'], { usage: null }),
      up.chunk({ finishReason: 'length', delta: {} }),
      up.chunk({ choices: [], usage: up.usage(9, 1) }),
    ];
    rig.upstream.reply(up.sse(frames));
    expectEnded(await stream(), 'complete', ' a');
    const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 1)] });
    expect(record).toMatchObject({ finish_reason: 'stop' });
  });

  it('everything in one packet, [DONE] in its middle, is the same stream', async () => {
    const text = [
      ...up.streamOf([' a', ' b']).map(up.frameText),
      'data: [DONE]\n\n',
      up.frameText(up.chunk({ content: ' after' })),
    ].join('');
    rig.upstream.reply(up.rawBytes([`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${text}`]));
    expectEnded(await stream(), 'complete', ' a b');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
  });
});
