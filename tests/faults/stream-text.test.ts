/** What is between the frames and inside them: comments never become data, characters survive every cut, the kind of answer is the one asked for. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectError, expectServes, providerError, type Rig, startRig } from './fixture.js';

let rig: Rig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  account = await rig.gateway.createAccount();
});
const stream = (more = {}) => rig.gateway.stream(ask(more), { key: account.key });

describe('comments', () => {
  const comments = [
    ': PROCESSING\n\n',
    ':\n\n',
    'data: : keepalive\n\n',
    ': {"choices":[]}\n\n',
    'event: ping\n\n',
    'retry: 10\n\n',
    'id: 7\n\n',
    '\n\n',
  ];

  it('comments before the first token and between tokens are dropped, never passed on as data', async () => {
    const [role, one, two, finish, usage] = up.streamOf([' one', ' two']);
    rig.upstream.reply(
      up.sse([...comments, role, ...comments, one, ...comments, two, finish, ...comments, usage, ...comments], {
        gapMs: 10,
      }),
    );
    const reply = await stream();
    expect([reply.status, reply.content, reply.done]).toEqual([200, ' one two', true]);
    for (const frame of reply.frames.slice(0, -1)) expect(frame.json).toBeTypeOf('object');
    expect(reply.text).not.toMatch(/keepalive|PROCESSING|ping|retry/);
    expect(reply.frames.map(({ data }) => data === null)).not.toContain(true);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
    await expectServes(rig);
  });

  it('a comment line inside a frame does not spoil the frame', async () => {
    const [role, one, finish, usage] = up.streamOf([' one']);
    rig.upstream.reply(
      up.sse([role, `: note\n${up.frameText(one)}`, `event: message\nid: 1\n${up.frameText(finish)}`, usage]),
    );
    expect((await stream()).content).toBe(' one');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 1)] });
  });
});

describe('bytes', () => {
  const texts = ['Zürich ', '東京 ', '🚀👩‍👩‍👧‍👦 ', 'ة‏', '\u2028\u0000\u001f', '"\\/\b\f\n\r\t', '\ufeffé'];

  it('characters that are split over packets byte by byte arrive as they were sent', async () => {
    rig.upstream.reply(up.oneByteAtATime(up.sse(up.streamOf(texts, { usage: up.usage(9, 7) }))));
    const reply = await stream();
    expect(reply.content).toBe(texts.join(''));
    expect([reply.done, reply.text.includes('\ufffd')]).toEqual([true, false]);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 7)] });
    await expectServes(rig);
  });

  it('escaped characters, too, and line ends of all three kinds', async () => {
    const escaped = texts.map((content) =>
      up
        .frameText(up.chunk({ content }))
        .replace(/[^\n -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
    const frames = [...escaped, ...up.streamOf([], { roleChunk: false, usage: up.usage(9, 7) }).map(up.frameText)];
    const kinds = frames.map((frame, at) => frame.replaceAll('\n', ['\n', '\r\n', '\r'][at % 3]!));
    rig.upstream.enqueue(up.sse(kinds, { gapMs: 2 }), up.oneByteAtATime(up.sse(kinds)));
    for (let run = 0; run < 2; run++) expect((await stream()).content).toBe(texts.join(''));
    await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(9, 7), costOf(9, 7)] });
  });

  it('a whole answer that is split byte by byte is the same answer', async () => {
    rig.upstream.reply(up.oneByteAtATime(up.json(up.completion({ content: texts.join('') }))));
    const reply = await rig.gateway.chat(ask(), { key: account.key });
    expect(reply.json.choices[0].message.content).toBe(texts.join(''));
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
  });
});

describe('the kind of answer', () => {
  it('a stream where a whole answer was asked for is a 503 in JSON, and nothing is billed (docs/decisions/0006)', async () => {
    rig.upstream.reply(up.sse(up.streamOf([' a', ' b'])));
    const reply = await rig.gateway.chat(ask({ stream: false }), { key: account.key });
    expect(expectError(reply, providerError)).toContain('acme');
    expect(rig.upstream.calls[0]!.json).toMatchObject({ stream: false });
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('a whole answer where a stream was asked for is a 503, never JSON under a stream’s content type (docs/decisions/0006)', async () => {
    rig.upstream.reply(up.json(up.completion()));
    expect(expectError(await stream(), providerError)).toContain('acme');
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('a rejection in JSON where a stream was asked for is still the 400 that it means', async () => {
    rig.upstream.reply(up.json({ error: { message: 'unsupported parameter: seed', type: 'invalid_request_error' } }));
    const reply = await stream();
    expect(expectError(reply, { status: 400, type: 'invalid_request_error', code: 'invalid_request_error' })).toMatch(
      /^The provider acme rejected/,
    );
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });

  it('a stream that does not name its content type is served as the stream that it is', async () => {
    rig.upstream.reply(up.sse(up.streamOf([' a', ' b']), { headers: { 'content-type': 'text/plain' } }));
    const reply = await stream();
    expect([reply.content, reply.done]).toEqual([' a b', true]);
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 2)] });
  });
});
