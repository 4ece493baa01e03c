import { expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import type { Generation } from '../domain/generation.js';
import { splitLine } from '../domain/settled-line.js';
import { settlementRow } from '../domain/settlement-row.js';
import { leafHash } from './merkle.js';
import { receiptText } from './receipt.js';
import { receiptOfLine, SettledLeaves } from './settled-leaves.js';

const log = { origin: 'llm.example.com/log', salt: Buffer.alloc(32, 7) };
const hash = (letter: string): string => `"${letter.repeat(43)}"`;
const cells = [
  `[null,null,[["regions",1]],["DE",false,320.5],${hash('A')},${hash('-')}]`,
  `[${hash('x')},${hash('y')},[],null,null,null]`,
  `[${hash('x')},${hash('y')},[["a",0],["b\\"",12]],["FR",null,null],${hash('_')},null]`,
  '[null,null,null,null,null,null]',
  `[${hash('x')},null,[["project.regions",1]],["DE",false,320.5],${hash('A')},${hash('-')},[${hash('p')}]]`,
  `[${hash('x')},null,[],null,null,null,[${hash('p')}]]`,
  `[${hash('x')},null,[],null,null,null,[${hash('q')}]]`,
  `[${hash('x')},null,[],null,${hash('A')},null,[${hash('q')}]]`,
  null,
];
const attempt = { provider: 'p', locode: 'defra', outcome: 'served', status: 200, first_byte_ms: 1.5, error: null };
const attempts = [
  [],
  [attempt],
  [{ ...attempt, first_byte_ms: 99 }],
  [{ ...attempt, provider: 'q' }],
  [{ ...attempt, outcome: 'timeout', error: '},{"' }, attempt],
  [{ ...attempt, provider: 'o"d,"status":d' }],
];
const bill = (...lines: [string, number, bigint][]): Generation['bill'] => ({
  lines: lines.map(([name, count, rate]) => ({ name, count, rate })),
  tier: null,
});
const bills = [
  null,
  bill(['input', 12, 150_000n], ['output', 5, 600_000n]),
  bill(['input', 13, 150_000n], ['output', 6, 600_000n]),
  bill(['input', 13, 150_001n], ['output', 6, 600_000n]),
  bill(['tools.a",5,"b', 1, 7n], ['input', 1, 1n], ['input', 2, 2n]),
];
const texts = ['auto/a/b', 'p/a/b/defra', 'odd\t"é漢\\N\n\u2028', null];
const lineOf = (generation: Generation) => splitLine(settlementRow(generation));
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length]!;

it('a line gives the receipt that its generation gives, whatever it shares with the lines before', () => {
  for (let n = 0; n < 3_000; n++) {
    const generation = aGeneration({
      createdAt: 1_794_000_000_000 + n * 7_919,
      proof: pick(cells, n),
      attempts: pick(attempts, Math.floor(n / 5)),
      bill: pick(bills, Math.floor(n / 30)),
      servedModel: pick(texts, Math.floor(n / 150)),
      requestedModel: pick(texts.slice(0, 3) as string[], Math.floor(n / 7)),
      billed: n % 11 !== 0,
      costPico: BigInt(n) ** 4n,
      promptTokens: n,
      streamEnd: pick([null, 'cut' as const], Math.floor(n / 13)),
      accountId: pick(['account-1', 'account-2'], Math.floor(n / 17)),
      ...(n % 97 === 0 && { id: 'an "odd" id' }),
    });
    expect(receiptOfLine(lineOf(generation), log)).toBe(receiptText(generation as Required<Generation>, log));
  }
});

it('the receipts of another log are others', () => {
  const line = lineOf(aGeneration({ proof: cells[0]! }));
  const other = { origin: 'other/log', salt: Buffer.alloc(32, 8) };
  const [first, second] = [log, other].map((each) => JSON.parse(receiptOfLine(line, each)));
  expect(second).toMatchObject({ gateway: 'other/log' });
  expect(second.account).not.toBe(first.account);
});

it('a line of which no receipt can be made is named, and the others have their leaves', () => {
  const good = Array.from({ length: 130 }, () => aGeneration({}));
  const bad = aGeneration({ proof: '{' });
  const found = new SettledLeaves(log);
  for (const each of [...good.slice(0, 70), bad, ...good.slice(70)]) found.add(lineOf(each));
  expect(found.bad).toEqual([{ id: bad.id, accountId: bad.accountId }]);
  const expected = good.map((each) => leafHash(receiptText(each as Required<Generation>, log)));
  expect({ hex: found.hex, count: found.count }).toEqual({
    hex: Buffer.concat(expected).toString('hex'),
    count: good.length,
  });
});
