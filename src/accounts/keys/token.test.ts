import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyLabel, makeToken } from './token.js';

describe('making a token', () => {
  it('is sk-lr- and 32 random bytes in base64url: a body of exactly 43 characters', () => {
    expect(makeToken().token).toMatch(/^sk-lr-[A-Za-z0-9_-]{43}$/);
    expect(makeToken().token).not.toBe(makeToken().token);
  });

  it('never has a public id that begins with a dash, which a command line would take for an option', () => {
    const drawn = [Buffer.alloc(32, 0xfb), Buffer.alloc(32, 0xfa), Buffer.alloc(32, 7)];
    const { id } = makeToken(() => drawn.shift()!);
    expect(Buffer.alloc(32, 0xfb).toString('base64url')[0]).toBe('-');
    expect([id, drawn.length]).toEqual(['BwcHBwcHBw', 0]);
  });

  it('gives the first ten body characters as the public id and the SHA-256 of the whole token to keep', () => {
    const { token, id, lastFour, hash } = makeToken(() => Buffer.alloc(32, 7));
    expect(id).toBe(token.slice(6, 16));
    expect(lastFour).toBe(token.slice(-4));
    expect(hash).toEqual(createHash('sha256').update(token).digest());
  });

  it('shows only the prefix and the last four afterwards', () => {
    expect(keyLabel('wxyz')).toBe('sk-lr-…wxyz');
  });
});
