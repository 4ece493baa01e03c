/**
 * Reads sums of usage from the rollups and the sums of reports, exact to the millisecond. Where a period begins or ends within an hour, the
 * generations of that hour outside of the period are taken off. Where earlier generations are not all in the rollups yet, the missing ones
 * are added. A statement has only the parts that its period needs: those that read generations would cost time for every partition, even
 * where they find nothing.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../database.js';
import { rollUpLate } from './backfill.js';
import {
  figureNames,
  personColumns,
  seriesColumns,
  seriesIdSql,
  signedFigures,
  sumFigureNames,
} from './usage-columns.js';
import { type Span, type SummedSource, spansOf, type UsageSource } from './usage-spans.js';

const hourMs = 3_600_000;

interface UsagePeriod {
  /** null for all accounts. */
  accountId: string | null;
  /** Epoch milliseconds: the first is included, the second is not. */
  fromMs: number;
  toMs: number;
}

/**
 * One part of a statement. `select` reads `parts`, which has rows with a `series`, the hour that they begin with, and figures; and
 * `series`, which says what each is. Sums have only the columns and figures of their kind; generations also have the person who held the
 * key and the end user.
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
interface UsageQuery {
  parts: readonly UsagePart[];
  /** A condition on the columns of the series. */
  filter?: string | undefined;
  values?: readonly unknown[];
}

