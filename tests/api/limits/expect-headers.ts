/** Checks the six `x-ratelimit-*` headers of an answer against exact figures. */
import { expect } from 'vitest';
import { ask } from '../harness.js';

type Headers = Record<string, string | string[] | undefined>;

interface BudgetFigures {
  limit: number;
  remaining: number;
  reset: string;
}

export interface Figures {
  requests: BudgetFigures;
  tokens: BudgetFigures;
}

export function expectLimits(headers: Headers, { requests, tokens }: Figures): void {
  expect(limitHeaders(headers)).toEqual({
    'x-ratelimit-limit-requests': String(requests.limit),
    'x-ratelimit-limit-tokens': String(tokens.limit),
    'x-ratelimit-remaining-requests': String(requests.remaining),
    'x-ratelimit-remaining-tokens': String(tokens.remaining),
    'x-ratelimit-reset-requests': requests.reset,
    'x-ratelimit-reset-tokens': tokens.reset,
  });
}

export function expectNoLimits(headers: Headers): void {
  expect(limitHeaders(headers)).toEqual({});
}

function limitHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-ratelimit-')));
}

export const remainingTokens = (headers: Headers): number => Number(headers['x-ratelimit-remaining-tokens']);
export const remainingRequests = (headers: Headers): number => Number(headers['x-ratelimit-remaining-requests']);

/** What is held for a prompt until its usage is known: a token for four bytes of the request's text (decision 0010). */
export function estimateOf(more: Record<string, unknown> = {}): number {
  const { model: _, stream: __, ...members } = ask(more);
  return Math.ceil((Buffer.byteLength(JSON.stringify(members)) - 2) / 4);
}
