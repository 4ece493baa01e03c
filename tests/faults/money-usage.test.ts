/** What an answer is billed by: the upstream's last figure, or a count of what was delivered; never nothing, never twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  costOf,
  countedCost,
  expectBooks,
  expectError,
  expectServes,
  promptTokens,
  providerError,
  type Rig,
  scaled,
  startRig,
  tokensOf,
  words,
} from './fixture.js';

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
const chat = () => rig.gateway.chat(ask(), { key: account.key });

describe('answers without usage', () => {
  it('a stream without usage is billed by counting what was delivered, never zero, though usage was asked for', async () => {
    rig.upstream.reply(up.sse(up.streamOf(words(25), { usage: null })));
    const reply = await stream();
    expect([reply.done, reply.content]).toEqual([true, words(25).join('')]);
    expect(rig.upstream.calls[0]!.json).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(promptTokens, 25)] });
    expect(record).toMatchObject({ usage_source: 'counted', prompt_tokens: promptTokens, completion_tokens: 25 });
    await expectServes(rig);
  });

  it('reasoning and tool calls that were delivered are counted, too', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } };
    const frames = [
      up.chunk({ delta: { reasoning_content: 'Let me think about it.' } }),
      up.chunk({ delta: { tool_calls: [call] } }),
      up.chunk({ finishReason: 'tool_calls', delta: {} }),
    ];
    rig.upstream.reply(up.sse(frames));
    expect((await stream()).done).toBe(true);
    const [record] = await expectBooks(rig.gateway, account, {
      records: 1,
      costs: [costOf(promptTokens, tokensOf('Let me think about it.look{"at":"sky"}'))],
    });
    expect(record).toMatchObject({ usage_source: 'counted', finish_reason: 'tool_calls' });
  });

  it('a whole answer without usage is billed by the same count, and its body says so', async () => {
    rig.upstream.reply(up.json(up.completion({ content: words(12).join(''), usage: null })));
    const reply = await chat();
    expect(reply.json.usage).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: 12 });
    expect(reply.json.usage.cost).toBe(Number(costOf(promptTokens, 12)) / 1e12);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(promptTokens, 12)] });
  });
});

describe('usage that comes more than once', () => {
  it('of rising usage in every chunk the last figure is billed, once', async () => {
    const texts = words(20).map((content, at) => up.chunk({ content, usage: up.usage(9, at + 1) }));
    rig.upstream.reply(up.sse([...texts, up.chunk({ finishReason: 'stop', delta: {}, usage: up.usage(9, 21) })]));
    const reply = await stream({ stream_options: { include_usage: true } });
    const figures = reply.frames
      .map(({ json }) => (json as { usage?: { completion_tokens: number } })?.usage)
      .filter(Boolean);
    expect(figures.map((usage) => usage!.completion_tokens)).toEqual([21]);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 21)] });
  });

  it('of several usage chunks after the finish the last is billed, in one settlement', async () => {
    const figures = [up.usage(9, 2), up.usage(9, 3), up.usage(9, 3)].map((usage) => up.chunk({ choices: [], usage }));
    rig.upstream.reply(up.sse([...up.streamOf([' a', ' b', ' c'], { usage: null }), ...figures], { gapMs: 5 }));
    expect((await stream()).done).toBe(true);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
  });

  it('usage of null in every chunk before the last is no usage', async () => {
    const texts = words(5).map((content) => up.chunk({ content, usage: null }));
    rig.upstream.reply(up.sse([...texts, up.chunk({ finishReason: 'stop', delta: {}, usage: up.usage(9, 5) })]));
    expect((await stream()).done).toBe(true);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 5)] });
  });
});

describe("the upstream's own ids", () => {
  it('an empty or repeated upstream id costs no row: our own id is the key', async () => {
    const count = scaled(20, 100);
    rig.upstream.enqueue(
      up.json(up.completion({ id: '' })),
      up.sse(up.streamOf([' a'], { id: '', usage: up.usage(9, 3) })),
    );
    const ids = new Set([(await chat()).json.id, (await stream()).headers['x-generation-id']]);
    rig.upstream.reply(up.json(up.completion({ id: 'chatcmpl-always-the-same' })));
    for (const reply of await Promise.all(Array.from({ length: count }, chat))) ids.add(reply.json.id);
    expect(ids.size).toBe(count + 2);
    const costs = Array.from({ length: count + 2 }, () => costOf(9, 3));
    const records = await expectBooks(rig.gateway, account, { records: count + 2, costs });
    expect(new Set(records.map(({ id }) => id))).toEqual(ids);
  });
});

describe('figures that no price can be multiplied by', () => {
  const impossible = ['9007199254740993', '9223372036854775808', '1e300', '1e999', '-1', '1.5', '"7"', '[7]', 'true'];
  const withFigure = (body: object, figure: string) =>
    JSON.stringify(body).replace('"completion_tokens":777', `"completion_tokens":${figure}`);

  it.each(impossible)(
    'usage of %s tokens is a pricing fault before the answer: 503, nothing billed',
    async (figure) => {
      rig.upstream.reply(up.json(withFigure(up.completion({ usage: up.usage(9, 777) }), figure)));
      expect(expectError(await chat(), providerError)).toMatch(/acme failed: the answer cannot be priced/);
      await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      await expectServes(rig);
    },
  );

  it.each(impossible)(
    'usage of %s tokens after a stream began is the cost_unresolvable frame, no [DONE], nothing billed',
    async (figure) => {
      const usage = withFigure(up.chunk({ choices: [], usage: up.usage(9, 777) }), figure);
      rig.upstream.reply(up.sse([...up.streamOf([' a', ' b'], { usage: null }), `data: ${usage}\n\n`]));
      const reply = await stream();
      expect([reply.status, reply.content, reply.done, reply.complete]).toEqual([200, ' a b', false, true]);
      expect(reply.frames.at(-1)!.json).toMatchObject({ error: { type: 'provider_error', code: 'cost_unresolvable' } });
      expect(reply.text).not.toContain('finish_reason":"stop"');
      const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      expect(record).toMatchObject({ stream_end: 'pricing_fault', error_code: 'cost_unresolvable' });
      await expectServes(rig);
    },
  );

  it('the largest count that is billed is settled to the unit, and the next one is refused', async () => {
    const usageOf = (count: number) => ({ prompt_tokens: count, completion_tokens: 10_000_000 });
    rig.upstream.enqueue(up.json(up.completion({ usage: usageOf(10_000_001) })));
    expectError(await chat(), providerError);
    rig.upstream.enqueue(up.json(up.completion({ usage: usageOf(10_000_000) })));
    expect((await chat()).status).toBe(200);
    await expectBooks(rig.gateway, account, { records: 2, costs: [costOf(10_000_000, 10_000_000)] });
    expect(await rig.gateway.balance(account.accountId)).toBe('-4');
    expect((await chat()).status).toBe(402);
  });

  it('counted text is billed by what it says, not by its escapes', async () => {
    const text = 'Zürich \u{1f680} "quoted" \\ 東京\n';
    rig.upstream.reply(up.sse(up.streamOf([text, text], { usage: null })));
    expect((await stream()).content).toBe(text + text);
    await expectBooks(rig.gateway, account, { records: 1, costs: [countedCost(text + text)] });
  });
});
