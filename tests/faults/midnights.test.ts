/**
 * Quota holds over simulated midnights, through the gateway's HTTP surface: whatever the clock and the time zone do, a route
 * is held exactly on the UTC days on which its quota was spent.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Json, Reply } from '../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { ManualClock } from '../support/manual-clock.js';
import { SeededRandom } from '../support/seeded-random.js';
import { ask, scaled } from './fixture.js';
import { KillableProvider } from './killable-provider.js';

const steps = scaled(10, 400);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** In the order of their prices, which is that of the walk. The last has a quota of its own. */
const providers = ['acme', 'beta', 'gamma'] as const;
type Provider = (typeof providers)[number];
const prices = { acme: 0.01, beta: 1, gamma: 100 };
const ownQuota = 100;
const tokensOfAnswer = 12;

const auto = 'auto/meta/llama-3.3-70b';
const idOf = (provider: Provider): string => `${provider}/meta/llama-3.3-70b/defra`;

/** Each with a day on which its clocks are changed, where it does that. */
const zones: [string, string][] = [
  ['Asia/Shanghai', '2026-02-28'],
  ['America/New_York', '2026-03-08'],
  ['Asia/Kolkata', '2026-06-30'],
  ['Pacific/Apia', '2026-12-31'],
  ['Europe/Berlin', '2027-03-28'],
];
const zone = process.env.TZ;

const clock = new ManualClock();
const upstreamSays = { spent: new Set<string>(), calls: [] as string[] };
let upstream: KillableProvider;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await KillableProvider.start();
  upstream.behave = (call) => {
    const { model } = call.request;
    upstreamSays.calls.push(model);
    if (upstreamSays.spent.has(model)) {
      call.json(429, { error: { message: 'Rate limit reached on tokens per day (TPD)' } }, { 'retry-after': '7' });
    } else call.answer();
  };
  const routes = Object.fromEntries(
    providers.map((provider) => {
      const price = { input: prices[provider], output: prices[provider] };
      return [
        provider,
        { upstream_model: provider, price, ...(provider === 'gamma' && { daily_token_quota: ownQuota }) },
      ];
    }),
  );
  const addresses = Object.fromEntries(providers.map((provider) => [provider, upstream.url]));
  gateway = await startGateway({ clock, catalogue: catalogueOf(addresses, { routes }) });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.kill();
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

/** What the calendar says, told by another means than the product's arithmetic. */
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const nextMidnight = (ms: number): number => Date.parse(`${dateOf(ms + dayMs)}T00:00:00Z`);

interface DayBook {
  held: Map<Provider, 'upstream' | 'daily_token_quota'>;
  tokens: number;
  quotaLifted: boolean;
}

/** One day after the other, kept apart by their dates: all that there is to know. */
class Oracle {
  private readonly days = new Map<string, DayBook>();

  get today(): DayBook {
    const date = dateOf(clock.now());
    const day = this.days.get(date) ?? { held: new Map(), tokens: 0, quotaLifted: false };
    this.days.set(date, day);
    return day;
  }

  get open(): Provider[] {
    return providers.filter((provider) => !this.today.held.has(provider));
  }

  answered(provider: Provider): void {
    if (provider !== 'gamma') return;
    const { today } = this;
    today.tokens += tokensOfAnswer;
    if (today.tokens >= ownQuota && !today.quotaLifted) today.held.set(provider, 'daily_token_quota');
  }

  lifted(provider: Provider): boolean {
    const { today } = this;
    const reason = today.held.get(provider);
    if (reason === 'daily_token_quota') today.quotaLifted = true;
    return today.held.delete(provider);
  }
}

/** Status, code, `Retry-After`, who served, and who was called. */
async function chat(model: string): Promise<unknown[]> {
  upstreamSays.calls = [];
  const { status, json, headers } = await gateway.chat(ask({ model }));
  return [
    status,
    json.error?.code ?? json.router_metadata?.provider,
    headers['retry-after'] ?? null,
    upstreamSays.calls,
  ];
}

function quotaExhausted(calls: readonly Provider[]): unknown[] {
  const seconds = Math.ceil((nextMidnight(clock.now()) - clock.now()) / 1000);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(86_400);
  return [503, 'provider_quota_exhausted', String(seconds), calls];
}

class Rehearsal {
  /** Pins that found their route held, and midnights that the clock went over, either way. */
  readonly seen = { held: 0, midnights: 0 };
  private readonly oracle = new Oracle();

  constructor(
    private readonly random: SeededRandom,
    private readonly middleMs: number,
  ) {}

