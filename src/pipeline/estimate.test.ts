import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { estimateCost } from '../billing/bill.js';
import type { Route } from '../catalogue/route.js';
import { estimatePromptTokens } from './validate.js';

const route = { price: { input: 3n, output: 5n, cachedInput: null, request: 7n }, maxOutputTokens: 100 } as Route;
const asked = { promptTokens: 10, atMs: 0 };

it('holds no output tokens for embeddings and rerank', () => {
  const task = { kind: 'embedding', inputs: [], isTokens: false, format: 'float' } as const;
  expect(estimateCost([route], { ...asked, request: { task } })).toBe(37n);
  expect(estimateCost([route], { ...asked, request: {} })).toBe(537n);
});

it('is the highest of all routes, whatever is left out of the comparison', () => {
  forSeeds(400, (random) => {
    const amount = () => BigInt(random.below(4));
    const routes = Array.from({ length: 1 + random.below(8) }, () => {
      const rates = { input: amount(), output: amount(), cachedInput: null };
      const request = random.chance(0.3) ? { request: amount() * 40n } : {};
      const bands = random.chance(0.3) ? { bands: [{ ...rates, input: amount() + 3n, fromTokens: 50 }] } : {};
      const price = random.chance(0.1) ? null : { ...rates, ...request, ...bands };
      return { price, maxOutputTokens: random.pick([null, 10, 100, 40_000]) } as Route;
    });
    const request = random.chance(0.5) ? {} : { outputMax: random.pick([5, 50, 50_000]) };
    const asking = { request, promptTokens: random.pick([0, 10, 60]), atMs: 0 };
    const each = routes.map((one) => estimateCost([one], asking));
    const highest = each.reduce((most, cost) => (cost > most ? cost : most), 0n);
    expect(estimateCost(routes, asking)).toBe(highest);
    expect(estimateCost(routes, asking)).toBe(highest);
  });
});

const prose = 'The quick brown fox jumps over the lazy dog, and nobody counts. ';
const said = (content: string) => `"messages":[{"role":"user","content":"${content}"}]`;
const latin1 = (text: string) => ({ members: Buffer.from(text).toString('latin1'), encoding: 'latin1' as const });
const base64 = (bytes: number) =>
  Buffer.alloc(bytes, 'Every byte of a picture differs. \u0000\u00fe\u00ff').toString('base64');

describe('the estimate of a prompt', () => {
  it('is about a token for four bytes', () => {
    expect(estimatePromptTokens(latin1(said(prose.repeat(10))))).toBe(Math.ceil(said(prose.repeat(10)).length / 4));
  });

  it('is the same for a string of bytes, a decoded string and a buffer', () => {
    for (const text of [said('你好，世界。'.repeat(20)), said(prose.repeat(2000)), said('你好 '.repeat(20_000))]) {
      const estimate = estimatePromptTokens(latin1(text));
      expect(estimatePromptTokens({ members: text, encoding: 'utf8' })).toBe(estimate);
      expect(estimatePromptTokens({ members: Buffer.from(text), encoding: 'latin1' })).toBe(estimate);
    }
  });

  it('is never less than one, so that a window in use is never empty', () => {
    expect(estimatePromptTokens({ members: '', encoding: 'latin1' })).toBe(1);
  });

  it('counts long text in full', () => {
    const chinese = '地球是太阳系中由内及外的第三颗行星'.repeat(2000);
    expect(estimatePromptTokens(latin1(said(chinese)))).toBeGreaterThan(chinese.length * 0.7);
    const text = said(prose.repeat(4000));
    expect(estimatePromptTokens(latin1(text))).toBe(Math.ceil(text.length / 4));
  });

  it.each([
    ['as it is', (encoded: string) => encoded],
    ['with escaped slashes', (encoded: string) => encoded.replaceAll('/', '\\/')],
    ['with line breaks', (encoded: string) => encoded.replace(/.{76}/g, '$&\\r\\n')],
  ])('does not take a picture of 5 MB for text: base64 %s', (_, written) => {
    const body = said(`data:image/png;base64,${written(base64(5_000_000))}`);
    expect(estimatePromptTokens(latin1(body))).toBeLessThan(12_000);
    expect(estimatePromptTokens({ members: Buffer.from(body), encoding: 'latin1' })).toBeLessThan(12_000);
  });

  it('counts base64 of embeddings and rerank as text, and tokens by their number', () => {
    const body = said(base64(100_000));
    const task = { kind: 'embedding', inputs: [], isTokens: false, format: 'float' } as const;
    expect(estimatePromptTokens({ ...latin1(body), task })).toBe(Math.ceil(body.length / 4));
    expect(estimatePromptTokens({ ...latin1('[100000,200000]'), task: { ...task, isTokens: true, tokens: 2 } })).toBe(
      2,
    );
  });

  it('counts the text beside a picture', () => {
    const text = prose.repeat(3000);
    const body = said(`${text}","image":"${base64(3_000_000)}","more":"${text}`);
    const estimate = estimatePromptTokens(latin1(body));
    expect(estimate).toBeGreaterThan(text.length / 2);
    expect(estimate).toBeLessThan(text.length / 2 + 8000);
  });
});
