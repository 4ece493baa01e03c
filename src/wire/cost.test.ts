import { expect, it } from 'vitest';
import { type Cost, withCost } from './cost.js';

const lines = [
  { name: 'input', count: 10, rate: 2_000_000n },
  { name: 'cached_input', count: 4, rate: 1_000_000n },
  { name: 'output', count: 3, rate: 5_000_000n },
];
const listed = { pico: 39_000_000n, details: { input: 20_000_000n, cache_read: 4_000_000n, output: 15_000_000n } };
const operators: Cost = { ...listed, lines, tier: null };
const own: Cost = { pico: 7n, details: {}, lines, tier: 'flex', notional: listed };

it.each([
  ['ends with a member', '{"input_tokens":10}'],
  ['is empty', '{}'],
  ['names a cost itself', '{"cost":9,"input_tokens":10,"cost_details":{"upstream_inference_cost":9}}'],
  ['says whose credential it was', '{"is_byok":false,"input_tokens":10,"notional_cost":9}'],
  ['is no plain text', '{"cost":9,"c\\u006fst":8,"input_tokens":10}'],
])('a usage that %s gets the cost, each member once', (_, given) => {
  for (const cost of [operators, own]) {
    const text = withCost(given, cost);
    const read = JSON.parse(text);
    expect(text.match(/"cost":/g)).toHaveLength(1);
    if (given.includes('input_tokens')) expect(read.input_tokens).toBe(10);
    const sides = { upstream_inference_prompt_cost: 0.000024, upstream_inference_completions_cost: 0.000015 };
    expect(read.cost_details).toMatchObject({ upstream_inference_cost: 0.000039, ...sides });
    if (cost === operators) {
      expect(read.cost).toBe(0.000039);
      expect(read.cost_details).toMatchObject({ input: '0.00002', output: '0.000015' });
    } else {
      expect(read).toMatchObject({ cost: 7e-12, is_byok: true, notional_cost: 0.000039 });
      expect(read.notional_cost_details).toEqual({
        input: '0.00002',
        cache_read: '0.000004',
        output: '0.000015',
        tier: 'flex',
      });
      expect(read.cost_details.fee).toBe('0.000000000007');
      expect(text.match(/"is_byok":/g)).toHaveLength(1);
    }
  }
});
