import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { readUsage } from '../wire/usage.js';
import { bill, provisionalBill } from './bill.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const request = { members: '"messages":[]', encoding: 'latin1' } as unknown as ChatRequest;
const asked: unknown[] = [];
const counter = {
  async count(what: unknown) {
    asked.push(what);
    return { promptTokens: 100, completionTokens: 10 };
  },
};
const given = (prompt: number, completion: number) =>
  readUsage(
    { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: { cached_tokens: 2 } },
    { contextWindow: null },
  );

describe('a provisional bill', () => {
  const least = { promptTokens: 3, completionTokens: 5 };
  const sent = { route, sentAtMs: 0 };

  it('is for the fewest tokens that there can be, and says so', () => {
    expect(provisionalBill(sent, { kind: 'absent' }, least)).toMatchObject({
      ...{ usage: { promptTokens: 3, completionTokens: 5, cachedTokens: 0 }, source: 'estimated' },
      cost: { pico: 3n * 600_000n + 5n * 800_000n },
    });
  });

  it('takes the provider’s figures where it gave some by then', () => {
    const usage = { promptTokens: 9, completionTokens: 5, cachedTokens: 2 };
    expect(provisionalBill(sent, given(9, 1), least)).toMatchObject({ usage, source: 'estimated' });
  });
});

describe('a bill', () => {
  it('is an estimate where the counter had to make one', async () => {
    const broken = { count: async () => ({ promptTokens: 3, completionTokens: 1, isEstimate: true as const }) };
    const billable = { usage: { kind: 'absent' as const }, text: 'x', whole: true };
    expect(await bill({ counter: broken }, request, { route, sentAtMs: 0 }, billable)).toMatchObject({
      source: 'estimated',
    });
  });

  it('is made from the provider\u2019s usage at once, without counting', () => {
    asked.length = 0;
    const billed = bill({ counter }, request, { route, sentAtMs: 0 }, { usage: given(9, 3), text: 'x', whole: true });
    expect(billed).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 2, reasoningTokens: 0 },
      source: 'provider',
      cost: {
        pico: 9n * 600_000n + 3n * 800_000n,
        details: { input: 9n * 600_000n, output: 3n * 800_000n },
        tier: null,
      },
      oddities: [],
    });
    expect(asked).toEqual([]);
  });

  it('of extra iterations is at the tier of the answer', () => {
    const flex = { input: 1n, output: 2n, cachedInput: null };
    const tiered = { ...route, price: { ...route.price!, tiers: new Map([['flex', flex]]) } };
    const own = {
      ...{ prompt_tokens: 10, completion_tokens: 5, service_tier: 'flex' },
      extra_iterations: [{ type: 'compaction', prompt_tokens: 100, completion_tokens: 50 }],
    };
    const usage = readUsage(own, tiered);
    const billed = bill(
      { counter },
      request,
      { route: tiered, sentAtMs: 0 },
      { usage, given: own, text: '', whole: true },
    );
    expect(billed).toMatchObject({ cost: { pico: 110n + 2n * 55n, tier: 'flex' } });
  });

  it('is counted where the provider gave none: prompt and what was delivered', async () => {
    const billed = await bill(
      { counter },
      request,
      { route, sentAtMs: 0 },
      {
        usage: { kind: 'absent' },
        text: 'delivered',
        whole: true,
      },
    );
    expect(billed).toMatchObject({
      usage: { promptTokens: 100, completionTokens: 10, cachedTokens: 0 },
      source: 'counted',
      cost: { pico: 100n * 600_000n + 10n * 800_000n },
    });
    expect(asked.at(-1)).toEqual({ members: '"messages":[]', encoding: 'latin1', delivered: 'delivered' });
  });

  it.each([
    ['a whole answer', 'delivered', true],
    [
      'a whole stream',
      { characters: 9, remaining: async () => ({ tokens: 0, text: 'delivered', isEstimate: false }) },
      true,
    ],
    ['a stream that broke off', 'delivered', false],
  ])('of %s with text, whose usage is all zero, is counted', async (_, text, whole) => {
    const sent = { route, sentAtMs: 0 };
    expect(await bill({ counter }, request, sent, { usage: given(0, 0), text, whole })).toMatchObject({
      usage: { promptTokens: 100, completionTokens: 10, cachedTokens: 0 },
      source: 'counted',
      cost: { pico: 100n * 600_000n + 10n * 800_000n },
    });
  });

  it('of Anthropic is nothing where it says so: it takes nothing for calls that code makes which runs there', () => {
    const anthropic = { ...route, provider: { ...route.provider, dialect: 'anthropic' } };
    const billable = { usage: given(0, 0), text: '{}', whole: true };
    expect(bill({ counter }, request, { route: anthropic, sentAtMs: 0 }, billable)).toMatchObject({
      source: 'provider',
      cost: { pico: 0n },
    });
  });

  it('of no text is what the provider says, also where that is nothing', () => {
    const billable = { usage: given(0, 0), text: '', whole: true };
    expect(bill({ counter }, request, { route, sentAtMs: 0 }, billable)).toMatchObject({
      source: 'provider',
      cost: { pico: 0n },
    });
  });

  it('on a count is at the tier that the answer names, and says where that has no price', async () => {
    const flex = { input: 1n, output: 2n, cachedInput: null };
    const tiered = { ...route, price: { ...route.price!, tiers: new Map([['flex', flex]]) } };
    const sent = { route: tiered, sentAtMs: 0 };
    const billable = (tier: string) => ({ usage: readUsage(undefined, tiered, tier), text: 'x', whole: true });
    expect(await bill({ counter }, request, sent, billable('flex'))).toMatchObject({
      cost: { pico: 100n + 2n * 10n, tier: 'flex' },
      source: 'counted',
    });
    expect(await bill({ counter }, request, sent, billable('fast'))).toMatchObject({
      usage: { unpricedTier: 'fast' },
      cost: { pico: 100n * 600_000n + 10n * 800_000n, tier: null },
      oddities: ['tier_without_price'],
    });
    const least = { promptTokens: 3, completionTokens: 5 };
    expect(provisionalBill(sent, readUsage(undefined, tiered, 'flex'), least).cost.pico).toBe(3n + 2n * 5n);
  });

  it('of a stream that broke off takes the prompt from the provider, and at least what was delivered', async () => {
    const billed = await bill(
      { counter },
      request,
      { route, sentAtMs: 0 },
      { usage: given(9, 3), text: 'x', whole: false },
    );
    expect(billed).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 10, cachedTokens: 2 },
      source: 'provider',
    });
  });
});
