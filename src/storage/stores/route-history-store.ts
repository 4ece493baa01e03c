/** Stores failed attempts and incidents of routes, and sums what routes did over the windows of the status page. */
import type { QueryConfig } from 'pg';
import type { Database } from '../database.js';
import { percentileOf, percentilesOf } from '../records/histogram.js';
import { type RouteDay, type RouteHistoryStore, type RouteWindow, type WindowName, windowNames } from '../store.js';

const hourMs = 3_600_000;
const dayHours = 24;
const windowHours: Record<WindowName, number> = { '24h': 24, '7d': 7 * 24, '90d': 90 * 24 };

/** In the order of the primary key, so that two writers cannot deadlock. */
const addFailures = `
insert into lodestone.route_failures as f (route, account_id, hours, from_hour, failed)
select route, account_id, h.hours, from_hour / h.hours * h.hours, sum(failed)
from json_to_recordset($1::json) as c(route text, account_id text, from_hour integer, failed bigint)
cross join (values (1::smallint), (24::smallint)) as h(hours) group by 1, 2, 3, 4 order by 1, 2, 3, 4
on conflict (route, account_id, hours, from_hour) do update set failed = f.failed + excluded.failed`;

const putIncidents = `
insert into lodestone.route_incidents (id, kind, route, from_ms, seen_ms, to_ms)
select id, kind, route, from_ms, seen_ms, to_ms
from json_to_recordset($1::json) as c(id text, kind text, route text, from_ms bigint, seen_ms bigint, to_ms bigint) order by id
on conflict (id) do update set seen_ms = excluded.seen_ms, to_ms = excluded.to_ms`;

/**
 * The rows of each window: whole hours up to the first midnight, and whole days from there, because days hold what hours do, in fewer rows.
 * $1, $2 and $4 are the first hours of the windows; $3 and $5 are the first midnights of the longer two.
 */
const spans: readonly { name: WindowName; hours: number; within: string }[] = [
  { name: '24h', hours: 1, within: 'from_hour >= $1::integer' },
  { name: '7d', hours: 1, within: 'from_hour >= $2::integer and from_hour < $3::integer' },
  { name: '7d', hours: 24, within: 'from_hour >= $3::integer' },
  { name: '90d', hours: 1, within: 'from_hour >= $4::integer and from_hour < $5::integer' },
  { name: '90d', hours: 24, within: 'from_hour >= $5::integer' },
];

const ofSpans = (select: (name: WindowName, where: string) => string) =>
  spans.map(({ name, hours, within }) => select(name, `hours = ${hours} and ${within}`)).join(' union all ');

/**
 * Series are summed first, because there are few of them. Each span is a part of its own, so that only its rows are read. What own
 * credentials of customers have served is taken off, and an account that has nothing else on a route is not counted.
 */
const windows = `
with summed as (${ofSpans(
  (name, where) =>
    `select '${name}' as name, series, sum(requests) as requests, sum(first_byte_histogram) as first_byte, sum(speed_histogram) as speed
     from lodestone.usage_rollups where ${where} group by series`,
)}), parts as (
  select name, s.served_model as route, s.account_id, requests as served,
    case when s.stream_end in ('cut', 'stalled') then requests else 0 end as broken, 0::bigint as failed, first_byte, speed
  from summed join lodestone.usage_series s on s.id = summed.series
  where s.served_model is not null
  union all ${ofSpans(
    (name, where) =>
      `select '${name}', route, account_id, 0, 0, failed, 0, 0 from lodestone.route_failures where ${where}`,
  )} union all ${ofSpans(
    (name, where) =>
      `select '${name}', route, account_id, -served, -broken, 0, -first_byte_histogram, -speed_histogram
       from lodestone.own_served where ${where}`,
  )}
), accounts as (
  select name, route, account_id, sum(served) as served, sum(broken) as broken, sum(failed) as failed,
    sum(first_byte) as first_byte, sum(speed) as speed
  from parts group by name, route, account_id having sum(served) + sum(failed) > 0
)
select name as window, route as "routeId", sum(served)::bigint as served, sum(broken)::bigint as broken, sum(failed)::bigint as failed,
  count(*) as accounts, sum(first_byte)::text as first_byte, sum(speed)::text as speed
from accounts group by name, route`;

