/**
 * Stage 5: the order in which candidates are tried, by the published score: a weighted sum of terms between 0 and 1, where 1 is the best of
 * the candidates. It depends on nothing but the catalogue's figures and what was observed, so equal inputs rank equally.
 */
import { type PriceMoment, priceKey, ratesAt } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { OwnHealth } from '../health/own-health.js';
import { healthKeyOf, healthOf, type RouteHealth } from '../health/route-health.js';
import type { Observed } from '../health/route-state.js';
import type { Preference } from '../policy/routing-policy.js';

interface RankPorts {
  health: Pick<RouteHealth, 'observed' | 'revision'>;
  own?: { readonly health: OwnHealth };
}

interface Order {
  revision: number;
  /** Whether one of them has a credential of its own, whose figures are kept apart. */
  hasOwn: boolean;
  routes: readonly Route[];
}

/** An order is valid until an observed figure or a price changes, so the usual request reuses the last one. */
const ordersByRoutes = new WeakMap<readonly Route[], Map<string, Order>>();
/** Two for each preference, times the prices that occur; more are not worth keeping. */
const ordersMax = 256;

export interface Ranking {
  readonly prefer: Preference;
  readonly stream: boolean;
  readonly moment: PriceMoment;
}

export function rank(ports: RankPorts, eligible: readonly Route[], ranking: Ranking): readonly Route[] {
  if (eligible.length < 2) return eligible;
  const { prefer, stream, moment } = ranking;
  let orders = ordersByRoutes.get(eligible);
  const prices = priceKey(eligible, moment);
  const kind = `${stream ? `${prefer} stream` : prefer}${prices === '' ? '' : ` ${prices}`}`;
  const known = orders?.get(kind);
  if (known && known.revision === revisionOf(ports, known.hasOwn)) return known.routes;
  const hasOwn = eligible.some(({ credential }) => credential !== undefined);
  const revision = revisionOf(ports, hasOwn);
  const routes = scores(ports, eligible, ranking).map(({ route }) => route);
  if (!orders || orders.size >= ordersMax) {
    orders = new Map();
    ordersByRoutes.set(eligible, orders);
  }
  orders.set(kind, { revision, hasOwn, routes });
  return routes;
}

/** Both only ever grow, so their sum changes with each of them. */
function revisionOf({ health, own }: RankPorts, hasOwn: boolean): number {
  return hasOwn ? health.revision + own!.health.states.revision : health.revision;
}

/** The same order, with its scores. */
export function scores(
  ports: RankPorts,
  eligible: readonly Route[],
  { prefer, stream, moment }: Ranking,
): readonly Scored[] {
  return scoreRoutes(eligible, prefer, moment, (route) => healthOf(ports, route).observed(healthKeyOf(route), stream));
}

export const terms = ['price', 'latency', 'failures', 'carbon', 'throughput'] as const;
type Term = (typeof terms)[number];

/** The weights of the published score (docs/guide/routing.md), by `prefer`; each row adds up to 1. */
export const weights: Record<Preference, Readonly<Record<Term, number>>> = {
  balanced: { price: 0.45, latency: 0.25, failures: 0.15, carbon: 0.15, throughput: 0 },
  price: { price: 0.85, latency: 0.05, failures: 0.07, carbon: 0.03, throughput: 0 },
  latency: { price: 0.1, latency: 0.8, failures: 0.07, carbon: 0.03, throughput: 0 },
  carbon: { price: 0.07, latency: 0.05, failures: 0.03, carbon: 0.85, throughput: 0 },
  throughput: { price: 0.05, latency: 0.05, failures: 0.07, carbon: 0.03, throughput: 0.8 },
};

/** Added to both sides of a comparison, so that differences too small to matter decide little and a zero divides nothing. */
const priceFloorUsd = 0.01;
const latencyFloorMs = 100;
/** A route that was never measured is taken to be fast: so it gets its chance to be measured. */
const unmeasuredMs = 100;
const carbonFloor = 10;

export interface Score {
  readonly total: number;
  /** null = the figure is not published. */
  readonly price: number | null;
  readonly latency: number;
  readonly failures: number;
  readonly carbon: number | null;
  /** Only where it counts; null = not measured yet. */
  readonly throughput?: number | null;
}

interface Scored {
  readonly route: Route;
  readonly score: Score;
}

/** The best first; a route without a published figure after all that have theirs, whatever is preferred. */
export function scoreRoutes(
  routes: readonly Route[],
  prefer: Preference,
  moment: PriceMoment,
  observedOf: (route: Route) => Observed,
): readonly Scored[] {
  const figures = routes.map((route) => ({
    ...observedOf(route),
    price: priceOf(route, moment),
    carbon: route.carbon,
  }));
  const best = bestOf(routes, figures);
  const all = routes.map((route, i) => ({ route, score: scoreOf(figures[i]!, best, weights[prefer]) }));
  return all.sort((a, b) => unknowns(a) - unknowns(b) || b.score.total - a.score.total);
}

/** A price is needed to be served at all, so its absence weighs most. The throughput is only missed where it is preferred. */
function unknowns({ route: { price, carbon }, score }: Scored): number {
  return (price === null ? 4 : 0) + (score.throughput === null ? 2 : 0) + (carbon === null ? 1 : 0);
}

/** What a route is scored by. */
interface Figures extends Observed {
  /** USD for a million tokens in and a million out; null where none is published. */
  readonly price: number | null;
  readonly carbon: number | null;
}

function priceOf(route: Route, moment: PriceMoment): number | null {
  const rates = ratesAt(route, moment);
  return rates && Number(rates.input + rates.output) / 1e6;
}

interface Best {
  price: number;
  latency: number;
  carbon: number;
  throughput: number;
}

/** Scores compare only routes that could serve: a provider without credentials changes no score. */
function bestOf(routes: readonly Route[], figures: readonly Figures[]): Best {
  const best: Best = { price: Infinity, latency: Infinity, carbon: Infinity, throughput: 0 };
  routes.forEach((route, i) => {
    if (!route.provider.configured) return;
    const { price, firstByteMs, carbon, tokensPerSecond } = figures[i]!;
    best.price = Math.min(best.price, price ?? Infinity);
    best.latency = Math.min(best.latency, firstByteMs ?? unmeasuredMs);
    best.carbon = Math.min(best.carbon, carbon ?? Infinity);
    best.throughput = Math.max(best.throughput, tokensPerSecond ?? 0);
  });
  return best;
}

function scoreOf(figures: Figures, best: Best, weight: Readonly<Record<Term, number>>): Score {
  const price = termOf(figures.price, best.price, priceFloorUsd);
  const carbon = termOf(figures.carbon, best.carbon, carbonFloor);
  const latency = termOf(figures.firstByteMs ?? unmeasuredMs, best.latency, latencyFloorMs) ?? 1;
  const failures = rounded(1 - figures.failureShare);
  const speed = figures.tokensPerSecond ?? null;
  const throughput = speed === null ? null : rounded(Math.min(1, best.throughput === 0 ? 1 : speed / best.throughput));
  const total =
    weight.price * (price ?? 0) +
    weight.latency * latency +
    weight.failures * failures +
    weight.carbon * (carbon ?? 0) +
    weight.throughput * (throughput ?? 0);
  return { total: rounded(total), price, latency, failures, carbon, ...(weight.throughput > 0 && { throughput }) };
}

function termOf(value: number | null, best: number, floor: number): number | null {
  return value === null ? null : rounded(Math.min(1, (best + floor) / (value + floor)));
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
