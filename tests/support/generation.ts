/** A generation with every field filled in, for tests that care about a few of them, and a reader for its journal line. */
import { generationId, requestId } from '../../src/base/ids.js';
import type { Generation } from '../../src/domain/generation.js';
import type { SettlementRow } from '../../src/domain/settlement-row.js';
import { lineColumns } from '../../src/domain/settlement-row.js';
import { readBill } from '../../src/wire/cost.js';

export function aGeneration(fields: Partial<Generation> = {}): Generation {
  const createdAt = fields.createdAt ?? Date.parse('2026-03-01T12:00:00.123Z');
  return {
    id: generationId(createdAt),
    requestId: requestId(createdAt),
    accountId: 'account-1',
    keyId: 'key-000001',
    keyName: 'production',
    createdAt,
    requestedModel: 'auto/meta/llama-3.3-70b',
    servedModel: 'acme/meta/llama-3.3-70b/defra',
    provider: 'acme',
    locode: 'defra',
    streamed: true,
    status: 200,
    promptTokens: 12,
    completionTokens: 34,
    cachedTokens: 5,
    reasoningTokens: 6,
    costPico: 1_000_000_007n,
    billed: true,
    latencyMs: 1234.5,
    firstByteMs: 120.25,
    providersAttempted: ['zeta', 'acme'],
    fallbackOccurred: true,
    finishReason: 'stop',
    streamEnd: 'complete',
    usageSource: 'provider',
    errorCode: null,
    requestPolicy: null,
    door: null,
    proof: null,
    projectId: null,
    holderId: null,
    credentialId: null,
    credentialOwner: null,
    notionalPico: null,
    countedPico: null,
    endUser: null,
    skipped: null,
    attempts: [
      {
        provider: 'zeta',
        locode: 'global',
        outcome: 'capacity',
        status: 429,
        first_byte_ms: null,
        error: 'full\tof "it"\\\n',
      },
      { provider: 'acme', locode: 'defra', outcome: 'served', status: 200, first_byte_ms: 120.25, error: null },
    ],
    bill: {
      lines: [
        { name: 'input', count: 7, rate: 1_000_000n },
        { name: 'tools.web\t"search"', count: 2, rate: 496_500_003n },
        { name: 'unpriced_tools', count: 1, rate: 0n },
      ],
      tier: 'flex',
    },
    ...fields,
  };
}

const letters: Record<string, string> = { t: '\t', n: '\n', r: '\r' };

/** Reads a line as PostgreSQL's COPY would. */
export function generationOf({ bytes, start, end }: SettlementRow): Generation {
  const line = bytes.toString('utf8', start, end);
  if (line.indexOf('\n') !== line.length - 1) throw new TypeError('not one line');
  const cells = line.slice(0, -1).split('\t');
  const record: Record<string, unknown> = {};
  for (const [i, column] of lineColumns.entries()) {
    const name = column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    record[name === 'createdMs' ? 'createdAt' : name] = valueIn(column, cells[i]!);
  }
  return record as unknown as Generation;
}

function valueIn(column: string, cell: string): unknown {
  if (cell === '\\N') return null;
  const text = cell.replace(/\\(.)/g, (_, letter: string) => letters[letter] ?? letter);
  if (column === 'bill') return readBill(text);
  if (column === 'cost_pico') return BigInt(text);
  if (/^(billed|streamed|fallback_occurred)$/.test(column)) return text === 't';
  if (/_(tokens|ms)$|^status$/.test(column)) return Number(text);
  return /^(providers_attempted|attempts|request_policy|skipped)$/.test(column) ? JSON.parse(text) : text;
}