export async function queryUsage<Row extends object>(
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
  const numbers = new SpanNumbers(2 + edges.length + values.length);
  const singles = new Map<string, string>();
  const texts = parts.map(({ source, wholeHours, select }) => {
    if (source === 'generations') return { parts: generationsOf(shape, filter, singles), select };
    const spans = spansOf({ source, from, to, wholeHours, summedTo }).map((span) => numbers.of(span));
    return { parts: partsOf({ source, shape, spans, filter, singles }), select };
  });
  // Rows that several parts need are read once.
  const shared = [...singles].map(([sql, name]) => `${name} as materialized (${sql}), `).join('');
  const [first, ...others] = texts;
  const more = others.map((other) => ` union all (with ${other.parts} ${other.select})`).join('');
  const text =
    more === ''
      ? `with ${shared}${first!.parts} ${first!.select}`
      : `with ${shared}one as (select 1) (with ${first!.parts} ${first!.select})${more}`;
  const query = {
    // Prepared once for each connection. Names may have 63 characters.
    name: `usage-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
    text,
    values: [period.accountId, ...edges, ...values, ...numbers.values],
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

/** Numbers the parameters of spans. The same bounds have the same numbers, so that the same rows are the same text. */
class SpanNumbers {
  readonly values: number[] = [];
  private readonly known = new Map<string, number>();

  constructor(private readonly first: number) {}

  of(span: Span): NumberedSpan {
    const key = `${span.from}-${span.to}`;
    const parameter = this.known.get(key) ?? this.first + this.values.length;
    if (!this.known.has(key)) this.values.push(span.from, span.to);
    this.known.set(key, parameter);
    return { ...span, parameter };
  }
}

/** Its bounds are this parameter and the next. */
type NumberedSpan = Span & { parameter: number };

interface PartText {
  source: SummedSource;
  shape: Shape;
  spans: readonly NumberedSpan[];
  filter: string | undefined;
  /** The names of single rows, by their text. */
  singles: Map<string, string>;
}

/**
 * Rollups at the ends of a period are read by their time, with all accounts, and once for all parts: fewer rows than an account may have
 * series. The last is often the day that is not over, whose rollups are no more than those of its hours.
 */
const fewHours = 48;
const isShort = ({ source, from, to }: Span) => source === 'rollups' && to - from <= fewHours;

function partsOf({ source, shape, spans, filter, singles }: PartText): string {
  const account = accountSql(shape);
  const figures = source === 'rollups' ? figureNames : sumFigureNames;
  const rows = [
    ...(source === 'rollups' ? [] : spans.filter(isShort).map((span) => hoursSql(span, account))),
    ...(shape.startsWithin ? [edgeSql(account, '$4', '$2')] : []),
    ...(shape.endsWithin ? [edgeSql(account, '$3', '$5')] : []),
    ...(shape.missing ? [missingSql(account)] : []),
  ].join(' union all ');
  const single = rows === '' ? undefined : singleOf(rows, singles);
  const others = source === 'rollups' ? spans : spans.filter((span) => !isShort(span));
  // One scan of the index for all series. A join would read the rollups of every account in the period.
  const ofSeries = shape.oneAccount || filter ? 'series = any (array(select id from known)) and' : '';
  const spanSql = (span: NumberedSpan) => {
    const table =
      span.source === 'rollups'
        ? `usage_rollups where ${ofSeries}`
        : `usage_sums where kind = '${span.source}' and ${sumAccount(span.source, account)} and`;
    return `select series, from_hour, ${figures} from lodestone.${table} hours = ${span.hours} and ${withinSql(span)}`;
  };
  const parts = [...others.map(spanSql), ...(single ? [`select series, from_hour, ${figures} from ${single}`] : [])];
  const noParts = `select series, from_hour, ${figures} from lodestone.usage_rollups where false`;
  const columns = `id, ${seriesColumns}`;
  const all = single
    ? `select ${columns} from known union select series, ${seriesColumns} from ${single}`
    : `select ${columns} from known`;
  const where = filter ? `where ${filter}` : '';
  return `${bounds}, known as (select * from (${knownSql(others, account)}) known ${where}),
  series as (select * from (${all}) series ${where}), parts as (${parts.join(' union all ') || noParts})`;
}

/** Every statement names all parameters, so that each has a type. */
const bounds = 'bounds as (select $1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint)';

const accountSql = ({ oneAccount }: Shape) => (oneAccount ? 'account_id = $1' : '$1::text is null');

function singleOf(sql: string, singles: Map<string, string>): string {
  const name = singles.get(sql) ?? `single_${singles.size}`;
  singles.set(sql, name);
  return name;
}

/** Each generation of the period with what no sum tells apart. They are exact without the edges of hours, and none is missing. */
function generationsOf(shape: Shape, filter: string | undefined, singles: Map<string, string>): string {
  const columns = `${seriesColumns}, ${personColumns}`;
  const single = singleOf(
    `select ${seriesIdSql(columns)} as series, ${columns}, from_hour, ${figureNames} from lodestone.generation_usage
    where ${accountSql(shape)} and created_ms >= $2::bigint and created_ms < $3::bigint`,
    singles,
  );
  return `${bounds}, series as (select distinct series as id, ${columns} from ${single}${filter ? ` where ${filter}` : ''}),
  parts as (select series, from_hour, ${figureNames} from ${single})`;
}

const sumAccount = (source: SummedSource, account: string) => (source.startsWith('all_') ? `account_id = ''` : account);

const withinSql = ({ parameter }: NumberedSpan) =>
  `from_hour >= $${parameter}::integer and from_hour < $${parameter + 1}::integer`;

/** Single rows come with the columns of their series. */
const ownSeries = `${seriesIdSql(seriesColumns)} as series`;

const hoursSql = (span: NumberedSpan, account: string) => `
    select series, ${seriesColumns}, from_hour, ${figureNames} from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
    where ${account} and hours = ${span.hours} and ${withinSql(span)}`;

const edgeSql = (account: string, from: string, to: string) => `
    select ${ownSeries}, ${seriesColumns}, from_hour, ${signedFigures} from (
      select u.*, -1 as sign from lodestone.generation_usage u, lodestone.records_state state
      where ${account} and created_ms >= ${from}::bigint and created_ms < ${to}::bigint
        and (rolled_up or (rolled_up is null and created_ms >= coalesce(backfill_before_ms, created_ms)))
    ) edge`;

const missingSql = (account: string) => `
    select ${ownSeries}, ${seriesColumns}, from_hour, ${figureNames} from lodestone.records_state state join lodestone.generation_usage u
      on rolled_up is null and created_ms < backfill_before_ms
    where backfill_before_ms is not null and ${account} and created_ms >= $2::bigint and created_ms < $3::bigint`;

/** The series of the rows that are read by their series. */
function knownSql(spans: readonly Span[], account: string): string {
  const tables = [...new Set(spans.map(({ source }) => source))].map((source) =>
    source === 'rollups'
      ? `select id, ${seriesColumns} from lodestone.usage_series where ${account}`
      : `select id, ${seriesColumns} from lodestone.usage_sum_series where kind = '${source}' and ${account}`,
  );
  return tables.join(' union all ') || `select id, ${seriesColumns} from lodestone.usage_series where false`;
}
