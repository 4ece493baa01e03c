/** The tokens per minute of a key: reserved by an estimate while a request runs, then corrected by its usage. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Json, Reply, TestAccount } from '../../support/client.js';
import { shortTimeouts } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { chunk, completion, hang, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';
import { estimateOf, remainingTokens } from './expect-headers.js';

const limit = 1_000;
const clock = new ManualClock();
const bench = useGateway({ clock, config: { limits: { key_tokens_per_minute: limit }, timeouts: shortTimeouts } });
let account: TestAccount;
beforeEach(async () => {
  clock.advance(120_000);
  account = await bench.gateway.createAccount();
});

const chat = (more: Json = {}) => bench.gateway.chat(ask(more), { key: account.key });
const stream = (more: Json = {}, hangUpAfter?: number) =>
  bench.gateway.stream(ask(more), { key: account.key, ...(hangUpAfter !== undefined && { hangUpAfter }) });
/** What the key has used of its window, as any other answer tells it. */
async function used(): Promise<number> {
  const { headers } = await bench.gateway.call('GET', '/v1/key', undefined, { key: account.key });
  return limit - remainingTokens(headers);
}
/** The records of the account, newest first; settling follows a hang-up within a moment. */
async function records(): Promise<Json[]> {
  return (await bench.gateway.call('GET', '/v1/generations', undefined, { key: account.key })).json.data;
}

/** Sends a request, leaves when the provider has it, and waits until it is settled. */
async function leave(more: Json): Promise<void> {
  const { length: before } = await records();
  bench.upstream.reset();
  bench.upstream.reply(hang());
  const leaving = new AbortController();
  const pending = bench.gateway.chat(ask(more), { key: account.key, signal: leaving.signal }).catch(() => 'left');
  await bench.upstream.waitForCalls(1);
  leaving.abort();
  expect(await pending).toBe('left');
  await expect.poll(async () => (await records()).length, { timeout: 60_000 }).toBe(before + 1);
  expect((await records())[0]).toMatchObject({ status: 499, cost_usd: '0' });
}

const words = (count: number) => 'word '.repeat(count);
const long = { messages: [{ role: 'user', content: words(400) }] };
const overTokens = {
  status: 429,
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
  says: [/\btokens\b/, '1000'],
};

describe('the estimate is corrected by the usage', () => {
  it('of a whole answer: 12 tokens, whatever was held', async () => {
    await chat(long);
    expect(await used()).toBe(12);
  });

  it('of a stream, also one whose usage the caller did not ask for', async () => {
    bench.upstream.reply(sse(streamOf(['one', ' two'], { usage: usage(30, 2) })));
    await stream(long);
    expect(await used()).toBe(32);
  });

  it('to what was counted where the provider gives no usage', async () => {
    bench.upstream.reply(json(completion({ usage: null })));
    const { json: answer } = await chat();
    expect(answer.usage.total_tokens).toBeGreaterThan(3);
    expect(await used()).toBe(answer.usage.total_tokens);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a provider’s failure', () => failing(json({ error: { message: 'out of order' } }, { status: 500 }))],
    ['a rejection', () => failing(json({ error: { message: 'Unsupported parameter' } }, { status: 400 }))],
    ['a cut before the first byte', () => failing(sse([], { cutAfter: 0 }))],
    ['a pricing fault', () => failing(json(completion({ usage: usage(-1, 3) })))],
    ['a route that is not configured', () => chat({ ...long, model: 'keyless/meta/llama/defra' })],
  ])('to nothing after %s: all that was held is given back', async (_, fail) => {
    await fail();
    expect(await used()).toBe(0);
  });

  async function failing(script: Parameters<typeof bench.upstream.reply>[0]): Promise<void> {
    bench.upstream.reply(script);
    expect((await chat(long)).status).toBeGreaterThanOrEqual(400);
  }

  it.each([false, true])(
    'not at all when the caller leaves before the first content (stream: %s): the provider has its prompt',
    async (streamed) => {
      const body = { ...long, stream: streamed };
      await leave(body);
      expect(await used()).toBe(estimateOf(body));
    },
  );

  it('to the prompt and what was delivered when the caller leaves a stream', async () => {
    const frames = [chunk({ role: 'assistant', content: 'one' }), chunk({ content: ' two' })];
    bench.upstream.reply(sse(frames, { keepOpen: true, noDone: true }));
    await stream({}, 2);
    await bench.upstream.waitFor(() => bench.upstream.calls[0]!.aborted);
    await expect.poll(async () => (await records())[0]?.stream_end).toBe('client_closed');
    const { prompt_tokens, completion_tokens } = (await records())[0] as Record<string, number>;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(completion_tokens).toBe(2);
    expect(await used()).toBe(prompt_tokens! + completion_tokens!);
  });

  it('in its own window alone: an answer that outlives it costs the next one nothing', async () => {
    bench.upstream.reply(hang());
    const pending = chat(long);
    await bench.upstream.waitForCalls(1);
    clock.advance(60_000);
    expect((await pending).status).toBe(504);
    bench.upstream.reply(json(completion({ usage: usage(5, 5) })));
    await chat();
    expect(await used()).toBe(10);
  });
});

