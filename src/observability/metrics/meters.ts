/**
 * Counts on the request path: plain numbers in memory, a few dozen nanoseconds each. Label values come from fixed lists and
 * the catalogue's route ids, never from keys or callers' text, and from a bounded number of accounts.
 */

import { usdNumber } from '../../base/money.js';
import { type Condition, errorTable } from '../../errors/error-table.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { ErrorRow } from '../../errors/row.js';
import type { TokenUsage, UsageOddity } from '../../wire/usage-types.js';
import { AccountTally, type Figures, Histogram, type Sample, Tally } from './figures.js';
import { answerBounds, type MetricName, overheadBounds } from './metric-table.js';

/** `broken`: a stream that began and did not complete. `refused`: 4xx. `failed`: 5xx. */
export type Outcome = 'ok' | 'broken' | 'refused' | 'failed' | 'client_closed';

export function outcomeOfStatus(status: number): Outcome {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
}

/** A request that reached no endpoint: an unknown path, or bytes that are not HTTP. */
export const unknownEndpoint = 'unknown';

export class Meters {
  runningChats = 0;
  openStreams = 0;
  private readonly requests = new Map<string, Tally>();
  private readonly sandboxRequests = new Map<string, Tally>();
  private readonly errors = new Tally();
  private readonly limits = new Tally();
  private readonly chats = new Map<string, Histogram>();
  private readonly whole = new AnswerTimes('false');
  private readonly streamed = new AnswerTimes('true');
  private readonly routes = new Map<string, RouteMeters>();
  /** Requests whose caller left before the first content. */
  private readonly left = new AccountTally();
  private bodyBytes = 0;
  private fallbacks = 0;

  request(endpoint: string, outcome: Outcome): void {
    tallyOf(this.requests, endpoint).add(outcome);
  }

  /** Every request for a model counts, also as zero: what an alert subtracts must exist. */
  modelRequest(endpoint: string, outcome: Outcome, isSandbox: boolean): void {
    this.request(endpoint, outcome);
    tallyOf(this.sandboxRequests, endpoint).add(outcome, isSandbox ? 1 : 0);
  }

  /** Counts an error that a client got. */
  error({ condition, values }: Pick<GatewayError, 'condition' | 'values'>): void {
    this.errors.add(condition);
    if (condition === 'ip_rate_limited') this.limits.add('ip_requests');
    if (condition === 'key_rate_limited') this.limits.add(`key_${(values as { budget: string }).budget}`);
  }

  body(bytes: number): void {
    this.bodyBytes += bytes;
  }

  /** Records the start of a 200: the time since the request's arrival, and the part of it spent in Lodestone. */
  answering(stream: boolean, firstByteMs: number, overheadMs: number): void {
    (stream ? this.streamed : this.whole).observe(firstByteMs, overheadMs);
  }

  chat(door: string, stream: boolean, outcome: Outcome, durationMs: number): void {
    const key = stream ? `${door} true ${outcome}` : `${door} false ${outcome}`;
    let durations = this.chats.get(key);
    if (!durations) {
      durations = new Histogram(answerBounds);
      this.chats.set(key, durations);
    }
    durations.observe(durationMs / 1000);
  }

  attempted(routeId: string, outcome: string, firstByteMs: number | null, durationMs: number): void {
    this.route(routeId).attempted(outcome, firstByteMs, durationMs);
  }

  /** Counts an answer of a route, whole or in part; null where nothing is billed. */
  countServed(
    routeId: string,
    answer: { stream: boolean; end: string; fallback: boolean },
    billed: { usage: TokenUsage; cost: { pico: bigint }; oddities?: readonly UsageOddity[] } | null,
  ): void {
    const route = this.route(routeId);
    route.countServed(answer.stream, answer.end);
    if (answer.fallback) this.fallbacks++;
    if (billed) route.billed(billed.usage, billed.cost.pico, billed.oddities);
  }

  /** Counts a request that a provider was asked for, and whose caller left before the first content. */
  countLeft(accountId: string): void {
    this.left.add(accountId);
  }

  /** Counts an answer of a route that retires within 60 days. */
  countRetiring(routeId: string, accountId: string): void {
    this.route(routeId).retiring.add(accountId);
  }

  /** Counts an answer in a conversation: whether the route of its last turn gave it, and what that read from its cache. */
  countSticky(routeId: string, hit: boolean, cachedTokens: number): void {
    this.route(routeId).countSticky(hit, cachedTokens);
  }

  /** Drops routes that left the catalogue, so that reloads do not add series without end. */
  forget(known: ReadonlySet<string>): void {
    for (const id of this.routes.keys()) if (!known.has(id)) this.routes.delete(id);
  }

