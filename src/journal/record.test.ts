import { describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { forSeeds, SeededRandom } from '../../tests/support/seeded-random.js';
import type { Generation } from '../domain/generation.js';
import { closeFrame, scanFrames } from './frames.js';
import { idIn, kindIn, RecordWriter, readRecord, recordBytes } from './record.js';

const letters = [
  'a',
  'Z',
  '9',
  '-',
  '/',
  'é',
  '語',
  '\u{1F600}',
  '\t',
  '\n',
  '\\',
  '"',
  '\u0000',
  '\u2028',
  'long'.repeat(20),
];

function anyGeneration(random: SeededRandom): Generation {
  const text = () => random.textOf(letters, 12);
  const orNull = <T>(value: T): T | null => (random.chance(0.4) ? null : value);
  const count = () => random.pick([0, 1, 127, 128, 16_384, 2 ** 31, 2 ** 40, random.below(1e6)]);
  const amount = () => random.pick([0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 70n, BigInt(count())]);
  const orNone = (own: false | Partial<Generation>) => ({
    ...{ credentialId: null, credentialOwner: null, notionalPico: null, countedPico: null, skipped: null },
    ...(own && { ...own, credentialOwner: random.pick(['project', 'account'] as const) }),
  });
  const list = <T>(make: () => T): T[] => Array.from({ length: random.below(4) }, make);
  return {
    ...{ id: `gen-${text()}`, requestId: text(), accountId: `account-${text()}`, keyId: text(), keyName: text() },
    ...{ createdAt: random.below(2 ** 42), requestedModel: text(), servedModel: orNull(text()) },
    ...{ provider: orNull(text()), locode: orNull(text()), streamed: random.chance(0.5), status: count() },
    ...{ promptTokens: count(), completionTokens: count(), cachedTokens: count(), reasoningTokens: count() },
    ...{
      costPico: amount(),
      billed: random.chance(0.5),
      latencyMs: random.next() * 1000,
      firstByteMs: orNull(count()),
    },
    ...{ providersAttempted: list(text), fallbackOccurred: random.chance(0.5), finishReason: orNull(text()) },
    ...{ streamEnd: orNull('stalled' as const), usageSource: orNull('counted' as const), errorCode: orNull(text()) },
    attempts: list(() => ({
      ...{ provider: text(), locode: text(), outcome: text(), status: orNull(count()) },
      ...{ first_byte_ms: orNull(random.next() - 0.5), error: orNull(text()) },
    })),
    bill: orNull({ lines: list(() => ({ name: text(), count: count(), rate: amount() })), tier: orNull(text()) }),
    requestPolicy: orNull({ order: list(text), nested: { deep: null } }),
    ...{
      door: orNull(text()),
      proof: orNull(text()),
      projectId: orNull(text()),
      holderId: orNull(text()),
      endUser: orNull(text()),
      skipped: orNull(list(() => ({ route: text(), reason: 'cannot_apply' as const, param: orNull(text()) }))),
    },
    ...orNone(
      random.chance(0.5) && { credentialId: text(), notionalPico: orNull(amount()), countedPico: orNull(amount()) },
    ),
  };
}

/** What a reader finds: the ids of the records and the number of damaged places. */
function read(bytes: Buffer): { ids: string[]; damaged: number } {
  const found = { ids: [] as string[], damaged: 0 };
  scanFrames(bytes, true, {
    take: (start, end) => found.ids.push(idIn(bytes, start, end)) > 0,
    damaged: () => ++found.damaged > 0,
  });
  return found;
}

describe('a record of the journal', () => {
  it('holds every generation unchanged, also in a buffer that begins too small', () => {
    forSeeds(2000, (random) => {
      const generation = anyGeneration(random);
      const bytes = recordBytes(random.chance(0.5) ? 'final' : 'provisional', generation);
      expect(readRecord(bytes, 0, bytes.length)).toEqual(generation);
      expect(idIn(bytes, 0, bytes.length)).toBe(generation.id);
      const tight = new RecordWriter(Buffer.alloc(bytes.length - 1 - random.below(bytes.length - 1)));
      expect(tight.write('final', generation)).toBe(false);
      expect(tight.at).toBe(0);
    });
  });

  it('is half the size of its line of text, and fields that are absent are null again', () => {
    const { door, proof, requestPolicy, ...rest } = aGeneration();
    const bytes = recordBytes('final', rest);
    expect(readRecord(bytes, 0, bytes.length)).toEqual({ ...rest, door: null, proof: null, requestPolicy: null });
    expect(bytes.length).toBeLessThan(420);
  });

  it('is read by a version that does not know its later fields', () => {
    const generation = aGeneration();
    const bytes = recordBytes('provisional', generation);
    const later = Buffer.concat([
      bytes,
      Buffer.from([
        (60 << 2) | 2,
        3,
        65,
        66,
        67,
        (61 << 2) | 0,
        0x80,
        1,
        (62 << 2) | 3,
        (63 << 2) | 1,
        ...Buffer.alloc(8, 7),
      ]),
    ]);
    closeFrame(later, 0, later.length);
    expect(readRecord(later, 0, later.length)).toEqual(generation);
    expect(kindIn(later, 0)).toBe('provisional');
  });
});

describe('a damaged journal', () => {
  it('gives every undamaged record once, and tells of every damaged one', () => {
    const made = new SeededRandom(1);
    const records = Array.from({ length: 60 }, () => recordBytes('final', anyGeneration(made)));
    const whole = records.map((bytes) => idIn(bytes, 0, bytes.length));
    const hit = records.map((_, i) => i % 10 === 5);
    forSeeds(1000, (random) => {
      const pieces = records.map((bytes, i) => (hit[i] ? hurt(random, Buffer.from(bytes)) : bytes));
      const { ids, damaged } = read(Buffer.concat([...pieces, Buffer.alloc(random.below(3) * 512)]));
      expect(ids).toEqual(whole.filter((_, i) => !hit[i]));
      expect(damaged).toBe(hit.filter(Boolean).length);
    });
  });

  it('is not told of where only allocated space follows', () => {
    expect(read(Buffer.concat([recordBytes('final', aGeneration()), Buffer.alloc(4096)])).damaged).toBe(0);
  });
});

/** A flipped bit, a part cut out, or zeros as of a page that was never written. Something of it stays. */
function hurt(random: SeededRandom, bytes: Buffer): Buffer {
  const at = random.below(bytes.length - 2);
  const kind = random.below(3);
  if (kind === 0) {
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    return bytes;
  }
  const end = at + 1 + random.below(bytes.length - 1 - at);
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
  const was = Buffer.from(bytes);
  bytes.fill(0, at, end);
  return bytes.equals(was) ? hurt(random, bytes) : bytes;
}
