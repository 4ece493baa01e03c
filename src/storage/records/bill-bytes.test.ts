import { expect, it } from 'vitest';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { type BillLines, billText } from '../wire/cost.js';
import { billJson, usageJson } from './bill-json.js';
import { billWriter } from './bill-texts.js';

const names = [
  ...['input', 'output', 'cached_input', 'cache_write', 'cache_write_1h', 'reasoning', 'input_audio', 'output_audio'],
  ...['input_image', 'output_image', 'request', 'tools.web\t"search"', 'tools.größe', 'unpriced_tools'],
];
const rates = [0n, 1n, 999n, 1_000_000n, 2_500_000n, 123_456_789_012n, 10n ** 12n, 10n ** 18n + 1n];
const tokens = { promptTokens: 12, completionTokens: 34, cachedTokens: 5, reasoningTokens: 6 };

const styles = [
  ['plain', (json: string) => json],
  ['json', (json: string) => JSON.stringify(json)],
  ['csv', (json: string) => `"${json.replaceAll('"', '""')}"`],
] as const;

it.each(styles)('writes the same as the API for every bill, in the style %s', (style, encode) => {
  const billTexts = billWriter(style);
  const seeded = new SeededRandom(7);
  const pick = <T>(values: readonly T[]) => values[Math.floor(seeded.next() * values.length)]!;
  for (let i = 0; i < 300; i++) {
    const lines = Array.from({ length: Math.floor(seeded.next() * 7) }, () => ({
      ...{ name: pick(names), rate: pick(rates), count: pick([0, 1, 17, 4096, 900_000_000]) },
    }));
    const bill: BillLines = { lines, tier: pick([null, 'flex', 'a"b']) };
    const { cost_details: details, cost_lines: costLines } = billJson(bill);
    expect(billTexts(tokens, billText(bill))).toEqual({
      serviceTier: bill.tier,
      usage: encode(JSON.stringify(usageJson({ ...tokens, bill }))),
      costDetails: encode(JSON.stringify(details)),
      costLines: encode(JSON.stringify(costLines)),
    });
  }
});

it('has no bill where none was kept', () => {
  const usage = JSON.stringify(usageJson({ ...tokens, bill: null }));
  expect(billWriter('plain')(tokens, null)).toEqual({ serviceTier: null, usage, costDetails: null, costLines: null });
});