/** $1 is the first hour. Days hold what their hours do. */
const days = `
with parts as (
  select r.from_hour, s.served_model as route, s.account_id, r.requests as served, 0::bigint as failed
  from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
  where r.hours = 24 and r.from_hour >= $1::integer and s.served_model is not null
  union all select from_hour, route, account_id, 0, failed from lodestone.route_failures where hours = 24 and from_hour >= $1::integer
  union all select from_hour, route, account_id, -served, 0 from lodestone.own_served where hours = 24 and from_hour >= $1::integer
), accounts as (
  select from_hour, route, account_id, sum(served) as served, sum(failed) as failed
  from parts group by 1, 2, 3 having sum(served) + sum(failed) > 0
)
select from_hour / 24 as day, route as "routeId", sum(served)::bigint as served, sum(failed)::bigint as failed, count(*) as accounts
from accounts group by 1, 2`;

/** It reads the rollups of all accounts. Callers get the last figures meanwhile. */
const windowsMs = 30_000;

interface WindowRow extends Omit<RouteWindow, 'firstByteP50Ms' | 'firstByteP95Ms' | 'tokensPerSecondP50'> {
  first_byte: string;
  speed: string;
}

/** `history` has its own connections, so that a long sum never delays a settlement. */
export function routeHistoryStore(database: Database, history: Database): RouteHistoryStore {
  const read = async <Row extends object>(query: QueryConfig): Promise<Row[]> =>
    (await history.look((_db, client, limit) => client.query<Row>({ ...query, ...limit }), windowsMs)).rows;
  return {
    async addFailures(counts) {
      const lines = counts.map(({ routeId, accountId, fromHour, failed }) => ({
        ...{ route: routeId, account_id: accountId, from_hour: fromHour, failed },
      }));
      await database.statement('route-failures', addFailures, [JSON.stringify(lines)]);
    },

    async putIncidents(rows) {
      const lines = rows.map(({ id, kind, routeId, fromMs, seenMs, toMs }) => ({
        ...{ id, kind, route: routeId, from_ms: fromMs, seen_ms: seenMs, to_ms: toMs },
      }));
      await database.statement('route-incidents-put', putIncidents, [JSON.stringify(lines)]);
    },

    async forgetIncidents(beforeMs) {
      const text = 'delete from lodestone.route_incidents where seen_ms < $1';
      await database.statement('route-incidents-forget', text, [beforeMs]);
    },

    incidents(sinceMs) {
      const text = `select id, kind, route as "routeId", from_ms as "fromMs", seen_ms as "seenMs", to_ms as "toMs"
        from lodestone.route_incidents where seen_ms >= $1 order by from_ms, id`;
      return database.statement('route-incidents', text, [sinceMs]);
    },

    async windows(nowMs) {
      const rows = await read<WindowRow>({ name: 'route-windows', text: windows, values: boundsAt(nowMs) });
      return rows.map(windowOf);
    },

    days(nowMs, count) {
      const first = (Math.floor(nowMs / (dayHours * hourMs)) - count + 1) * dayHours;
      return read<RouteDay>({ name: 'route-days', text: days, values: [first] });
    },
  };
}

/** The parameters of the windows that end with the current hour. */
function boundsAt(nowMs: number): number[] {
  const nowHour = Math.floor(nowMs / hourMs);
  return windowNames.flatMap((name) => {
    const first = nowHour - windowHours[name];
    return name === '24h' ? [first] : [first, Math.ceil(first / dayHours) * dayHours];
  });
}

function windowOf({ first_byte, speed, ...row }: WindowRow): RouteWindow {
  const [firstByteP50Ms = null, firstByteP95Ms = null] = percentilesOf(first_byte, [0.5, 0.95]);
  return { ...row, firstByteP50Ms, firstByteP95Ms, tokensPerSecondP50: percentileOf(speed, 0.5) };
}
