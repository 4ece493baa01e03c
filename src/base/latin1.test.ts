import { describe, expect, it } from 'vitest';
import { asLatin1, bytesOfLatin1, copyLatin1, decodeLatin1, encodeLatin1, latin1OfBytes } from './latin1.js';

const text = 'Grüße 字 🙂';

describe('text kept as latin1', () => {
  it('has one character per byte and decodes to the ordinary string', () => {
    const kept = encodeLatin1(text);
    expect(kept).toHaveLength(Buffer.byteLength(text));
    expect(decodeLatin1(kept)).toBe(text);
    expect(latin1OfBytes(Buffer.from(text))).toBe(kept);
    expect(bytesOfLatin1(kept)).toEqual(Buffer.from(text));
    expect(copyLatin1(kept)).toBe(kept);
  });

  it('is restored whole when it was cut inside a character', () => {
    const kept = encodeLatin1(text);
    expect(decodeLatin1(asLatin1(kept.slice(0, 3) + kept.slice(3)))).toBe(text);
  });
});
