/** Takes retired routes out of a snapshot, and tells which routes retire soon. */
import { dayMs } from './dates.js';
import type { Retirement } from './life.js';
import type { Model, Route, Snapshot } from './route.js';

/** From so many days before its retirement on, the use of a route is reported. */
export const noticeDays = 60;

/** The retirement of a route that is less than 60 days away; null where there is none. */
export function retirementSoon({ life }: Route, nowMs: number): Retirement | null {
  if (life?.retires === undefined) return null;
  return nowMs >= life.retires.atMs - noticeDays * dayMs ? life.retires : null;
}

/** When the next route of a snapshot retires, in epoch milliseconds; Infinity where none does. */
export function nextRetirementMs({ routes }: Snapshot): number {
  let nextMs = Number.POSITIVE_INFINITY;
  for (const { life } of routes.values()) if (life?.retires) nextMs = Math.min(nextMs, life.retires.atMs);
  return nextMs;
}

/** The snapshot without the routes that are retired at a moment. They stay in `retired`, so that errors and the digest can name them. */
export function withoutRetired(snapshot: Snapshot, nowMs: number): Snapshot {
  if (nowMs < nextRetirementMs(snapshot)) return snapshot;
  const models = new Map<string, Model>();
  const routes = new Map<string, Route>();
  const retired = new Map(snapshot.retired);
  for (const [canonicalId, model] of snapshot.models) {
    const isRetired = ({ life }: Route) => life?.retires !== undefined && nowMs >= life.retires.atMs;
    for (const route of model.routes) if (isRetired(route)) retired.set(route.id, route);
    const left = model.routes.some(isRetired) ? modelOf(model, (route) => !isRetired(route)) : model;
    models.set(canonicalId, left);
    for (const route of left.routes) routes.set(route.id, route);
  }
  return { ...snapshot, models, routes, retired };
}

/** A route names its model, so the routes that are left are made anew. */
function modelOf(model: Model, stays: (route: Route) => boolean): Model {
  const routes: Route[] = [];
  const left: Model = { ...model, routes };
  routes.push(...model.routes.filter(stays).map((route) => ({ ...route, model: left })));
  return left;
}

/** The retirement that ended a model: that of its last route. Undefined while a route is left, or where none was retired. */
export function modelRetirement({ models, retired }: Snapshot, canonicalId: string): Retirement | undefined {
  if (retired === undefined || models.get(canonicalId)?.routes.length !== 0) return undefined;
  const ends = [...retired.values()].flatMap(({ model, life }) =>
    model.canonicalId === canonicalId && life?.retires ? [life.retires] : [],
  );
  return ends.sort((a, b) => b.atMs - a.atMs)[0];
}

/** A route and its end, for notices and operators. */
interface RouteEnd {
  readonly route: string;
  readonly model: string;
  readonly date: string;
  readonly replacedBy: string | null;
}

const endOf = ({ id, model }: Route, { date, replacedBy }: Retirement): RouteEnd => ({
  ...{ route: id, model: model.canonicalId, date, replacedBy },
});

/** The routes that retire within 60 days. */
export function retiringRoutes(snapshot: Snapshot | null, nowMs: number): RouteEnd[] {
  return [...(snapshot?.routes.values() ?? [])].flatMap((route) => {
    const soon = retirementSoon(route, nowMs);
    return soon ? [endOf(route, soon)] : [];
  });
}

/** The routes of the catalogue that are retired. */
export function retiredRoutes(snapshot: Snapshot | null): RouteEnd[] {
  return [...(snapshot?.retired?.values() ?? [])].flatMap((route) =>
    route.life?.retires ? [endOf(route, route.life.retires)] : [],
  );
}
