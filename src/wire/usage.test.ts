import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { detailsOfLines, usageText } from './cost.js';
import { readUsage } from './usage.js';
import type { UsageReading, UsageTerms } from './usage-types.js';

const terms = { contextWindow: 128_000 };
const read = (value: unknown, on: UsageTerms = terms): UsageReading => readUsage(value, on);
/** What is billed: prompt, completion, cached and reasoning tokens. */
function billed(value: unknown, on: UsageTerms = terms): number[] {
  const reading = read(value, on);
  if (reading.kind !== 'usage') throw new Error(`${reading.kind}: ${JSON.stringify(reading)}`);
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = reading.usage;
  return [promptTokens, completionTokens, cachedTokens, reasoningTokens];
}
function odditiesOf(value: unknown, on: UsageTerms = terms): readonly string[] {
  const reading = read(value, on);
  return reading.kind === 'usage' ? reading.oddities : [];
}

const full = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

describe('usage', () => {
  it('is read in full', () => {
    const details = { cached_tokens: 4, cache_write_tokens: 3, audio_tokens: 2, image_tokens: 1 };
    expect(read({ ...full, prompt_tokens_details: details })).toEqual({
      kind: 'usage',
      usage: {
        promptTokens: 12,
        completionTokens: 5,
        totalTokens: 17,
        cachedTokens: 4,
        cacheWriteTokens: 3,
        cacheWrite1hTokens: 0,
        promptAudioTokens: 2,
        promptImageTokens: 1,
        reasoningTokens: 2,
        completionAudioTokens: 0,
        completionImageTokens: 0,
        completionVideoTokens: 0,
        toolCalls: [],
        tier: null,
      },
      oddities: ['prompt_audio_as_input'],
    });
  });

  it('counts what is left out or null as zero', () => {
    for (const details of [null, undefined, [], 5, 'x', [{ cached_tokens: 3 }], {}, { cached_tokens: null }]) {
      expect(billed({ prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: details })).toEqual([
        12, 5, 0, 0,
      ]);
    }
  });

  it.each([
    [null],
    [undefined],
    ['12'],
    [12],
    [true],
    [[]],
    [[full]],
    [{}],
    [{ total_tokens: 3 }],
    [{ prompt_tokens: 3 }],
    [{ completion_tokens: 3 }],
    [{ prompt_tokens: null, completion_tokens: null }],
  ])('is absent in %j', (value) => expect(read(value)).toEqual({ kind: 'absent' }));

  const names = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
  const odd = [-1, 1.5, '12', 'many', true, 2 ** 53, 2 ** 63, Number.POSITIVE_INFINITY, Number.NaN];
  const worse = [{ toString: 1, valueOf: 1 }, ['x'.repeat(60)], '9'.repeat(400)];
  it.each(names.flatMap((name) => [...odd, ...worse].map((figure) => [name, figure] as const)))(
    'is a pricing fault where %s is %j',
    (name, figure) => {
      const reading = read({ ...full, [name]: figure });
      expect(reading.kind).toBe('fault');
      if (reading.kind !== 'fault') return;
      expect(reading.reason).toContain(name);
      expect(reading.reason.length).toBeLessThan(160);
    },
  );

  it('has whole numbers, also where they are written as decimals', () => {
    expect(billed(JSON.parse('{"prompt_tokens":12.0,"completion_tokens":5e0}'))).toEqual([12, 5, 0, 0]);
  });

  it.each(['audio_tokens', 'image_tokens', 'video_tokens'])(
    'is a pricing fault where the output has %s, which no price covers; zero of them is none',
    (name) => {
      expect(read({ ...full, completion_tokens_details: { [name]: 7 } }).kind).toBe('fault');
      expect(read({ ...full, completion_tokens_details: { [name]: 0 } }).kind).toBe('usage');
    },
  );

  it('bills audio and images of a prompt as input, and tells of the audio', () => {
    const audio = { ...full, prompt_tokens_details: { audio_tokens: 7, image_tokens: 3 } };
    expect([billed(audio), odditiesOf(audio)]).toEqual([[12, 5, 0, 2], ['prompt_audio_as_input']]);
    const image = { ...full, prompt_tokens_details: { image_tokens: 3 } };
    expect([billed(image), odditiesOf(image)]).toEqual([[12, 5, 0, 2], []]);
  });

  it('takes cached tokens above the prompt as the prompt', () => {
    const azure = { ...full, prompt_tokens_details: { cached_tokens: 163 } };
    expect([billed(azure), odditiesOf(azure)]).toEqual([[12, 5, 12, 2], ['cached_above_prompt']]);
  });

  it.each([
    ['Moonshot', { cached_tokens: 4 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 8 }],
    ['OpenAI\u2019s other API', { input_tokens_details: { cached_tokens: 4 } }],
  ])('reads cached tokens in the words of %s', (_, words) => {
    expect(billed({ ...full, prompt_tokens_details: undefined, ...words })).toEqual([12, 5, 4, 2]);
  });
});

