/** Sums of filtered usage for the dashboard: of the period, by step, by route, and by each group that is asked for. */
import type { Database } from '../database.js';
import type { ReportFilter, ReportGroup, ReportQuery, ReportRow } from '../store.js';
import { percentileOf } from './histogram.js';
import { readUsage, type UsagePart } from './usage-query.js';

const hourMs = 3_600_000;
/** The lengths of rows that a step may consist of, longest first. */
const lengths = [240, 24, 6, 1];

const groupColumns: Record<ReportGroup, string> = {
  account: 'account_id',
  key: 'key_name',
  model: `split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3)`,
  provider: 'provider',
  locode: 'locode',
  status: 'status::text',
};

/** Groups whose members the sums by route do not tell apart. The sums by key do. */
const keyGroups: readonly ReportGroup[] = ['account', 'key'];

/** Always the same parameters, so that a statement does not depend on what is filtered by. */
const filterSql = (isError: string) => {
  const canonical = (column: string) =>
    `($8 not like 'alias/%' and $8 like '%/%' and $8 not like '%/%/%'
      and split_part(${column}, '/', 2) || '/' || split_part(${column}, '/', 3) = $8)`;
  return `($7::text is null or key_name = $7 or key_id = $7)
    and ($8::text is null or requested_model = $8 or served_model = $8
      or ${canonical('requested_model')} or ${canonical('served_model')})
    and ($9::text is null or provider = $9) and ($10::text is null or locode = $10)
    and ($11::boolean is null or (provider is not null) = $11)
    and ($12::boolean is null or ${isError} = $12) and ($13::integer is null or status = $13)`;
};

function filterValues({ key, model, provider, locode, served, status }: ReportFilter): unknown[] {
  const failed = typeof status === 'string' ? status === 'error' : null;
  const values = [key, model, provider, locode, served];
  return [...values.map((value) => value ?? null), failed, typeof status === 'number' ? status : null];
}

interface Row {
  grouped: ReportRow['group'];
  step: string | null;
  id: string | null;
  requests: string;
  errors: string;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  cached_tokens: string;
  first_byte: string | null;
}

/** What `grouping(series, step, served_model)` is in `sums`. */
const kinds = { series: 3, step: 5, stepRoute: 4 };
const names = ['requests', 'errors', 'cost_pico', 'prompt_tokens', 'completion_tokens', 'cached_tokens'];
const figures = names.join(', ');
const figureTotals = names.map((name) => `sum(${name}) as ${name}`).join(', ');

export async function readReport(history: Database, query: ReportQuery, isError: string): Promise<ReportRow[]> {
  const { accountId, fromMs, toMs, stepMs, filter } = query;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const rows = await readUsage<Row>(
    history,
    { accountId, fromMs, toMs },
    {
      parts: partsOf(query, isFiltered, isError),
      filter: isFiltered ? filterSql(isError) : undefined,
      values: [stepMs, ...(isFiltered ? filterValues(filter) : [])],
    },
  );
  return rows.map(rowOf);
}

/**
 * Sums of routes give all groups but those by key and by account, which sums of keys give. Where a filter leaves the keys or the routes out
 * of one of them, the rollups give all, of the series that are left.
 */
function partsOf(query: ReportQuery, isFiltered: boolean, isError: string): UsagePart[] {
  const { accountId, fromMs, toMs, stepMs } = query;
  const groups = [...new Set(query.groups)].sort();
  const byKey = groups.filter((group) => keyGroups.includes(group));
  const wholeHours =
    lengths.find(
      (hours) => stepMs >= toMs - fromMs || (stepMs % (hours * hourMs) === 0 && fromMs % (hours * hourMs) === 0),
    ) ?? 1;
  if (query.filter.key !== undefined || (isFiltered && byKey.length > 0)) {
    return [{ source: 'rollups', wholeHours, select: selectOf(groups, isError) }];
  }
  const byRoute = groups.filter((group) => !keyGroups.includes(group));
  return [
    { source: accountId === null ? 'all_routes' : 'account_routes', wholeHours, select: selectOf(byRoute, isError) },
    ...(byKey.length > 0
      ? [{ source: 'account_keys' as const, wholeHours: lengths[0]!, select: selectOfKeys(byKey, isError) }]
      : []),
  ];
}

/**
 * `sums` has one row for each series, each step, and each route in a step. The groups are summed from the rows of the series, which are
 * few, so every row is read and added up once.
 */
function selectOf(groups: readonly ReportGroup[], isError: string): string {
  const columns = ['served_model', 'failed_by', ...groups.map((group) => `g_${group}`)].map((name) => `c.${name}`);
  const shown = ['route', 'failed_by', ...groups];
  return `, chosen as (
      select id, served_model, failed_by, ${isError} as is_error${groups.map((group) => `, ${groupColumns[group]} as g_${group}`).join('')}
      from series
    ), sums as materialized (
      select grouping(series, step, served_model) as kind, series, step, served_model, sum(requests) as requests,
        coalesce(sum(requests) filter (where is_error), 0) as errors, sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(first_byte_histogram) as first_byte
      from (select *, greatest(from_hour::bigint * 3600000 - $2::bigint, 0) / $6::bigint as step from parts) stepped
      join chosen on chosen.id = stepped.series
      group by grouping sets ((series), (step), (step, served_model))
    )
    select case kind when ${kinds.step} then 'step' else 'step_route' end as grouped, step, served_model as id, ${figures},
      case when kind = ${kinds.step} then first_byte end as first_byte
    from sums where kind <> ${kinds.series} and requests <> 0
    union all
    select ${groupName(columns, shown)}, null, coalesce(${columns.join(', ')}),
      ${figureTotals}, case when grouping(c.served_model) = 1 then sum(first_byte) end
    from sums join chosen c on c.id = sums.series where kind = ${kinds.series}
    group by grouping sets ((), ${columns.map((column) => `(${column})`).join(', ')}) having sum(requests) <> 0`;
}

/** Only the members of the groups, over the whole period. */
function selectOfKeys(groups: readonly ReportGroup[], isError: string): string {
  const columns = groups.map((group) => groupColumns[group]);
  return `, sums as materialized (select series, sum(requests) as requests, sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens,
      sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(first_byte_histogram) as first_byte
      from parts group by series
    )
    select ${groupName(columns, groups)} as grouped, null::bigint as step, coalesce(${columns.join(', ')}) as id, sum(requests) as requests,
      coalesce(sum(requests) filter (where ${isError}), 0) as errors, sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens,
      sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(first_byte) as first_byte
    from sums join series on series.id = sums.series
    group by grouping sets (${columns.map((column) => `(${column})`).join(', ')}) having sum(requests) <> 0`;
}

/** The name of the set that a row belongs to. `grouping` has a bit for each column that a row does not group by, the first the highest. */
function groupName(columns: readonly string[], shown: readonly string[]): string {
  const all = 2 ** columns.length - 1;
  const cases = shown.map((name, i) => `when ${all - 2 ** (columns.length - 1 - i)} then '${name}'`);
  return `case grouping(${columns.join(', ')}) ${cases.join(' ')} else 'period' end`;
}

function rowOf(row: Row): ReportRow {
  return {
    group: row.grouped,
    step: row.step === null ? null : Number(row.step),
    id: row.id,
    requests: Number(row.requests),
    errors: Number(row.errors),
    costPico: BigInt(row.cost_pico),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cachedTokens: Number(row.cached_tokens),
    firstByteP50Ms: row.first_byte === null ? null : percentileOf(row.first_byte, 0.5),
    firstByteP95Ms: row.first_byte === null ? null : percentileOf(row.first_byte, 0.95),
  };
}
