/** Sums of filtered usage for the dashboard: of the period, by step, by route, and by each group that is asked for. */
import type { Database } from '../database.js';
import type { ReportFilter, ReportGroup, ReportQuery, ReportRow } from '../store.js';
import { percentileOf } from './histogram.js';
import { readUsage } from './usage-query.js';

const dayMs = 86_400_000;

const groupColumns: Record<ReportGroup, string> = {
  account: 'account_id',
  key: 'key_name',
  model: `split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3)`,
  provider: 'provider',
  locode: 'locode',
  status: 'status::text',
};

/** Always the same parameters, so that a statement depends only on the groups. */
const filterSql = (isError: string) => {
  const canonical = (column: string) =>
    `($14 not like 'alias/%' and $14 like '%/%' and $14 not like '%/%/%'
      and split_part(${column}, '/', 2) || '/' || split_part(${column}, '/', 3) = $14)`;
  return `($13::text is null or key_name = $13 or key_id = $13)
    and ($14::text is null or requested_model = $14 or served_model = $14
      or ${canonical('requested_model')} or ${canonical('served_model')})
    and ($15::text is null or provider = $15) and ($16::text is null or locode = $16)
    and ($17::boolean is null or (provider is not null) = $17)
    and ($18::boolean is null or ${isError} = $18) and ($19::integer is null or status = $19)`;
};

function filterValues({ key, model, provider, locode, served, status }: ReportFilter): unknown[] {
  const failed = typeof status === 'string' ? status === 'error' : null;
  const values = [key, model, provider, locode, served];
  return [...values.map((value) => value ?? null), failed, typeof status === 'number' ? status : null];
}

interface Row {
  grouped: number;
  /** The kind of a row in `sums`; null for the groups over the whole period. */
  kind: number | null;
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
const figures = ['requests', 'errors', 'cost_pico', 'prompt_tokens', 'completion_tokens', 'cached_tokens'].join(', ');
const figureTotals = figures
  .split(', ')
  .map((name) => `sum(${name}) as ${name}`)
  .join(', ');

export async function readReport(history: Database, query: ReportQuery, isError: string): Promise<ReportRow[]> {
  const { accountId, fromMs, toMs, stepMs, filter } = query;
  const groups = [...new Set(query.groups)].sort();
  const byDay = stepMs % dayMs === 0 && (fromMs % dayMs === 0 || stepMs >= toMs - fromMs);
  const rows = await readUsage<Row>(
    history,
    { accountId, fromMs, toMs, byDay },
    {
      ...{ name: `report-${groups.join('-')}`, select: selectOf(groups, isError) },
      values: [stepMs, ...filterValues(filter)],
    },
  );
  const names = ['served_model', 'failed_by', ...groups];
  const sets = new Map([[], ...names.map((name) => [name])].map((set) => [bitsOf(names, set), set[0] ?? null]));
  return rows.map((row) => rowOf(row, sets.get(Number(row.grouped)) ?? null));
}

/**
 * `sums` has one row for each series, each step, and each route in a step. The groups are summed from the rows of the series, which are
 * few, so every rollup is read and added up once.
 */
function selectOf(groups: readonly ReportGroup[], isError: string): string {
  const names = ['served_model', 'failed_by', ...groups.map((group) => `g_${group}`)];
  return `, chosen as (
      select id, served_model, failed_by, ${isError} as is_error${groups.map((group) => `, ${groupColumns[group]} as g_${group}`).join('')}
      from series where ${filterSql(isError)}
    ), sums as materialized (
      select grouping(series, step, served_model) as kind, series, step, served_model, sum(requests) as requests,
        coalesce(sum(requests) filter (where is_error), 0) as errors, sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(first_byte_histogram) as first_byte
      from (select *, greatest(from_hour::bigint * 3600000 - $8::bigint, 0) / $12::bigint as step from parts) stepped
      join chosen on chosen.id = stepped.series
      group by grouping sets ((series), (step), (step, served_model))
    )
    select kind, 0 as grouped, step, served_model as id, ${figures}, case when kind = ${kinds.step} then first_byte end as first_byte
    from sums where kind <> ${kinds.series} and requests <> 0
    union all
    select null, grouping(${names.map((name) => `c.${name}`).join(', ')}), null, coalesce(${names.map((name) => `c.${name}`).join(', ')}),
      ${figureTotals}, case when grouping(c.served_model) = 1 then sum(first_byte) end
    from sums join chosen c on c.id = sums.series where kind = ${kinds.series}
    group by grouping sets ((), ${names.map((name) => `(c.${name})`).join(', ')}) having sum(requests) <> 0`;
}

/** `grouping` has a bit for each column that a row does not group by, the first column the highest bit. */
function bitsOf(names: readonly string[], set: readonly string[]): number {
  return names.reduce((bits, name) => bits * 2 + (set.includes(name) ? 0 : 1), 0);
}

function rowOf(row: Row, grouped: string | null): ReportRow {
  return {
    group: groupOf(row.kind, grouped),
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

function groupOf(kind: number | null, grouped: string | null): ReportRow['group'] {
  if (kind !== null) return kind === kinds.step ? 'step' : 'step_route';
  if (grouped === null) return 'period';
  return grouped === 'served_model' ? 'route' : (grouped as ReportRow['group']);
}
