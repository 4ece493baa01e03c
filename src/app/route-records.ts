/** Opens the parts that watch the health of routes: breakers, the history that the status page shows, and what it shows of it. */
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { QuotaHolds } from '../health/quota-holds.js';
import { RouteDays } from '../health/route-days.js';
import { RouteHealth } from '../health/route-health.js';
import { RouteHistory } from '../health/route-history.js';
import { RouteStatus } from '../health/route-status.js';
import type { Store } from '../storage/store.js';
import { CatalogueRecorder } from './catalogue-recorder.js';
import type { OpenParts } from './open-parts.js';

/** A probe that never reports back is given up this long after its last time limit. */
const probeGraceMs = 5_000;

interface RecordDeps {
  config: Config;
  store: Store;
  clock: Clock;
  logger: Logger;
  holds: QuotaHolds;
}

export function breakerOf({ breaker, timeouts }: Config) {
  return { ...breaker, probeMaxMs: timeouts.overallMs + probeGraceMs };
}

export function openRouteRecords({ config, store, clock, logger, holds }: RecordDeps, parts: OpenParts) {
  const health = new RouteHealth(clock, breakerOf(config), (routeId) => routeHistory.breakerOpened(routeId));
  const routeHistory = parts.add(
    new RouteHistory({ store: store.routeHistory, clock, logger, health, holds }),
    (part) => part.close(),
  );
  const routeStatus = new RouteStatus({ store: store.routeHistory, clock, threshold: config.status });
  const routeDays = new RouteDays({ store: store.routeHistory, clock, threshold: config.status });
  const recorder = parts.add(new CatalogueRecorder({ log: store.catalogueLog, clock, logger }), (part) => part.close());
  return { health, routeHistory, routeStatus, routeDays, recorder };
}
