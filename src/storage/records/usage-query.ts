/**
 * Reads sums of usage from the rollups, exact to the millisecond. Whole hours and days come from the rollups. Where a period begins or
 * ends within an hour, the generations of that hour outside of the period are taken off. Where the generations of before are not all
 * in the rollups yet, the missing ones are added.
 */
import type { Database } from '../database.js';
import { rollUpLate } from './backfill.js';
import { figureNames, seriesColumns, signedFigures } from './usage-columns.js';

const hourMs = 3_600_000;
const dayHours = 24;

export interface UsagePeriod {
  /** null for all accounts. */
  accountId: string | null;
  /** Epoch milliseconds: the first is included, the second is not. */
  fromMs: number;
  toMs: number;
  /** Sums by day are enough: no step of the caller begins within a day. */
  byDay: boolean;
}

/**
 * `name` and `select` belong together, because the statement is prepared under the name. `select` reads `parts`, which has a row for
 * each series and hour or day; its own parameters begin with $10.
 */
export interface UsageQuery {
  name: string;
  select: string;
  values?: readonly unknown[];
}

export async function readUsage<Row extends object>(
  history: Database,
  period: UsagePeriod,
  { name, select, values = [] }: UsageQuery,
): Promise<Row[]> {
  await rollUpLate(history);
  const one = period.accountId !== null;
  const query = {
    name: `${name}-${one ? 'account' : 'all'}`,
    text: `with ${partsOf(one)} ${select}`,
    values: [...boundsOf(period), ...values],
  };
  return (await history.look((_db, client) => client.query<Row>(query))).rows;
}

/** $2 to $7 are hours: those of the first and last day in part, and the whole days between. */
function boundsOf({ accountId, fromMs, toMs, byDay }: UsagePeriod): unknown[] {
  const from = Math.floor(fromMs / hourMs);
  const to = Math.max(Math.ceil(toMs / hourMs), from);
  const dayFrom = Math.ceil(from / dayHours) * dayHours;
  const dayTo = Math.floor(to / dayHours) * dayHours;
  const hours = byDay && dayFrom < dayTo ? [from, dayFrom, dayFrom, dayTo, dayTo, to] : [from, to, 0, 0, 0, 0];
  return [accountId, ...hours, fromMs, toMs];
}

function partsOf(oneAccount: boolean): string {
  const account = (column: string) => (oneAccount ? `${column} = $1` : '$1::text is null');
  const rollups = (hours: number, from: string, to: string) => `
    select ${seriesColumns}, from_hour, ${figureNames}
    from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
    where ${account('s.account_id')} and r.hours = ${hours} and r.from_hour >= ${from}::integer and r.from_hour < ${to}::integer`;
  return `parts as (
    ${rollups(1, '$2', '$3')} union all ${rollups(dayHours, '$4', '$5')} union all ${rollups(1, '$6', '$7')}
    union all
    select ${seriesColumns}, from_hour, ${signedFigures} from (
      select u.*, -1 as sign from lodestone.generation_usage u, lodestone.records_state state
      where ${account('u.account_id')} and ((created_ms >= floor($8::bigint / 3600000.0) * 3600000 and created_ms < $8::bigint)
          or (created_ms >= $9::bigint and created_ms < ceil($9::bigint / 3600000.0) * 3600000))
        and (rolled_up or (rolled_up is null and created_ms >= coalesce(backfill_before_ms, created_ms)))
      union all
      select u.*, 1 from lodestone.records_state state join lodestone.generation_usage u
        on rolled_up is null and created_ms < backfill_before_ms
      where backfill_before_ms is not null and ${account('u.account_id')} and created_ms >= $8::bigint and created_ms < $9::bigint
    ) edges
  )`;
}
