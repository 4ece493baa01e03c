import { expect, it } from 'vitest';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { billJson, usageJson } from '../../domain/bill-json.js';
import { type BillLines, billText } from '../../wire/cost.js';
import { BillBytes, type BillStyle, billBytesMax, billColumns } from './bill-bytes.js';
import { viewOf } from './export-values.js';

const names = [
  ...['input', 'output', 'cached_input', 'cache_write', 'cache_write_1h', 'reasoning', 'input_audio', 'output_audio'],
  ...['input_image', 'output_image', 'request', 'tools.search', 'tools.web\t"search"', 'tools.größe', 'unpriced_tools'],
];
const rates = [0n, 1n, 999n, 1_000_000n, 2_500_000n, 123_456_789_012n, 10n ** 12n, 10n ** 18n + 1n];
const tokens = { promptTokens: 12, completionTokens: 34, cachedTokens: 5, reasoningTokens: 6 };

const styles = [
  ['plain', (json: string) => json],
  ['json', (json: string) => JSON.stringify(json)],
  ['csv', (json: string) => `"${json.replaceAll('"', '""')}"`],
] as const;

function writerOf(style: BillStyle): (stored: string | null) => (string | null)[] {
  const bill = new BillBytes(style);
  bill.tokens.set(Object.values(tokens));
  return (stored) => {
    // As in a chunk of the socket, where other rows come before and behind.
    const row = Buffer.from(`12"}${stored ?? ''}0"}]`);
    const length = stored === null ? -1 : Buffer.byteLength(stored);
    bill.read(row, 4, length);
    const buffer = Buffer.alloc(billBytesMax(length));
    const target = { buffer, view: viewOf(buffer) };
    return billColumns.map((_, place) => {
      if (!bill.has(place)) return null;
      if (place === 0) return bill.tierBytes.toString('utf8', bill.tierFrom, bill.tierTo);
      return buffer.toString('utf8', 0, bill.write(place, target, 0));
    });
  };
}

it.each(styles)('writes the same as the API for every bill, in the style %s', (style, encode) => {
  const write = writerOf(style);
  const seeded = new SeededRandom(7);
  const pick = <T>(values: readonly T[]) => values[Math.floor(seeded.next() * values.length)]!;
  for (let i = 0; i < 600; i++) {
    // Half of the bills have names and rates of the usual form only.
    const [usualNames, usualRates] = i % 2 ? [names, rates] : [names.slice(0, 12), rates.slice(0, 6)];
    const lines = Array.from({ length: Math.floor(seeded.next() * 7) }, () => ({
      ...{ name: pick(usualNames), rate: pick(usualRates), count: pick([0, 1, 17, 4096, 900_000_000]) },
    }));
    const bill: BillLines = { lines, tier: pick([null, 'flex', '-x', '', 'a"b']) };
    // A third of them was paid for by a customer's own credential.
    const fee = i % 3 === 0 ? pick(rates) : null;
    const { cost_details: details, cost_lines: costLines, notional_cost_details: notional } = billJson(bill, fee);
    const json = [usageJson({ ...tokens, bill }), details, costLines, notional].map(
      (value) => value && encode(JSON.stringify(value)),
    );
    const stored = billText(bill);
    expect(write(fee === null ? stored : `fee ${fee} ${stored}`)).toEqual([bill.tier, ...json]);
  }
});

it('has no bill where none was kept', () => {
  expect(writerOf('plain')(null)).toEqual([
    null,
    JSON.stringify(usageJson({ ...tokens, bill: null })),
    null,
    null,
    null,
  ]);
});

it('writes a bill with spaces, and one with more lines than usual', () => {
  const write = writerOf('plain');
  const lines = Array.from({ length: 100 }, (_, i) => ({ name: 'input', count: i, rate: 7n }));
  expect(write(billText({ lines, tier: null }))[3]).toBe(JSON.stringify(billJson({ lines, tier: null }).cost_lines));
  const one = { lines: [{ name: 'input', count: 3, rate: 7n }], tier: 'flex' };
  const stored = JSON.stringify({ lines: [['input', 3, '7']], tier: 'flex' }, null, 1);
  expect(write(stored)).toEqual(write(billText(one)));
});
