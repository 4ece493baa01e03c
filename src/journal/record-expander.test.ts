import { expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import type { Generation } from '../domain/generation.js';
import { splitLine } from '../domain/settled-line.js';
import { lineText, settlementRow } from '../domain/settlement-row.js';
import { receiptOfLine } from '../proof/settled-leaves.js';
import { UsageSums } from '../storage/records/usage-batch.js';
import { readRecord, recordBytes } from './record.js';
import { RecordExpander } from './record-expander.js';

const odd = ['\\N', 'a\tb', 'é漢\u{1F600}', 'a\u0000b', '",5,"', ',"first_byte_ms":7,', '', '\\', '"],["input",9,"1"]'];
const hash = (random: SeededRandom) =>
  Buffer.from(Array.from({ length: 32 }, () => random.below(256))).toString('base64url');

function proofOf(random: SeededRandom): string | null {
  const [request, answer] = [hash(random), hash(random)].map((text) => `"${text}"`);
  const project = random.chance(0.3) ? `,["${'p'.repeat(43)}"]` : '';
  const common = `["${'x'.repeat(43)}",null,[["a\\"b",${random.below(2)}]],["DE",false,320.5]`;
  return random.pick([
    ...[null, `${common},${request},${answer}${project}]`, `${common},${request},${answer}${project}]`],
    ...[`${common},null,null${project}]`, `${common},${request},null${project}]`],
  ]);
}

function ownCredential(random: SeededRandom): Partial<Generation> {
  const amount = () => random.pick([null, 0n, 7n, 10n ** 30n, BigInt(random.below(9_000))]);
  const credentialOwner = random.pick(['project', 'account'] as const);
  return { credentialId: 'cred-1', credentialOwner, notionalPico: amount(), countedPico: amount() };
}

function randomGeneration(random: SeededRandom): Generation {
  const text = (usual: string) => (random.chance(0.1) ? random.pick(odd) : usual);
  const number = () => random.pick([0, 1, 127, 128, 70_000, 2 ** 40, random.below(9_000)]);
  const ms = () => random.pick([0, 12, 0.25, 1234.5678, 1e-7, 3e21]);
  return aGeneration({
    createdAt: 1_794_000_000_000 + random.below(2 ** 30),
    ...(random.chance(0.1) && { id: `gen ${random.pick(odd)}` }),
    accountId: random.pick(['account-1', 'account-2', `account ${random.pick(odd)}`]),
    keyName: text('production'),
    requestedModel: text('auto/meta/llama'),
    servedModel: random.chance(0.2) ? null : text('acme/meta/llama/defra'),
    finishReason: random.chance(0.5) ? null : text('stop'),
    billed: random.chance(0.8),
    ...{ promptTokens: number(), completionTokens: number(), cachedTokens: number(), reasoningTokens: number() },
    ...{ costPico: random.pick([0n, 5n, 2n ** 60n, 10n ** 30n]), latencyMs: ms() },
    firstByteMs: random.chance(0.2) ? null : ms(),
    attempts: Array.from({ length: random.below(3) }, () => ({
      ...{ provider: text('acme'), locode: 'defra', outcome: 'served', status: random.chance(0.5) ? null : 200 },
      ...{ first_byte_ms: random.chance(0.3) ? null : ms(), error: random.chance(0.5) ? null : text('bad') },
    })),
    bill: random.chance(0.2)
      ? null
      : {
          lines: Array.from({ length: random.below(3) }, () => ({
            ...{ name: random.chance(0.2) ? `tools.${random.pick(odd)}` : 'input', count: number() },
            rate: random.pick([0n, 600_000n]),
          })),
          tier: random.chance(0.2) ? text('flex') : null,
        },
    requestPolicy: random.chance(0.1) ? { only: [random.pick(odd)] } : null,
    proof: proofOf(random),
    skipped: random.chance(0.2) ? [{ route: random.pick(odd), reason: 'unconfigured', param: null }] : null,
    ...{ projectId: random.chance(0.5) ? null : 'proj-1', holderId: null, door: random.pick([null, 'messages']) },
    ...(random.chance(0.4) && ownCredential(random)),
  });
}

it('a record has the line, the sums and the receipt that its generation has, whatever it shares with the records before', () => {
  const random = new SeededRandom(7);
  const log = { origin: 'llm.example.com/log', salt: Buffer.alloc(32, 7) };
  const expander = new RecordExpander();
  for (let n = 0; n < 2_000; n++) {
    const record = recordBytes('final', randomGeneration(random));
    const plain = settlementRow(readRecord(record, 0, record.length));
    const row = expander.expand(record, 0, record.length);
    expect(lineText(row)).toBe(lineText(plain));
    const { accountId, keyId, chargePico, countedPico } = plain;
    expect(row).toMatchObject({ accountId, keyId, chargePico });
    expect(row.countedPico).toBe(countedPico);
    const [line, expected] = [splitLine(row), splitLine(plain)];
    expect(receiptOfLine(line, log)).toBe(receiptOfLine(expected, log));
    const [sums, expectedSums] = [new UsageSums(), new UsageSums()];
    sums.add(line);
    expectedSums.add(expected);
    expect(sums.text()).toBe(expectedSums.text());
  }
});

it('records that differ in what each has its own of are of one kind, and only the first is read whole', () => {
  const expander = new RecordExpander();
  const random = new SeededRandom(3);
  const proof = () => `[null,null,[],["DE",false,1],"${hash(random)}","${hash(random)}"]`;
  const rows = Array.from({ length: 20 }, (_, i) =>
    recordBytes(
      'final',
      aGeneration({
        ...{
          createdAt: 1_794_000_000_000 + i * 3_600_000,
          promptTokens: 5 + i,
          costPico: BigInt(i + 1) ** 9n,
          proof: proof(),
        },
        ...{ door: 'messages', projectId: 'proj-1', holderId: 'per-1' },
        attempts: [
          { provider: 'a', locode: 'b', outcome: 'served', status: 200, first_byte_ms: i + 0.5, error: 'x "y"' },
        ],
        bill: { lines: [{ name: 'input', count: 5 + i, rate: 7n }], tier: null },
        ...(i >= 10 && {
          ...{ credentialId: 'cred-1', credentialOwner: 'account' },
          ...{ notionalPico: BigInt(i), countedPico: BigInt(i) ** 20n },
        }),
      }),
    ),
  ).map((record) => expander.expand(record, 0, record.length));
  for (const [first, ...others] of [rows.slice(0, 10), rows.slice(10)]) {
    const { form } = splitLine(first!);
    for (const row of others) expect(row.line?.form).toBe(form);
  }
});

it('forgets kinds that are not met any more, and none of those that are', () => {
  const expander = new RecordExpander();
  const expand = (keyName: string) => {
    const record = recordBytes('final', aGeneration({ keyName }));
    return expander.expand(record, 0, record.length);
  };
  expand('often');
  for (let i = 0; i < 9_000; i++) {
    expect(lineText(expand(`key ${i}`))).toContain(`\tkey ${i}\t`);
    if (i % 1_000 === 0) expect(expand('often').line).not.toBeNull();
  }
  expect(expand('key 0').line).toBeNull();
});

it('a record without an id or an account is refused', () => {
  const expander = new RecordExpander();
  for (const fields of [{}, {}, { id: '' }, { accountId: '' }, { id: '' }]) {
    const record = recordBytes('final', aGeneration(fields));
    const expand = () => expander.expand(record, 0, record.length);
    if (Object.keys(fields).length === 0) expand();
    else expect(expand).toThrow('a record without an id or an account');
  }
});
