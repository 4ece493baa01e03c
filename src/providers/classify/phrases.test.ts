import { describe, expect, it } from 'vitest';
import * as states from '../../../tests/faults/classification/states.js';
import { failureOf } from '../../../tests/support/call-failures.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { ResponseHead } from '../transport/response.js';
import { effectOf } from './failure.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;

type Outcome = 'rejected' | 'held' | 'counted';

function outcomeOf(status: number, message: string): Outcome {
  const body = Buffer.from(JSON.stringify({ error: { message } }));
  const { meaning } = failureOf({ kind: 'refused', status, head: new ResponseHead(status, []), body }, route);
  const effect = effectOf(meaning);
  return effect === 'none' ? 'rejected' : effect;
}

describe('a provider that nobody knows is understood by its words', () => {
  it.each<[Outcome, number, string]>([
    ['counted', 400, 'Your account has insufficient funds for this call'],
    ['counted', 400, 'The model is warming up, retry in a few seconds'],
    ['counted', 400, 'The deployment is still being created'],
    ['counted', 400, 'Invalid token'],
    ['counted', 400, 'Your subscription does not include this model'],
    ['counted', 400, 'The server is at full capacity'],
    ['counted', 400, 'Request limit reached'],
    ['counted', 400, 'All workers are busy'],
    ['counted', 422, 'Model gpt-x not available'],
    ['counted', 422, 'Too many concurrent requests'],
    ['counted', 409, 'Too many requests in flight'],
    ['counted', 500, 'json: unsupported value: NaN'],
    ['counted', 500, 'CUDA error: operation not supported'],
    ['counted', 500, 'The request took too long'],
    ['counted', 429, 'Concurrency limit exceeded. See your daily usage at the console.'],
    ['counted', 429, 'The monthly spending limit is reached. It resets on the first day of next month.'],
    ['counted', 402, 'Your trial of 30 days has ended'],
    ['counted', 429, 'This prompt is not supported at such a rate'],
    ['counted', 404, 'Model x was not found. Check your permissions.'],
    ['held', 429, 'Daily limit of 100 requests reached. Try again tomorrow.'],
    ['held', 429, 'quota exceeded (1000 req/day)'],
    ['held', 500, 'Token limit (500,000 per day) exceeded. Used: 508,311 tokens.'],
    ['held', 400, 'You have exceeded your tokens per day limit'],
    ['held', 429, 'The cap is reached; it renews daily'],
    ['rejected', 500, 'Prompt is too long'],
    ['rejected', 500, 'Invalid value for temperature: must be between 0 and 1'],
    ['rejected', 503, 'Context length exceeded for this model'],
    ['rejected', 403, 'Your input was flagged by our content filter'],
    ['rejected', 404, 'No endpoints found that can handle the requested parameters'],
    ['rejected', 400, 'Invalid token id 50257 in the bias'],
    ['rejected', 400, 'The image could not be loaded'],
    ['rejected', 400, 'Duplicate tool name: rate limit'],
    ['rejected', 400, 'the thinking budget exceeded the tokens to generate'],
    ['rejected', 400, 'Streaming is not supported for this model'],
    ['rejected', 400, 'The schema is not available for this model'],
    ['rejected', 400, 'Messages token limit exceeded: 40000 > 32768'],
    ['rejected', 400, 'Too many images: the maximum is 10 per request'],
    ['rejected', 422, 'stop supports up to 4 sequences, 5 were given'],
  ])('%s: %i %s', (outcome, status, message) => expect(outcomeOf(status, message)).toBe(outcome));
});

describe('a server that rests, and an option that is switched off', () => {
  it.each(states.resting)('counted under a 400: %s', (text) => expect(outcomeOf(400, text)).toBe('counted'));
  it.each(states.switchedOff)('rejected under a 503: %s', (text) => {
    for (const status of [500, 503]) expect(outcomeOf(status, text)).toBe('rejected');
  });
  it.each(states.serverOff)('counted under a 503: %s', (text) => expect(outcomeOf(503, text)).toBe('counted'));
  it.each(states.plainRejections)('rejected under a 400: %s', (text) => expect(outcomeOf(400, text)).toBe('rejected'));
});
