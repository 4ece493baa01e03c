/**
 * Reads sums of usage from the rollups, exact to the millisecond. Whole hours and days come from the rollups. Where a period begins or
 * ends within an hour, the generations of that hour outside of the period are taken off. Where earlier generations are not all
 * in the rollups yet, the missing ones are added. A statement has only the parts that its period needs: those that read generations
 * would cost time for every partition, even where they find nothing.
 */
import type { Database } from '../database.js';
import { rollUpLate } from './backfill.js';
import { figureNames, seriesColumns, seriesIdSql, signedFigures } from './usage-columns.js';

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
 * `name` and `select` belong together, because the statement is prepared under the name. `select` reads `parts`, which has rows with a
 * `series`, an hour or day, and figures; and `series`, which says what each is. Its own parameters begin with $12.
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
  const { isComplete } = await rollUpLate(history);
  const bounds = boundsOf(period);
  const shape = shapeOf(bounds, isComplete);
  const one = period.accountId !== null;
  const query = {
    name: `${name}-${one ? 'account' : 'all'}-${Object.values(shape).map(Number).join('')}`,
    text: `with ${partsOf(one, shape)} ${select}`,
    values: [period.accountId, ...bounds.hours, ...bounds.edges, ...values],
  };
  return (await history.look((_db, client) => client.query<Row>(query))).rows;
}

interface Bounds {
  /** $2 to $7: the hours of the first day in part, the whole days, and the hours of the last day in part. */
  hours: readonly [number, number, number, number, number, number];
  /** $8 to $11: the period, the start of its first hour, and the end of its last one. */
  edges: readonly [number, number, number, number];
}

function boundsOf({ fromMs, toMs, byDay }: UsagePeriod): Bounds {
  const from = Math.floor(fromMs / hourMs);
  const to = Math.max(Math.ceil(toMs / hourMs), from);
  const dayFrom = Math.ceil(from / dayHours) * dayHours;
  const dayTo = Math.floor(to / dayHours) * dayHours;
  return {
    hours: byDay && dayFrom < dayTo ? [from, dayFrom, dayFrom, dayTo, dayTo, to] : [from, to, 0, 0, 0, 0],
    edges: [fromMs, toMs, from * hourMs, to * hourMs],
  };
}

/** Which parts a statement has. */
interface Shape {
  before: boolean;
  days: boolean;
  after: boolean;
  /** The period begins or ends within an hour. */
  startsWithin: boolean;
  endsWithin: boolean;
  /** Generations of before are missing in the rollups. */
  missing: boolean;
}

function shapeOf({ hours, edges }: Bounds, isComplete: boolean): Shape {
  const [a, b, c, d, e, f] = hours;
  const [fromMs, toMs, firstHourMs, lastHourMs] = edges;
  return {
    ...{ before: a < b, days: c < d, after: e < f },
    ...{ startsWithin: firstHourMs < fromMs, endsWithin: toMs < lastHourMs, missing: !isComplete },
  };
}

function partsOf(oneAccount: boolean, shape: Shape): string {
  const account = oneAccount ? 'account_id = $1' : '$1::text is null';
  // One scan of the index for all series of an account. A join would read the rollups of every account in the period.
  const ofSeries = oneAccount ? 'series = any (array(select id from series)) and' : '';
  const rollups = (hours: number, from: string, to: string) => `
    select series, from_hour, ${figureNames} from lodestone.usage_rollups
    where ${ofSeries} hours = ${hours} and from_hour >= ${from}::integer and from_hour < ${to}::integer`;
  const edge = (from: string, to: string) => `
    select ${seriesColumns}, from_hour, ${signedFigures} from (
      select u.*, -1 as sign from lodestone.generation_usage u, lodestone.records_state state
      where ${account} and created_ms >= ${from}::bigint and created_ms < ${to}::bigint
        and (rolled_up or (rolled_up is null and created_ms >= coalesce(backfill_before_ms, created_ms)))
    ) edge`;
  const missing = `
    select ${seriesColumns}, from_hour, ${figureNames} from lodestone.records_state state join lodestone.generation_usage u
      on rolled_up is null and created_ms < backfill_before_ms
    where backfill_before_ms is not null and ${account} and created_ms >= $8::bigint and created_ms < $9::bigint`;
  const rows = [
    ...(shape.startsWithin ? [edge('$10', '$8')] : []),
    ...(shape.endsWithin ? [edge('$9', '$11')] : []),
    ...(shape.missing ? [missing] : []),
  ];
  const known = `select id, ${seriesColumns} from lodestone.usage_series where ${account}`;
  const parts = [
    ...(shape.before ? [rollups(1, '$2', '$3')] : []),
    ...(shape.days ? [rollups(dayHours, '$4', '$5')] : []),
    ...(shape.after ? [rollups(1, '$6', '$7')] : []),
    ...(rows.length > 0 ? [` select series, from_hour, ${figureNames} from single`] : []),
  ];
  const single = `single as materialized (
    select ${seriesIdSql(seriesColumns)} as series, * from (${rows.join(' union all')}) rows
  ), `;
  // Every statement names all parameters, so that each has a type.
  return `bounds as (
    select $2::integer, $3::integer, $4::integer, $5::integer, $6::integer, $7::integer, $8::bigint, $9::bigint, $10::bigint, $11::bigint
  ), ${rows.length > 0 ? single : ''}series as (
    ${known}${rows.length > 0 ? ` union select series, ${seriesColumns} from single` : ''}
  ), parts as (${parts.length > 0 ? parts.join(' union all') : `${rollups(1, '$2', '$3')} and false`})`;
}
