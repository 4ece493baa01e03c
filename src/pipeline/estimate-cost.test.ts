import { expect, it } from 'vitest';
import type { Route } from '../catalogue/route.js';
import { estimateCost } from './estimate-cost.js';

const route = { price: { input: 3n, output: 5n, cachedInput: null, request: 7n }, maxOutputTokens: 100 } as Route;
const asked = { promptTokens: 10, atMs: 0 };

it('holds no output tokens for embeddings and rerank', () => {
  const task = { kind: 'embedding', inputs: [], isTokens: false, format: 'float' } as const;
  expect(estimateCost([route], { ...asked, request: { task } })).toBe(37n);
  expect(estimateCost([route], { ...asked, request: {} })).toBe(537n);
});
