/** Stores failed attempts and incidents of routes, and sums what routes did over the windows of the status page. */
import type { Database } from '../database.js';
import { percentileOf } from '../records/histogram.js';
import { type IncidentRow, type RouteHistoryStore, type RouteWindow, type WindowName, windowNames } from '../store.js';

const hourMs = 3_600_000;
const dayHours = 24;
const windowHours: Record<WindowName, number> = { '24h': 24, '7d': 7 * 24, '90d': 90 * 24 };
/** Later than any hour. */
const endOfTime = 2 ** 31 - 1;

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
 * $1 to $4 are lists of the parts of the windows: a name, the length of its rollups, and its first and last hour. Series are summed first,
 * so that what is counted by account is few rows.
 */
const windows = `
with spans as (select * from unnest($1::text[], $2::smallint[], $3::integer[], $4::integer[]) as s(name, hours, first, after)),
summed as (
  select spans.name, r.series, sum(r.requests) as requests, sum(r.first_byte_histogram) as first_byte, sum(r.speed_histogram) as speed
  from spans join lodestone.usage_rollups r
    on r.hours = spans.hours and r.from_hour >= spans.first and r.from_hour < spans.after
  group by 1, 2
), parts as (
  select name, s.served_model as route, s.account_id, requests as served,
    case when s.stream_end in ('cut', 'stalled') then requests else 0 end as broken, 0::bigint as failed, first_byte, speed
  from summed join lodestone.usage_series s on s.id = summed.series
  where s.served_model is not null
  union all
  select spans.name, f.route, f.account_id, 0, 0, f.failed, 0, 0
  from spans join lodestone.route_failures f
    on f.hours = spans.hours and f.from_hour >= spans.first and f.from_hour < spans.after
), by_account as (
  select name, route, account_id, sum(served) as served, sum(broken) as broken, sum(failed) as failed, sum(first_byte) as first_byte,
    sum(speed) as speed
  from parts group by 1, 2, 3
)
select name, route, sum(served) as served, sum(broken) as broken, sum(failed) as failed, count(*) as accounts,
  sum(first_byte) as first_byte, sum(speed) as speed
from by_account group by name, route`;

interface WindowRow {
  name: WindowName;
  route: string;
  served: string;
  broken: string;
  failed: string;
  accounts: string;
  first_byte: string;
  speed: string;
}

interface StoredIncident {
  id: string;
  kind: IncidentRow['kind'];
  route: string;
  from_ms: string;
  seen_ms: string;
  to_ms: string | null;
}

/** `history` has its own connections, so that a long sum never delays a settlement. */
export function routeHistoryStore(database: Database, history: Database): RouteHistoryStore {
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

    async incidents(sinceMs) {
      const text = `select id, kind, route, from_ms, seen_ms, to_ms from lodestone.route_incidents
        where seen_ms >= $1 order by from_ms, id`;
      const rows = await database.statement<StoredIncident>('route-incidents', text, [sinceMs]);
      return rows.map(({ id, kind, route, from_ms, seen_ms, to_ms }) => ({
        ...{ id, kind, routeId: route, fromMs: Number(from_ms), seenMs: Number(seen_ms) },
        toMs: to_ms === null ? null : Number(to_ms),
      }));
    },

    async windows(nowMs) {
      const query = { name: 'route-windows', text: windows, values: spansAt(nowMs) };
      const { rows } = await history.look((_db, client) => client.query<WindowRow>(query));
      return rows.map(windowOf);
    },
  };
}

interface Span {
  readonly name: WindowName;
  readonly hours: number;
  readonly first: number;
  readonly after: number;
}

/** Whole hours up to the first midnight, and whole days from there: days hold what hours do, in fewer rows. */
function spansAt(nowMs: number): [string[], number[], number[], number[]] {
  const nowHour = Math.floor(nowMs / hourMs);
  const spans = windowNames.flatMap((name): Span[] => {
    const first = nowHour - windowHours[name];
    const midnight = Math.ceil(first / dayHours) * dayHours;
    if (name === '24h') return [{ name, hours: 1, first, after: endOfTime }];
    return [
      { name, hours: 1, first, after: midnight },
      { name, hours: dayHours, first: midnight, after: endOfTime },
    ];
  });
  return [
    spans.map(({ name }) => name),
    spans.map(({ hours }) => hours),
    spans.map(({ first }) => first),
    spans.map(({ after }) => after),
  ];
}

function windowOf(row: WindowRow): RouteWindow {
  return {
    routeId: row.route,
    window: row.name,
    served: Number(row.served),
    broken: Number(row.broken),
    failed: Number(row.failed),
    accounts: Number(row.accounts),
    firstByteP50Ms: percentileOf(row.first_byte, 0.5),
    firstByteP95Ms: percentileOf(row.first_byte, 0.95),
    tokensPerSecondP50: percentileOf(row.speed, 0.5),
  };
}
