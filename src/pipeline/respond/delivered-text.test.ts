import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../base/latin1.js';
import type { CountedPiece } from '../../billing/count/count-pieces.js';
import { DeliveredText, keptCharactersMax } from './delivered-text.js';

/** Counts a token a character when it is told to, and leaves `leftOver` characters over. */
class ManualCounter {
  leftOver = 0;
  readonly pieces: string[] = [];
  private finish: () => void = () => {};

  countPiece(text: Buffer): Promise<CountedPiece> {
    const piece = text.toString('latin1');
    this.pieces.push(piece);
    return new Promise((resolve) => {
      this.finish = () =>
        resolve({ tokens: piece.length - this.leftOver, rest: piece.slice(piece.length - this.leftOver) });
    });
  }

  async finishPiece(): Promise<void> {
    this.finish();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function start() {
  const counter = new ManualCounter();
  return { counter, delivered: new DeliveredText(counter) };
}

const half = 'ab '.repeat(keptCharactersMax / 6);

describe('delivered text', () => {
  it('is kept while it is short, and counted by nobody', async () => {
    const { counter, delivered } = start();
    delivered.add(asLatin1(half), half.length);
    expect([delivered.countIfLong(), counter.pieces, delivered.characters]).toEqual([true, [], half.length]);
    expect(await delivered.remaining()).toEqual({ tokens: 0, text: half, isEstimate: false });
  });

  it('is handed over once it is long; what comes meanwhile waits, and more than that stops the stream', async () => {
    const { counter, delivered } = start();
    counter.leftOver = 3;
    const add = () => {
      delivered.add(asLatin1(`${half}${half}xx`), half.length);
      return delivered.countIfLong();
    };
    expect([add(), add()]).toEqual([true, false]);
    let resumed = false;
    delivered.whenCounted(() => {
      resumed = true;
    });
    expect([counter.pieces.length, resumed]).toEqual([1, false]);
    await counter.finishPiece();
    const { tokens, text } = await delivered.remaining();
    expect([resumed, tokens + text.length, text]).toEqual([true, delivered.characters, ` xx${half}${half}xx`]);
    expect([delivered.countIfLong(), counter.pieces[1]]).toEqual([true, text]);
  });

  it('has at least the tokens of its words, also where it is asked in between, and after it was handed over', async () => {
    const { delivered } = start();
    const frames = [
      'one',
      ' tw',
      'o\\n',
      'three \\u00e9',
      't\\u00e9 ',
      ...Array.from({ length: 9_000 }, () => 'more '),
    ];
    for (const [at, frame] of frames.entries()) {
      delivered.add(asLatin1(frame), frame.length);
      if (at === 1) expect(delivered.leastTokens).toBe(2);
      if (at === 4) expect(delivered.leastTokens).toBe(4);
      if (at % 100 === 0) delivered.countIfLong();
    }
    expect(delivered.leastTokens).toBe(9_004);
  });

  it('of one huge frame is counted in pieces that cut no escape in two', async () => {
    const { counter, delivered } = start();
    const escapes = 'x\\u00e9\\\\\\n'.repeat(20_000);
    delivered.add(asLatin1(escapes), escapes.length);
    delivered.countIfLong();
    for (let pieces = 0; pieces < 4; pieces++) await counter.finishPiece();
    expect(counter.pieces.length).toBeGreaterThan(2);
    for (const piece of counter.pieces) expect(() => JSON.parse(`"${piece}"`)).not.toThrow();
    expect(Math.max(...counter.pieces.map(({ length }) => length))).toBeLessThan(65_536 + 16);
  });
});