describe('a total above prompt and completion', () => {
  const of = (prompt: number, completion: number, total: number, reasoning = 0, audio = 0) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { audio_tokens: audio },
    completion_tokens_details: { reasoning_tokens: reasoning },
  });

  it.each([
    ['reasoning outside of the completion', of(12, 2, 334, 320), [12, 322, 0, 320], []],
    ['all of the completion outside', of(21, 0, 81, 60), [21, 60, 0, 60], []],
    ['a total that is one off', of(12, 2, 333, 320), [12, 321, 0, 320], []],
    ['audio outside of the prompt', of(9, 201, 585, 0, 375), [384, 201, 0, 0], ['prompt_audio_as_input']],
    ['audio outside, reasoning inside', of(9, 201, 585, 100, 375), [384, 201, 0, 100], ['prompt_audio_as_input']],
    ['reasoning and audio outside', of(9, 10, 39, 15, 5), [14, 25, 0, 15], ['prompt_audio_as_input']],
    ['more than any figure explains', of(12, 2, 34), [12, 2, 0, 0], ['unexplained_total']],
    ['more than reasoning explains', of(12, 2, 34, 5), [12, 7, 0, 5], ['unexplained_total']],
  ])('is %s', (_, value, figures, oddities) => {
    expect([billed(value), odditiesOf(value)]).toEqual([figures, oddities]);
  });

  it('is output on a route with hidden reasoning, and not reported as reasoning, which the provider does not say', () => {
    const on = { ...terms, hiddenReasoning: true };
    expect([billed(of(35, 12, 109), on), odditiesOf(of(35, 12, 109), on)]).toEqual([[35, 74, 0, 0], []]);
    expect(billed(of(35, 12, 47), on)).toEqual([35, 12, 0, 0]);
  });

  it('gives a figure that is missing', () => {
    expect(billed({ prompt_tokens: 12, total_tokens: 17 })).toEqual([12, 5, 0, 0]);
    expect(billed({ completion_tokens: 5, total_tokens: 17 })).toEqual([12, 5, 0, 0]);
    expect(billed({ prompt_tokens: 12, total_tokens: 7 })).toEqual([12, 0, 0, 0]);
  });

  it('below them changes nothing', () => {
    for (const total_tokens of [0, 5, 16]) expect(billed({ ...full, total_tokens })).toEqual([12, 5, 4, 2]);
  });

  it('never makes the bill larger than the total, or smaller than prompt and completion', () => {
    forSeeds(2_000, (random) => {
      const [prompt, completion, rest] = [random.below(90), random.below(90), random.below(90)];
      const value = of(prompt, completion, prompt + completion + rest, random.below(90), random.below(90));
      const on = { ...terms, hiddenReasoning: random.chance(0.5) };
      const [billedPrompt, billedCompletion, cached, reasoning] = billed(value, on) as [number, number, number, number];
      const sum = billedPrompt + billedCompletion;
      expect(sum).toBeLessThanOrEqual(prompt + completion + rest);
      expect(sum).toBeGreaterThanOrEqual(prompt + completion);
      if (on.hiddenReasoning) expect(sum).toBe(prompt + completion + rest);
      expect(cached).toBeLessThanOrEqual(billedPrompt);
      expect(reasoning).toBeLessThanOrEqual(billedCompletion);
    });
  });
});

