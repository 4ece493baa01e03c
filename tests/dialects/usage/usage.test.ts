/** Every class of usage, of every dialect, whole and streamed, against a price list that is read apart from the gateway's code. */
import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../../src/base/latin1.js';
import { usdText } from '../../../src/base/money.js';
import { YamlSource } from '../../../src/base/yaml-source.js';
import { type Billable, type Billed, bill } from '../../../src/billing/bill.js';
import type { Price } from '../../../src/catalogue/price.js';
import { priceFields, readPrice } from '../../../src/catalogue/price-fields.js';
import type { Route } from '../../../src/catalogue/route.js';
import { dialectOf } from '../../../src/providers/dialects/registry.js';
import { readAnswer } from '../../../src/providers/translation.js';
import type { ChatRequest } from '../../../src/wire/chat-request.js';
import { usageText } from '../../../src/wire/cost.js';
import { PlayedRelay } from '../../support/played-relay.js';
import { scaled } from '../../support/scaled.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { eventFrame, eventStreamChunks } from '../event-stream-frames.js';
import { sseChunks } from '../sse-chunks.js';
import { type Expected, expectedCost, type PriceList, randomPrices, type Work } from './price-oracle.js';
import { type Report, type UsageShape, usageShapes } from './shapes.js';
import { streamOf, wholeOf } from './transcripts.js';

const cases = Math.ceil(scaled(480, 50_000) / usageShapes.length);

interface Priced {
  list: PriceList;
  price: Price;
}

function read(list: PriceList): Priced {
  const source = new YamlSource('prices.yaml', JSON.stringify(list));
  source.check(priceFields);
  const price = readPrice(source, []);
  if (!price) throw new Error(source.faults.join('\n'));
  return { list, price };
}

const random = new SeededRandom(1);
const prices = Array.from({ length: 150 }, () => read(randomPrices(random)));

function randomWork(random: SeededRandom, { classes }: UsageShape, { list }: Priced): Work {
  const some = (name: keyof Work) => (classes.includes(name) && random.chance(0.5) ? random.below(1_500) : 0);
  return {
    ...{ input: random.below(2_000), output: random.below(2_000) },
    ...{ cached_input: some('cached_input'), cache_write: some('cache_write'), cache_write_1h: some('cache_write_1h') },
    ...{ input_audio: some('input_audio'), input_image: some('input_image'), reasoning: some('reasoning') },
    ...{ output_audio: some('output_audio'), output_image: some('output_image') },
    tools: classes.includes('tools') && random.chance(0.5) ? { web_search: random.below(9) } : {},
    tier:
      classes.includes('tier') && (list.tiers ?? list.then?.tiers) && random.chance(0.5)
        ? random.pick(['flex', 'priority'])
        : null,
  };
}

const ports = {
  counter: {
    count: () => Promise.reject(new Error('the provider gave its usage')),
  },
};

function billOf(route: Route, sentAtMs: number, billable: Billable): Billed {
  const billed = bill(ports, {} as ChatRequest, { route, sentAtMs }, billable);
  if (billed instanceof Promise) throw new Error('nothing needs to be counted');
  return billed;
}

function billOfWhole(route: Route, atMs: number, shape: UsageShape, report: Report): [Billed, unknown] {
  const body = Buffer.from(JSON.stringify(wholeOf(shape.dialect, report)));
  const reading = readAnswer(body, shape.dialect, route);
  if (reading.kind !== 'completion') throw new Error(JSON.stringify(reading));
  const { usage: given, reading: usage } = reading.parts;
  return [billOf(route, atMs, { usage, given, text: '', whole: true }), given];
}

function billOfStream(route: Route, atMs: number, shape: UsageShape, report: Report): [Billed, unknown] {
  const { relay } = playStream(route, shape, report);
  return [billOf(route, atMs, { usage: relay.reading, given: relay.usage, text: '', whole: true }), relay.usage];
}

function playStream(route: Route, shape: UsageShape, report: Report): PlayedRelay {
  const played = new PlayedRelay({ includeUsage: true });
  played.relay.begin(route, { reportContent: () => {} });
  const dialect = dialectOf(shape.dialect);
  const events = streamOf(shape.dialect, report);
  const chunks =
    shape.dialect === 'bedrock'
      ? eventStreamChunks(
          dialect,
          events.map(([type, data]) => eventFrame(type, JSON.stringify(data))),
        )
      : sseChunks(
          dialect,
          events.map(([type, data]) => Buffer.from(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)),
        );
  for (const chunk of chunks) played.relay.onFrame(asLatin1(chunk), 0, chunk.length);
  if (played.relay.fault) throw new Error(JSON.stringify(played.relay.fault));
  return played;
}

/** What the client is shown, and what is recorded. */
function check([{ cost, usage }, given]: [Billed, unknown], expected: Expected): void {
  const shown = JSON.parse(usageText(given, usage, cost)) as Record<string, unknown>;
  const details = Object.fromEntries(Object.entries(expected.details).map(([name, pico]) => [name, usdText(pico)]));
  expect({ pico: cost.pico, ...shown }).toMatchObject({
    ...{ pico: expected.pico, prompt_tokens: expected.prompt, completion_tokens: expected.completion },
    total_tokens: expected.prompt + expected.completion,
  });
  const { upstream_inference_cost, upstream_inference_prompt_cost, upstream_inference_completions_cost, ...classes } =
    shown.cost_details as Record<string, unknown>;
  expect(classes).toEqual({ ...details, ...(expected.tier !== null && { tier: expected.tier }) });
  const { tools = 0n, request = 0n } = expected.details;
  expect(upstream_inference_cost).toBe(shown.cost);
  expect(Number(upstream_inference_prompt_cost) + Number(upstream_inference_completions_cost)).toBeCloseTo(
    Number(usdText(expected.pico - tools - request)),
    12,
  );
  expect(cost.lines.reduce((sum, { count, rate }) => sum + BigInt(count) * rate, 0n)).toBe(expected.pico);
}

describe(`usage in full, ${cases} cases of each kind of provider, whole and streamed`, () => {
  it.each(usageShapes)(
    '$name',
    (shape) => {
      const { route: plain } = new PlayedRelay();
      for (let seed = 1; seed <= cases; seed++) {
        const random = new SeededRandom(seed);
        const priced = random.pick(prices);
        const report = shape.report(randomWork(random, shape, priced), random);
        const atMs = Date.parse('2026-11-29T00:00:00Z') + random.below(3 * 86_400_000);
        const route: Route = {
          ...plain,
          ...{ price: priced.price, contextWindow: 1_000_000 },
          ...(report.hiddenReasoning !== undefined && { hiddenReasoning: report.hiddenReasoning }),
        };
        const expected = expectedCost(priced.list, report.work, atMs);
        const whole = random.chance(0.5);
        try {
          check((whole ? billOfWhole : billOfStream)(route, atMs, shape, report), expected);
        } catch (error) {
          const found = { seed, whole, report, list: priced.list, at: new Date(atMs).toISOString() };
          if (error instanceof Error) error.message = `${JSON.stringify(found)}\n${error.message}`;
          throw error;
        }
      }
    },
    300_000,
  );
});