  figures(): Figures {
    const figures: Partial<Record<MetricName, Sample[]>> = {};
    const add = (name: MetricName, samples: readonly Sample[]): void => {
      const all = figures[name] ?? [];
      all.push(...samples);
      figures[name] = all;
    };
    const one = (value: number): Sample[] => [{ labels: [], value }];
    add(
      'lodestone_left_before_content_total',
      this.left.samples((account) => [account]),
    );
    for (const [endpoint, tally] of this.requests) {
      add(
        'lodestone_requests_total',
        tally.samples((outcome) => [endpoint, outcome]),
      );
    }
    for (const [endpoint, tally] of this.sandboxRequests) {
      add(
        'lodestone_sandbox_requests_total',
        tally.samples((outcome) => [endpoint, outcome]),
      );
    }
    add('lodestone_errors_total', this.errors.samples(errorLabels));
    add('lodestone_limit_refusals_total', this.limits.samples());
    add('lodestone_request_body_bytes_total', one(this.bodyBytes));
    for (const [key, durations] of this.chats)
      add('lodestone_chat_duration_seconds', [durations.sample(key.split(' '))]);
    for (const times of [this.whole, this.streamed]) times.addTo(add);
    add('lodestone_chat_fallbacks_total', one(this.fallbacks));
    add('lodestone_running_chats', one(this.runningChats));
    add('lodestone_open_streams', one(this.openStreams));
    for (const route of this.routes.values()) route.addTo(add);
    return figures;
  }

  private route(id: string): RouteMeters {
    let route = this.routes.get(id);
    if (!route) {
      route = new RouteMeters(id);
      this.routes.set(id, route);
    }
    return route;
  }
}

function tallyOf(tallies: Map<string, Tally>, name: string): Tally {
  let tally = tallies.get(name);
  if (!tally) {
    tally = new Tally();
    tallies.set(name, tally);
  }
  return tally;
}

class AnswerTimes {
  private readonly firstByte = new Histogram(answerBounds);
  private readonly overhead = new Histogram(overheadBounds);

  constructor(private readonly stream: 'true' | 'false') {}

  observe(firstByteMs: number, overheadMs: number): void {
    this.firstByte.observe(firstByteMs / 1000);
    this.overhead.observe(overheadMs / 1000);
  }

  addTo(add: (name: MetricName, samples: readonly Sample[]) => void): void {
    add('lodestone_chat_first_byte_seconds', [this.firstByte.sample([this.stream])]);
    add('lodestone_chat_overhead_seconds', [this.overhead.sample([this.stream])]);
  }
}

function errorLabels(condition: string): readonly string[] {
  const { code = '', status }: ErrorRow<never> = errorTable[condition as Condition];
  return [condition, code, String(status)];
}

/** The counts of one route. */
class RouteMeters {
  private readonly attempts = new Tally();
  private readonly whole = new Tally();
  private readonly streamed = new Tally();
  private readonly firstByte = new Histogram(answerBounds);
  private readonly duration = new Histogram(answerBounds);
  private readonly tokens = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  private readonly oddities = new Tally();
  private costPico = 0n;
  private readonly stickyResults = new Tally();
  /** Read from a cache because the conversation hit with the route. */
  private stickyCachedTokens = 0;
  /** Answers that it gave shortly before its retirement. */
  readonly retiring = new AccountTally();

  constructor(private readonly id: string) {}

  attempted(outcome: string, firstByteMs: number | null, durationMs: number): void {
    this.attempts.add(outcome);
    if (firstByteMs !== null) this.firstByte.observe(firstByteMs / 1000);
    this.duration.observe(durationMs / 1000);
  }

  countServed(stream: boolean, end: string): void {
    (stream ? this.streamed : this.whole).add(end);
  }

  billed(usage: TokenUsage, costPico: bigint, oddities: readonly UsageOddity[] = []): void {
    const { tokens } = this;
    for (const oddity of oddities) this.oddities.add(oddity);
    tokens.prompt += usage.promptTokens;
    tokens.completion += usage.completionTokens;
    tokens.cached += usage.cachedTokens;
    tokens.reasoning += usage.reasoningTokens;
    this.costPico += costPico;
  }

  countSticky(hit: boolean, cachedTokens: number): void {
    this.stickyResults.add(hit ? 'hit' : 'miss');
    if (hit) this.stickyCachedTokens += cachedTokens;
  }

  addTo(add: (name: MetricName, samples: readonly Sample[]) => void): void {
    const { id } = this;
    add(
      'lodestone_attempts_total',
      this.attempts.samples((outcome) => [id, outcome]),
    );
    add(
      'lodestone_served_total',
      this.whole.samples((end) => [id, 'false', end]),
    );
    add(
      'lodestone_served_total',
      this.streamed.samples((end) => [id, 'true', end]),
    );
    add('lodestone_attempt_first_byte_seconds', [this.firstByte.sample([id])]);
    add('lodestone_attempt_duration_seconds', [this.duration.sample([id])]);
    add(
      'lodestone_tokens_total',
      Object.entries(this.tokens).map(([kind, value]) => ({ labels: [id, kind], value })),
    );
    add(
      'lodestone_usage_oddities_total',
      this.oddities.samples((oddity) => [id, oddity]),
    );
    add(
      'lodestone_sticky_total',
      this.stickyResults.samples((result) => [id, result]),
    );
    add('lodestone_sticky_cached_tokens_total', [{ labels: [id], value: this.stickyCachedTokens }]);
    add(
      'lodestone_retiring_served_total',
      this.retiring.samples((account) => [id, account]),
    );
    add('lodestone_cost_usd_total', [{ labels: [id], value: usdNumber(this.costPico) }]);
  }
}
