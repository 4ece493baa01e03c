import { describe, expect, it } from 'vitest';
import { nativeHeaders } from './native-pass.js';

const own = ['accept', 'application/json', 'anthropic-version', '2023-06-01', 'x-api-key', 'k'];
const sent = (headers: Record<string, string>, base: readonly string[] = own) =>
  nativeHeaders(base, 'messages', (name) => headers[name]);

describe('the headers of a native pass', () => {
  it('are the dialect\u2019s own list where the client sends none, or the same', () => {
    expect(sent({})).toBe(own);
    expect(sent({ 'anthropic-version': '2023-06-01' })).toBe(own);
  });

  it('have the client\u2019s values in place of the dialect\u2019s, or behind them', () => {
    expect(sent({ 'anthropic-version': '2024-01-01', 'anthropic-beta': 'b' })).toEqual([
      ...['accept', 'application/json', 'anthropic-version', '2024-01-01', 'x-api-key', 'k', 'anthropic-beta', 'b'],
    ]);
    expect(own).toHaveLength(6);
  });

  it('are one list for the same values, also after many others', () => {
    const first = sent({ 'anthropic-beta': 'b' });
    expect(sent({ 'anthropic-beta': 'b' })).toBe(first);
    for (let i = 0; i < 200; i++) expect(sent({ 'anthropic-beta': `b${i}` }).at(-1)).toBe(`b${i}`);
    expect(sent({ 'anthropic-beta': 'b' })).toEqual(first);
  });

  it('belong to the credentials that they were made of', () => {
    const other = own.with(-1, 'other');
    expect(sent({ 'anthropic-beta': 'b' }, other)).toContain('other');
    expect(sent({ 'anthropic-beta': 'b' })).not.toContain('other');
  });

  it('leave out a value that is too long', () => {
    expect(sent({ 'anthropic-beta': 'b'.repeat(1_025) })).toBe(own);
  });
});