  /** Stays within a week: a hold is remembered for longer than any clock is set back by. */
  moveClock(): void {
    const { random, middleMs } = this;
    const now = clock.now();
    const to = random.pick([
      nextMidnight(now) + random.pick([-1, 0, 1, 2000]),
      nextMidnight(now) - dayMs + random.pick([-1, 0, 1, -2000]),
      now + random.below(30 * hourMs) - 15 * hourMs,
      now + random.pick([-1, 1]) * random.below(3) * hourMs,
      middleMs + random.below(6 * dayMs) - 3 * dayMs,
    ]);
    const bounded = Math.min(Math.max(to, middleMs - 3 * dayMs), middleMs + 3 * dayMs);
    if (dateOf(bounded) !== dateOf(now)) this.seen.midnights++;
    // Time may pass, or the wall clock be set.
    if (bounded > now && random.chance(0.5)) clock.advance(bounded - now);
    else clock.setWall(bounded);
  }

  async act(): Promise<void> {
    const provider = this.random.pick(providers);
    const what = this.random.below(5);
    if (what === 0) await this.spend(provider);
    else if (what === 1) await this.spendAll();
    else if (what === 2) await this.lift(provider);
  }

  private async spend(provider: Provider): Promise<void> {
    upstreamSays.spent.add(provider);
    const wasHeld = this.oracle.today.held.has(provider);
    expect(await chat(idOf(provider))).toEqual(quotaExhausted(wasHeld ? [] : [provider]));
    if (!wasHeld) this.oracle.today.held.set(provider, 'upstream');
    upstreamSays.spent.clear();
  }

  /** A walk that finds every quota spent, one after the other. */
  private async spendAll(): Promise<void> {
    for (const provider of providers) upstreamSays.spent.add(provider);
    const { open, today } = this.oracle;
    expect(await chat(auto)).toEqual(open.length > 0 ? quotaExhausted(open) : [503, 'model_unavailable', null, []]);
    for (const provider of open) today.held.set(provider, 'upstream');
    upstreamSays.spent.clear();
  }

  private async lift(provider: Provider): Promise<void> {
    const { status } = await gateway.admin('DELETE', `/routes/${idOf(provider)}/hold`);
    expect(status).toBe(this.oracle.lifted(provider) ? 204 : 404);
  }

  async check(): Promise<void> {
    const { oracle } = this;
    await this.checkShown();
    const [next] = oracle.open;
    expect(await chat(auto)).toEqual(next ? [200, next, null, [next]] : [503, 'model_unavailable', null, []]);
    if (next) oracle.answered(next);
    for (const provider of providers) {
      const held = oracle.today.held.has(provider);
      expect(await chat(idOf(provider))).toEqual(held ? quotaExhausted([]) : [200, provider, null, [provider]]);
      if (held) this.seen.held++;
      else oracle.answered(provider);
    }
    await this.checkShown();
  }

  private async checkShown(): Promise<void> {
    const { open, today } = this.oracle;
    const listed = [...open.map(idOf), ...(open.length > 0 ? [auto] : [])];
    expect(ids(await gateway.call('GET', '/v1/models'))).toEqual(listed.sort());
    const until = new Date(nextMidnight(clock.now())).toISOString();
    const { json } = await gateway.admin('GET', '/routes');
    for (const { provider, hold } of json.data as { provider: Provider; hold: Json | null }[]) {
      const reason = today.held.get(provider);
      expect(hold).toEqual(reason ? { until, reason } : null);
    }
  }
}

const ids = ({ json }: Reply): string[] => json.data.map(({ id }: Json) => id).sort();

describe.each(zones)('in the time zone %s, around %s', (name, date) => {
  it(`${steps} steps of the clock, holds and lifts: pins, Retry-After, GET /v1/models and auto/ follow the UTC day`, async () => {
    process.env.TZ = name;
    const middleMs = Date.parse(`${date}T12:00:00Z`);
    clock.setWall(middleMs);
    expect(new Date(middleMs).getTimezoneOffset(), 'the zone is in force').not.toBe(0);
    const seed = Number(date.replaceAll('-', ''));
    const rehearsal = new Rehearsal(new SeededRandom(seed), middleMs);
    for (let step = 0; step < steps; step++) {
      try {
        await rehearsal.act();
        await rehearsal.check();
      } catch (error) {
        const where = `seed ${seed}, step ${step}, ${new Date(clock.now()).toISOString()}`;
        if (error instanceof Error) error.message = `${where}: ${error.message}`;
        throw error;
      }
      rehearsal.moveClock();
    }
    expect(Math.min(rehearsal.seen.held, rehearsal.seen.midnights)).toBeGreaterThan(steps / 3);
  }, 300_000);
});
