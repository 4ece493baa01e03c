/**
 * Reads sums of usage from the rollups and the sums of reports, exact to the millisecond. Where a period begins or ends within an hour, the
 * generations of that hour outside of the period are taken off. Where earlier generations are not all in the rollups yet, the missing ones
 * are added. A statement has only the parts that its period needs: those that read generations would cost time for every partition, even
 * where they find nothing.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../database.js';
import { rollUpLate } from './backfill.js';
import { figureNames, seriesColumns, seriesIdSql, signedFigures, sumFigureNames } from './usage-columns.js';
import { type Span, spansOf, type UsageSource } from './usage-spans.js';

const hourMs = 3_600_000;

export interface UsagePeriod {
  /** null for all accounts. */
  accountId: string | null;
  /** Epoch milliseconds: the first is included, the second is not. */
  fromMs: number;
  toMs: number;
}

/**
 * One part of a statement. `select` reads `parts`, which has rows with a `series`, the hour that they begin with, and figures; and
 * `series`, which says what each is. Sums have only the columns and figures of their kind.
 */
export interface UsagePart {
  source: UsageSource;
  /** No step of the caller begins within so many hours; 1, 6, 24 or 240. */
  wholeHours: number;
  select: string;
}

/**
 * The rows of all parts, in one statement and so at one moment. The own parameters of a query begin with $6; $2 is the start of the period
 * in milliseconds.
 */
export interface UsageQuery {
  parts: readonly UsagePart[];
  /** A condition on the columns of the series. */
  filter?: string | undefined;
  values?: readonly unknown[];
}

export async function readUsage<Row extends object>(
  history: Database,
  period: UsagePeriod,
  { parts, filter, values = [] }: UsageQuery,
): Promise<Row[]> {
  const { isComplete, summedTo } = await rollUpLate(history);
  const from = Math.floor(period.fromMs / hourMs);
  const to = Math.max(Math.ceil(period.toMs / hourMs), from);
  const edges = [period.fromMs, period.toMs, from * hourMs, to * hourMs] as const;
  const shape: Shape = {
    ...{ oneAccount: period.accountId !== null, startsWithin: edges[2] < edges[0], endsWithin: edges[1] < edges[3] },
    missing: !isComplete,
  };
  const spans = parts.map(({ source, wholeHours }) => spansOf({ source, from, to, wholeHours, summedTo }));
  let parameter = 2 + edges.length + values.length;
  const texts = parts.map(({ source, select }, index) => {
    const first = parameter;
    const numbered = spans[index]!.map((span, i) => ({ ...span, parameter: first + 2 * i }));
    parameter += 2 * numbered.length;
    return `(with ${partsOf({ source, shape, spans: numbered, filter })} ${select})`;
  });
  const text = texts.join(' union all ');
  const query = {
    // Prepared once for each connection. Names may have 63 characters.
    name: `usage-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
    text,
    values: [period.accountId, ...edges, ...values, ...spans.flat().flatMap((span) => [span.from, span.to])],
  };
  return (await history.look((_db, client) => client.query<Row>(query))).rows;
}

/** What a statement has besides rollups and sums. */
interface Shape {
  oneAccount: boolean;
  /** The period begins or ends within an hour. */
  startsWithin: boolean;
  endsWithin: boolean;
  /** Generations of before are missing in the rollups. */
  missing: boolean;
}

interface PartText {
  source: UsageSource;
  shape: Shape;
  spans: readonly (Span & { parameter: number })[];
  filter: string | undefined;
}

function partsOf({ source, shape, spans, filter }: PartText): string {
  const account = shape.oneAccount ? 'account_id = $1' : '$1::text is null';
  const figures = source === 'rollups' ? figureNames : sumFigureNames;
  // One scan of the index for all series. A join would read the rollups of every account in the period.
  const ofSeries = shape.oneAccount || filter ? 'series = any (array(select id from series)) and' : '';
  const rowsOf = (span: Span & { parameter: number }) => `
    select series, from_hour, ${figures}
    from ${span.source === 'rollups' ? 'lodestone.usage_rollups where' : `lodestone.usage_sums where kind = '${span.source}' and`}
    ${ofSeries} hours = ${span.hours} and from_hour >= $${span.parameter}::integer and from_hour < $${span.parameter + 1}::integer`;
  const edge = (from: string, to: string) => `
    select ${seriesColumns}, from_hour, ${signedFigures} from (
      select u.*, -1 as sign from lodestone.generation_usage u, lodestone.records_state state
      where ${account} and created_ms >= ${from}::bigint and created_ms < ${to}::bigint
        and (rolled_up or (rolled_up is null and created_ms >= coalesce(backfill_before_ms, created_ms)))
    ) edge`;
  const missing = `
    select ${seriesColumns}, from_hour, ${figureNames} from lodestone.records_state state join lodestone.generation_usage u
      on rolled_up is null and created_ms < backfill_before_ms
    where backfill_before_ms is not null and ${account} and created_ms >= $2::bigint and created_ms < $3::bigint`;
  const rows = [
    ...(shape.startsWithin ? [edge('$4', '$2')] : []),
    ...(shape.endsWithin ? [edge('$3', '$5')] : []),
    ...(shape.missing ? [missing] : []),
  ];
  const sources = new Set(spans.map((span) => span.source));
  const tables = [
    ...(sources.has('rollups') ? [`select id, ${seriesColumns} from lodestone.usage_series where ${account}`] : []),
    ...(source !== 'rollups' && sources.has(source)
      ? [`select id, ${seriesColumns} from lodestone.usage_sum_series where kind = '${source}' and ${account}`]
      : []),
  ];
  // A series of a single row may be known already.
  const known = [
    ...(tables.length > 0 ? [tables.join(' union all ')] : []),
    ...(rows.length > 0 ? [`select series as id, ${seriesColumns} from single`] : []),
  ];
  const parts = [
    ...spans.map(rowsOf),
    ...(rows.length > 0 ? [` select series, from_hour, ${figures} from single`] : []),
  ];
  const single = `single as materialized (
    select ${seriesIdSql(seriesColumns)} as series, * from (${rows.join(' union all')}) rows
  ), `;
  const none = `select null::uuid as id, ${seriesColumns} from lodestone.usage_series where false`;
  const noRows = `select series, from_hour, ${figures} from lodestone.usage_rollups where false`;
  // Every statement names all parameters, so that each has a type.
  return `bounds as (
    select $1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint
  ), ${rows.length > 0 ? single : ''}series as (
    select * from (${known.join(' union ') || none}) s ${filter ? `where ${filter}` : ''}
  ), parts as (${parts.join(' union all') || noRows})`;
}