describe('a figure that cannot be', () => {
  it('is not a total that is the sum of its parts', () => {
    expect(read({ prompt_tokens: 9e6, completion_tokens: 9e6, total_tokens: 18e6 }).kind).toBe('usage');
    const long = { prompt_tokens: 120_000, completion_tokens: 40_000, total_tokens: 160_000 };
    expect(odditiesOf(long)).toEqual([]);
  });

  const places: [string, (figure: number) => object][] = [
    ['prompt_tokens', (figure) => ({ ...full, prompt_tokens: figure })],
    ['completion_tokens', (figure) => ({ ...full, completion_tokens: figure })],
    ['total_tokens', (figure) => ({ ...full, total_tokens: figure })],
    ['cached_tokens', (figure) => ({ ...full, prompt_tokens_details: { cached_tokens: figure } })],
    ['cached_tokens', (figure) => ({ ...full, prompt_tokens_details: {}, cached_tokens: figure })],
    ['cache_write_tokens', (figure) => ({ ...full, prompt_tokens_details: { cache_write_tokens: figure } })],
    ['audio_tokens', (figure) => ({ ...full, prompt_tokens_details: { audio_tokens: figure } })],
    ['image_tokens', (figure) => ({ ...full, prompt_tokens_details: { image_tokens: figure } })],
    ['reasoning_tokens', (figure) => ({ ...full, completion_tokens_details: { reasoning_tokens: figure } })],
  ];

  it.each(places)('is a pricing fault: %s above ten million, before anything is bounded', (name, of) => {
    expect(read(of(10_000_000)).kind).toBe('usage');
    const reading = read(of(10_000_001));
    expect(reading.kind === 'fault' && reading.reason).toContain(name);
    expect(read(of(1e12)).kind).toBe('fault');
  });

  it.each(places)('is a pricing fault: %s above eight context windows, where those are larger', (_, of) => {
    const on = { contextWindow: 2_000_000 };
    expect(read(of(16_000_000), on).kind).toBe('usage');
    expect(read(of(16_000_001), on).kind).toBe('fault');
    expect(read(of(10_000_001), { contextWindow: null }).kind).toBe('fault');
  });

  it.each(places)('is billed and told of: %s above the context window by more than a tenth', (_, of) => {
    expect(odditiesOf(of(140_800))).not.toContain('above_context_window');
    expect(odditiesOf(of(140_801))).toContain('above_context_window');
    expect(odditiesOf(of(140_801), { contextWindow: null })).not.toContain('above_context_window');
  });
});

const costs = (pico: bigint) => ({ pico, details: { input: pico }, lines: [], tier: null });
const sides = (prompt: number, completions: number, cost = prompt + completions) => ({
  upstream_inference_cost: cost,
  upstream_inference_prompt_cost: prompt,
  upstream_inference_completions_cost: completions,
});
const details = { cost_details: { input: '0', ...sides(0, 0) } };

describe('the usage of an answer', () => {
  const usage = { promptTokens: 12, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 };

  it('names the cost of both sides as OpenRouter\u2019s client demands, exactly; tools and the request belong to neither', () => {
    const line = (name: string, rate: bigint) => ({ name, count: 3, rate });
    const lines = [
      line('cached_input', 1n),
      line('input', 10n),
      line('input_audio', 100n),
      line('output', 1_000n),
      line('output_audio', 10_000n),
      line('reasoning', 100_000n),
      line('tools.web_search', 1_000_000n),
      line('request', 10_000_000n),
    ];
    const cost = { pico: 33_333_333n, details: detailsOfLines(lines), lines, tier: null };
    const text = usageText(full, usage, cost);
    expect(text).toContain('"upstream_inference_cost":0.000033333333,');
    expect(text).toContain('"upstream_inference_prompt_cost":0.000000000333,');
    expect(text).toContain('"upstream_inference_completions_cost":0.000000333}');
  });

  it('keeps the upstream\u2019s own members and has our cost, not the upstream\u2019s', () => {
    const text = usageText({ ...full, cost: 99, queue_time: 0.25 }, usage, costs(1_500_000n));
    expect(JSON.parse(text)).toEqual({
      ...full,
      queue_time: 0.25,
      cost: 0.0000015,
      cost_details: { input: '0.0000015', ...sides(0.0000015, 0) },
    });
  });

  it.each([[null], ['none'], [{ ...full, completion_tokens: 4 }], [{ ...full, total_tokens: undefined }]])(
    'is written from what is billed where the upstream gave %j',
    (given) => expect(JSON.parse(usageText(given, usage, costs(0n)))).toEqual({ ...full, cost: 0, ...details }),
  );

  it('has what is billed where the upstream says it in other words, beside its own members', () => {
    const moonshot = { ...full, prompt_tokens_details: undefined, cached_tokens: 4, note: 'x' };
    expect(JSON.parse(usageText(moonshot, usage, costs(0n)))).toEqual({
      ...full,
      cached_tokens: 4,
      note: 'x',
      cost: 0,
      ...details,
    });
    const xai = { ...full, completion_tokens: 3, num_sources_used: 0 };
    expect(JSON.parse(usageText(xai, usage, costs(0n)))).toEqual({ ...full, num_sources_used: 0, cost: 0, ...details });
    const gaps = { ...full, completion_tokens: 3, prompt_tokens_details: { cached_tokens: null, audio_tokens: 0 } };
    expect(JSON.parse(usageText(gaps, usage, costs(0n)))).toEqual({
      ...full,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      cost: 0,
      ...details,
    });
  });

  it('keeps the parts that the upstream itself gave, also where the bill bounds them', () => {
    const azure = { ...full, prompt_tokens_details: { cached_tokens: 163 } };
    expect(JSON.parse(usageText(azure, { ...usage, cachedTokens: 12 }, costs(0n)))).toEqual({
      ...azure,
      cost: 0,
      ...details,
    });
  });
});