describe('over the limit', () => {
  it('429 that names the budget, no upstream is called, and the request is admitted Retry-After later', async () => {
    bench.upstream.reply(json(completion({ usage: usage(500, 499) })));
    await chat();
    clock.advance(10_500);
    bench.upstream.reset();
    expectError(await chat(), { ...overTokens, retryAfter: '50' });
    expect(bench.upstream.calls).toHaveLength(0);
    clock.advance(49_000);
    expectError(await chat(), { ...overTokens, retryAfter: '1' });
    clock.advance(1_000);
    expect((await chat()).status).toBe(200);
  });

  it('what is held by requests under way counts: only as many run at once as fit', async () => {
    const fits = Math.floor(limit / estimateOf(long));
    bench.upstream.reply(hang());
    const leaving = new AbortController();
    const options = { key: account.key, signal: leaving.signal };
    const answered: Reply[] = [];
    const pending = Array.from({ length: fits + 5 }, () =>
      bench.gateway.chat(ask(long), options).then(
        (reply) => answered.push(reply),
        () => 'left',
      ),
    );
    await bench.upstream.waitForCalls(fits);
    await expect.poll(() => answered.length).toBe(5);
    for (const refused of answered) expectError(refused, { ...overTokens, retryAfter: '60' });
    leaving.abort();
    await Promise.all(pending);
    expect(answered).toHaveLength(5);
  });

  it('429 for a key that sends large prompts and leaves: the provider gets no more of them than the limit allows', async () => {
    const large = { messages: [{ role: 'user', content: words(1_000) }] };
    await leave(large);
    bench.upstream.reset();
    expectError(await chat(large), { ...overTokens, retryAfter: '60' });
    expect(bench.upstream.calls).toHaveLength(0);
    clock.advance(60_000);
    expect(await used()).toBe(0);
    await leave(large);
  });

  it('one oversized request is admitted when the window is empty, and only then', async () => {
    const oversized = { messages: [{ role: 'user', content: words(2_000) }] };
    expect(estimateOf(oversized)).toBeGreaterThan(limit);
    await chat();
    expectError(await chat(oversized), { ...overTokens, retryAfter: '60' });
    clock.advance(60_000);
    expect((await chat(oversized)).status).toBe(200);
    expect(await used()).toBe(12);
  });

  it('a refused request holds nothing', async () => {
    const big = { messages: [{ role: 'user', content: words(790) }] };
    await chat();
    for (let i = 0; i < 20; i++) expect((await chat(big)).status).toBe(429);
    expect(await used()).toBe(12);
    expect((await chat()).status).toBe(200);
  });
});

describe('requests and tokens are counted apart', () => {
  it('over three windows, each ends at its own time and neither moves the other', async () => {
    await bench.gateway.admin('PATCH', `/accounts/${account.accountId}`, {
      limits: { requests_per_minute: 4, tokens_per_minute: 20 },
    });
    const key = () => bench.gateway.call('GET', '/v1/key', undefined, { key: account.key });
    const named = async (reply: Promise<{ status: number; json: Json }>) => {
      const { status, json: body } = await reply;
      return status === 429 ? /requests|tokens/.exec((body.error as Json).message as string)?.[0] : status;
    };
    for (let window = 0; window < 3; window++) {
      expect(await named(key())).toBe(200);
      clock.advance(30_000);
      // The first chat opens the window of tokens, half a minute after that of requests.
      expect(await named(chat())).toBe(200);
      expect(await named(chat())).toBe('tokens');
      expect(await named(key())).toBe(200);
      expect(await named(chat())).toBe('requests');
      clock.advance(30_000);
      expect(await named(chat())).toBe('tokens');
      expect(await named(key())).toBe(200);
      clock.advance(30_000);
      expect(await named(chat())).toBe(200);
      clock.advance(60_000);
    }
  });
});
