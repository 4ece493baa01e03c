import { describe, expect, it } from 'vitest';
import { YamlSource } from '../base/yaml-source.js';
import { type Price, ratesFor } from './price.js';
import { priceFields, readPrice } from './price-fields.js';

function priceOf(yaml: string): Price {
  const source = new YamlSource('prices.yaml', yaml);
  source.check(priceFields);
  const price = readPrice(source, []);
  if (!price) throw new Error(source.faults.join('\n'));
  return price;
}

/** USD per million tokens. */
const usd = (pico: bigint | null | undefined) => Number(pico) / 1e6;
const at = (time: string) => Date.parse(time);
const noon = at('2026-11-16T12:00:00Z');

describe('the price of a request', () => {
  const price = priceOf(`
input: 4
output: 20
cached_input: 0.4
cache_write: 5
above: { input_tokens: 200000, input: 8, output: 30 }
tiers:
  flex: { input: 2, output: 10 }
  priority: { input: 8, output: 40, above: { from_tokens: 300000, output: 80 } }
periods:
  - { utc: "22:30-06:00", input: 1, output: 5 }
until: 2026-11-21
then: { input: 6, output: 30 }
`);
  const rates = (time: number, tier: string | null, tokens: number) => {
    const { input, output, cachedInput, cacheWrite } = ratesFor(price, time, tier, tokens);
    return [usd(input), usd(output), usd(cachedInput), usd(cacheWrite)];
  };

  it('is the base price by day', () => expect(rates(noon, null, 1)).toEqual([4, 20, 0.4, 5]));

  it('is the band\u2019s above its bound, and a class that it does not name keeps its price', () => {
    expect(rates(noon, null, 200_000)).toEqual([4, 20, 0.4, 5]);
    expect(rates(noon, null, 200_001)).toEqual([8, 30, 0.4, 5]);
  });

  it('is the one of the tier that the answer names; only a band of that tier changes it', () => {
    expect(rates(noon, 'flex', 1)).toEqual([2, 10, 0.4, 5]);
    expect(rates(noon, 'flex', 250_000)).toEqual([2, 10, 0.4, 5]);
    expect(rates(noon, 'priority', 299_999)).toEqual([8, 40, 0.4, 5]);
    expect(rates(noon, 'priority', 300_000)).toEqual([8, 80, 0.4, 5]);
    expect(rates(noon, 'unheard-of', 1)).toEqual([4, 20, 0.4, 5]);
  });

  it.each([
    ['22:29', 4],
    ['22:30', 1],
    ['23:59', 1],
    ['00:00', 1],
    ['05:59', 1],
    ['06:00', 4],
  ])('depends on the time of day: at %s UTC input costs %d', (time, input) => {
    expect(rates(at(`2026-11-16T${time}:00Z`), null, 1)[0]).toBe(input);
  });

  it('is in a period that of the tier, where that names the class, else that of the period', () => {
    expect(rates(at('2026-11-16T23:00:00Z'), 'priority', 1)).toEqual([8, 40, 0.4, 5]);
    expect(rates(at('2026-11-16T23:00:00Z'), null, 200_001)).toEqual([8, 30, 0.4, 5]);
  });

  it('changes after the last day of a promotion, and keeps what the later price does not name', () => {
    expect(rates(at('2026-11-21T21:59:59.999Z'), null, 1)).toEqual([4, 20, 0.4, 5]);
    expect(rates(at('2026-11-22T12:00:00Z'), null, 1)).toEqual([6, 30, 0.4, 5]);
    expect(rates(at('2026-11-22T12:00:00Z'), 'flex', 1)).toEqual([2, 10, 0.4, 5]);
    expect(rates(at('2026-11-22T12:00:00Z'), null, 200_001)).toEqual([8, 30, 0.4, 5]);
    expect(rates(at('2026-11-22T23:00:00Z'), null, 1)).toEqual([1, 5, 0.4, 5]);
  });

  it('may have several bands, in any order', () => {
    const banded = priceOf(
      '{ input: 1, output: 1, above: [{ input_tokens: 20, input: 3 }, { input_tokens: 10, input: 2 }] }',
    );
    expect([5, 11, 21].map((tokens) => usd(ratesFor(banded, noon, null, tokens).input))).toEqual([1, 2, 3]);
  });

  it('of tools and of a request is for one, to the pico-dollar', () => {
    const { tools, request } = priceOf('{ input: 1, output: 1, request: 0.000000000001, tools: { web_search: 0.01 } }');
    expect([request, tools?.get('web_search')]).toEqual([1n, 10_000_000_000n]);
  });
});

describe('the price of an embedding or rerank model', () => {
  const read = (yaml: string, kind: 'chat' | 'embedding' | 'rerank') => {
    const source = new YamlSource('prices.yaml', yaml);
    source.check(priceFields);
    return readPrice(source, [], kind);
  };

  it('needs no output, and no input where requests are priced', () => {
    expect(read('input: 0.02', 'embedding')).toMatchObject({ input: 20_000n, output: 0n });
    expect(read('request: 0.002', 'rerank')).toMatchObject({ input: 0n, output: 0n, request: 2_000_000_000n });
    expect(read('output: 0', 'rerank')).toBeUndefined();
  });

  it('is strict for chat models', () => {
    expect(read('input: 0.02', 'chat')).toBeUndefined();
    expect(read('{ output: 1, request: 0.002 }', 'chat')).toBeUndefined();
  });
});
