import { describe, expect, it } from 'vitest';
import { gatewayError } from '../../errors/gateway-error.js';
import { Histogram } from './figures.js';
import { Meters, outcomeOfStatus } from './meters.js';

const usage = { promptTokens: 10, completionTokens: 5, cachedTokens: 4, reasoningTokens: 1 };

describe('a histogram', () => {
  it('counts a value in the first bucket whose bound it does not exceed, and the rest without bound', () => {
    const histogram = new Histogram([0.1, 1]);
    for (const value of [0, 0.1, 0.100001, 1, 1.1, 400]) histogram.observe(value);
    expect(histogram.sample(['x'])).toEqual({ labels: ['x'], value: expect.closeTo(402.300001), counts: [2, 2, 2] });
  });
});

describe('what the request path counts', () => {
  it('has a figure of the sandbox for every outcome of a model request, also where it is zero', () => {
    const meters = new Meters();
    meters.modelRequest('POST /v1/messages', 'failed', false);
    meters.modelRequest('POST /v1/messages', 'ok', true);
    meters.request('GET /v1/models', 'failed');
    const { lodestone_requests_total, lodestone_sandbox_requests_total } = meters.figures();
    expect(lodestone_requests_total).toHaveLength(3);
    expect(lodestone_sandbox_requests_total).toEqual([
      { labels: ['POST /v1/messages', 'failed'], value: 0 },
      { labels: ['POST /v1/messages', 'ok'], value: 1 },
    ]);
  });

  it('has a label for each row of the error table that callers saw, and for the limit that refused', () => {
    const meters = new Meters();
    meters.error(gatewayError('ip_rate_limited', { limit: 1, seconds: 1 }));
    meters.error(gatewayError('key_rate_limited', { budget: 'tokens', limit: 1, seconds: 1 }));
    meters.error(gatewayError('key_rate_limited', { budget: 'requests', limit: 1, seconds: 1 }));
    meters.error(gatewayError('service_unavailable'));
    const { lodestone_errors_total, lodestone_limit_refusals_total } = meters.figures();
    expect(lodestone_errors_total).toEqual([
      { labels: ['ip_rate_limited', 'rate_limit_exceeded', '429'], value: 1 },
      { labels: ['key_rate_limited', 'rate_limit_exceeded', '429'], value: 2 },
      { labels: ['service_unavailable', 'service_unavailable', '503'], value: 1 },
    ]);
    expect(lodestone_limit_refusals_total?.map(({ labels, value }) => [...labels, value])).toEqual([
      ['ip_requests', 1],
      ['key_tokens', 1],
      ['key_requests', 1],
    ]);
  });

  it('adds up money in pico-dollars, so that a million small amounts lose nothing', () => {
    const meters = new Meters();
    const answer = { stream: false, end: 'complete', fallback: false };
    for (let i = 0; i < 1_000_000; i++) meters.countServed('a', answer, { usage, cost: { pico: 100_001n } });
    const figures = meters.figures();
    expect(figures.lodestone_cost_usd_total).toEqual([{ labels: ['a'], value: 0.100001 }]);
    expect(figures.lodestone_tokens_total).toContainEqual({ labels: ['a', 'prompt'], value: 10_000_000 });
    expect(figures.lodestone_served_total).toEqual([{ labels: ['a', 'false', 'complete'], value: 1_000_000 }]);
  });

  it('forgets the routes that left the catalogue, so that reloads do not add up to series without end', () => {
    const meters = new Meters();
    for (const id of ['kept', 'gone']) meters.attempted(id, 'served', 5, 7);
    meters.forget(new Set(['kept']));
    expect(meters.figures().lodestone_attempts_total).toEqual([{ labels: ['kept', 'served'], value: 1 }]);
  });

  it('calls 4xx refused and 5xx failed', () => {
    expect([200, 304, 404, 451, 500, 504].map(outcomeOfStatus)).toEqual([
      ...['ok', 'ok', 'refused', 'refused', 'failed', 'failed'],
    ]);
  });
});
