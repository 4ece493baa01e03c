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
    `($12 not like 'alias/%' and $12 like '%/%' and $12 not like '%/%/%'
      and split_part(${column}, '/', 2) || '/' || split_part(${column}, '/', 3) = $12)`;
  return `($11::text is null or key_name = $11 or key_id = $11)
    and ($12::text is null or requested_model = $12 or served_model = $12
      or ${canonical('requested_model')} or ${canonical('served_model')})
    and ($13::text is null or provider = $13) and ($14::text is null or locode = $14)
    and ($15::boolean is null or (provider is not null) = $15)
    and ($16::boolean is null or ${isError} = $16) and ($17::integer is null or status = $17)`;
};

function filterValues({ key, model, provider, locode, served, status }: ReportFilter): unknown[] {
  const failed = typeof status === 'string' ? status === 'error' : null;
  const values = [key, model, provider, locode, served];
  return [...values.map((value) => value ?? null), failed, typeof status === 'number' ? status : null];
}

interface Row {
  grouped: number;
  step: string | null;
  served_model: string | null;
  failed_by: string | null;
  requests: string;
  errors: string;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  cached_tokens: string;
  first_byte: string;
  [group: `g_${string}`]: string | null;
}

export async function readReport(history: Database, query: ReportQuery, isError: string): Promise<ReportRow[]> {
  const { accountId, fromMs, toMs, stepMs, filter } = query;
  const groups = [...new Set(query.groups)].sort();
  const names = ['step', 'served_model', 'failed_by', ...groups.map((group) => `g_${group}`)];
  const sets = [
    [],
    ['step'],
    ['served_model'],
    ['step', 'served_model'],
    ['failed_by'],
    ...names.slice(3).map((one) => [one]),
  ];
  const sums = ['requests', 'errors', 'cost_pico', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'first_byte'];
  // `cells` has one row for each step, route and member of the groups: few, where `parts` has one for each series and hour.
  const select = `, cells as materialized (
      select greatest(floor((from_hour::bigint * 3600000 - $8::bigint)::numeric / $10::bigint), 0)::bigint as step,
        served_model, failed_by${groups.map((group) => `, ${groupColumns[group]} as g_${group}`).join('')},
        sum(requests) as requests, coalesce(sum(requests) filter (where ${isError}), 0) as errors,
        sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
        sum(cached_tokens) as cached_tokens, sum(first_byte_histogram) as first_byte
      from parts where ${filterSql(isError)} group by ${names.map((_, index) => index + 1).join(', ')}
    )
    select grouping(${names.join(', ')}) as grouped, ${names.join(', ')}, ${sums.map((sum) => `sum(${sum}) as ${sum}`).join(', ')}
    from cells group by grouping sets (${sets.map((set) => `(${set.join(', ')})`).join(', ')})
    having sum(requests) <> 0`;
  const byDay = stepMs % dayMs === 0 && (fromMs % dayMs === 0 || stepMs >= toMs - fromMs);
  const rows = await readUsage<Row>(
    history,
    { accountId, fromMs, toMs, byDay },
    {
      ...{ name: `report-${groups.join('-')}`, select, values: [stepMs, ...filterValues(filter)] },
    },
  );
  const kinds = new Map(sets.map((set) => [bitsOf(names, set), set]));
  return rows.map((row) => rowOf(row, kinds.get(Number(row.grouped)) ?? []));
}

/** `grouping` has a bit for each column that a row does not group by, the first column the highest bit. */
function bitsOf(names: readonly string[], set: readonly string[]): number {
  return names.reduce((bits, name) => bits * 2 + (set.includes(name) ? 0 : 1), 0);
}

function rowOf(row: Row, [first, second]: readonly string[]): ReportRow {
  const kinds: Record<string, ReportRow['group']> = { step: 'step', served_model: 'route', failed_by: 'failed_by' };
  const group =
    first === undefined ? 'period' : second ? 'step_route' : (kinds[first] ?? (first.slice(2) as ReportGroup));
  const named = second ?? first;
  return {
    group,
    step: row.step === null ? null : Number(row.step),
    id:
      named === undefined || named === 'step'
        ? null
        : ((row as unknown as Record<string, string | null>)[named] ?? null),
    requests: Number(row.requests),
    errors: Number(row.errors),
    costPico: BigInt(row.cost_pico),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cachedTokens: Number(row.cached_tokens),
    firstByteP50Ms: percentileOf(row.first_byte, 0.5),
    firstByteP95Ms: percentileOf(row.first_byte, 0.95),
  };
}
