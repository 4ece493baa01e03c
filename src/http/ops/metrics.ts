/**
 * What `GET /metrics` tells: what the request path has counted, and what its parts say of themselves at the scrape.
 * Where several processes serve, one scrape covers all of them.
 */
import { type Figures, mergeFigures, type Sample } from '../../observability/metrics/figures.js';
import type { HttpDeps } from '../deps.js';
import { figuresText } from './prometheus-text.js';

export type MetricsDeps = Pick<
  HttpDeps,
  | 'catalogue'
  | 'clock'
  | 'health'
  | 'holds'
  | 'journal'
  | 'meters'
  | 'processMeters'
  | 'sharedState'
  | 'siblings'
  | 'upstreamConnections'
>;

const breakerNumbers = { closed: 0, half_open: 1, open: 2 } as const;

/** The figures of all processes; those of this one alone where there are no others. */
export async function metricsText(deps: MetricsDeps): Promise<string> {
  const own = ownFigures(deps);
  const others = (await deps.siblings?.(own)) ?? [];
  return figuresText(others.length === 0 ? own : mergeFigures([own, ...others]));
}

/** Of this process, fit to be sent to another. */
export function ownFigures(deps: MetricsDeps): Figures {
  return {
    ...deps.meters.figures(),
    ...routeFigures(deps),
    ...partFigures(deps),
    ...deps.processMeters?.figures(),
  };
}

/** Figures that a route does not have yet are left out, not written as zero. */
function routeFigures({ catalogue, health, holds }: MetricsDeps): Figures {
  const breakers: Sample[] = [];
  const held: Sample[] = [];
  const available: Sample[] = [];
  const firstBytes: Sample[] = [];
  const errorRatios: Sample[] = [];
  for (const { id, model, price, provider } of catalogue.current?.routes.values() ?? []) {
    const labels = [id, model.canonicalId];
    const { breaker, latency_ms, error_rate } = health.view(id);
    const isHeld = holds.isHeld(id);
    breakers.push({ labels, value: breakerNumbers[breaker] });
    held.push({ labels, value: isHeld ? 1 : 0 });
    if (price && provider.configured) available.push({ labels, value: isHeld || breaker === 'open' ? 0 : 1 });
    if (latency_ms !== null) firstBytes.push({ labels: [id], value: latency_ms / 1000 });
    if (error_rate !== null) errorRatios.push({ labels: [id], value: error_rate });
  }
  return {
    lodestone_route_breaker_state: breakers,
    lodestone_route_held: held,
    lodestone_route_available: available,
    lodestone_route_recent_first_byte_seconds: firstBytes,
    lodestone_route_recent_error_ratio: errorRatios,
  };
}

function partFigures({ catalogue, clock, journal, sharedState, upstreamConnections }: MetricsDeps): Figures {
  const waiting = journal.figures?.();
  const connections = upstreamConnections?.();
  return {
    ...(waiting && {
      lodestone_journal_records: one(waiting.depth),
      lodestone_journal_oldest_seconds: one(ageSeconds(clock.now(), waiting.oldestAt)),
      lodestone_journal_settled_total: one(waiting.settled),
      lodestone_journal_set_aside_total: one(waiting.setAside),
    }),
    ...(sharedState && { lodestone_redis_up: one(sharedState.up ? 1 : 0) }),
    ...(sharedState?.fallbacks !== undefined && { lodestone_redis_fallbacks_total: one(sharedState.fallbacks) }),
    ...(connections && {
      lodestone_upstream_connections: [
        { labels: ['busy'], value: connections.open - connections.idle },
        { labels: ['idle'], value: connections.idle },
      ],
    }),
    ...(catalogue.current && {
      lodestone_catalogue_loaded_timestamp_seconds: one(catalogue.current.loadedAt / 1000),
    }),
  };
}

function ageSeconds(nowMs: number, thenMs: number | null): number {
  return thenMs === null ? 0 : Math.max(0, nowMs - thenMs) / 1000;
}

function one(value: number): Sample[] {
  return [{ labels: [], value }];
}
