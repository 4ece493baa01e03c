/** Sums of an account's usage, from the rollups. Percentiles come from histograms, so they are true to within a twentieth. */
import { sql } from 'drizzle-orm';
import { generationIdsFrom } from '../../base/ids.js';
import type { Database } from '../database.js';
import { readActivity } from '../records/activity.js';
import { rollUpLate } from '../records/backfill.js';
import { percentileOf } from '../records/histogram.js';
import { readReport } from '../records/report.js';
import { readUsage } from '../records/usage-query.js';
import type { UsageGroup, UsageRow, UsageStore } from '../store.js';

/** A response of 4xx or 5xx, except for a client that disconnected (499), or a stream that did not complete. */
const isError = `((status >= 400 and status <> 499) or coalesce(stream_end in ('cut', 'stalled', 'pricing_fault'), false))`;
export const isErrorSql = sql.raw(isError);

/** `grouping` has a bit for each column that a row does not group by, the first column the highest bit. */
const groupOf: Record<number, UsageGroup> = {
  31: 'period',
  15: 'step',
  7: 'route',
  27: 'model',
  29: 'provider',
  30: 'region',
};

/** `cells` is small: one row for each step, route and outcome. */
const summary = `, cells as materialized (
  select greatest(floor((from_hour::bigint * 3600000 - $8::bigint)::numeric / $10::bigint), 0)::bigint as step, served_model,
    split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3) as model, provider, locode,
    sum(requests) as requests, coalesce(sum(requests) filter (where ${isError}), 0) as errors, sum(cost_pico) as cost_pico,
    sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(first_byte_histogram) as first_byte
  from parts group by 1, 2, 3, 4, 5
)
select grouping(step, served_model, model, provider, locode) as grouped, step,
  coalesce(served_model, model, provider, locode) as id,
  coalesce(sum(requests), 0) as requests, coalesce(sum(errors), 0) as errors, coalesce(sum(cost_pico), 0) as cost_pico,
  coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens,
  coalesce(sum(first_byte), 0) as first_byte
from cells group by grouping sets ((), (step), (step, served_model), (model), (provider), (locode))
having sum(requests) <> 0 or grouping(step, served_model, model, provider, locode) = 31`;

const spentSince = `
select key_id, sum(cost_pico) as pico from parts where billed group by key_id having sum(requests) <> 0`;

/** By account, because the primary key begins with it: so only the rows of the period are read. */
const billedLines = `
select g.served_model, line.name, sum(line.count) as count, sum(line.cost) as cost_pico
from lodestone.accounts a
join lodestone.generations g on g.account_id = a.id and g.id >= $2 and g.id < $3
cross join lateral (
  select 'requests' as name, 1::numeric as count, 0::numeric as cost
  union all select 'unrecorded', 1, g.cost_pico where g.bill is null
  union all select l.value ->> 0, (l.value ->> 1)::numeric, (l.value ->> 1)::numeric * (l.value ->> 2)::numeric
    from json_array_elements(g.bill::json -> 'lines') l
) line
where g.provider = $1 and g.billed and g.served_model is not null
group by 1, 2 order by 1, 2`;

const facet = (column: string) => `
select distinct ${column} as value from lodestone.usage_series s
where account_id = $1 and ${column} is not null
  and exists (select 1 from lodestone.usage_rollups r where r.series = s.id and r.hours = 24 and r.from_hour > $2)
order by 1 limit 500`;

const dayMs = 86_400_000;
/** A whole day, later than any generation, whose hours are still a small whole number. */
const endOfTime = 40_000 * dayMs;

interface SummaryRow {
  grouped: number;
  step: string | null;
  id: string | null;
  requests: string;
  errors: string;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  first_byte: string;
}

interface BilledLineRow {
  served_model: string;
  name: string;
  count: string;
  cost_pico: string;
}

export function usageStore(history: Database): UsageStore {
  return {
    async summary({ accountId, fromMs, toMs, stepMs }) {
      const byDay = stepMs % dayMs === 0 && (fromMs % dayMs === 0 || stepMs >= toMs - fromMs);
      const query = { name: 'usage-summary', select: summary, values: [stepMs] };
      return (await readUsage<SummaryRow>(history, { accountId, fromMs, toMs, byDay }, query)).map(rowOf);
    },

    activity: (query) => readActivity(history, query, isError),

    report: (query) => readReport(history, query, isError),

    async facets(accountId, fromMs) {
      await rollUpLate(history);
      const values = [accountId, Math.floor(fromMs / 3_600_000) - 24];
      return history.look(async (_db, client) => {
        const read = async (column: string) => {
          const query = { name: `usage-${column}`, text: facet(column), values };
          return (await client.query<{ value: string }>(query)).rows.map(({ value }) => value);
        };
        return {
          keys: await read('key_name'),
          models: await read('requested_model'),
          providers: await read('provider'),
        };
      });
    },

    async billedLines({ provider, fromMs, toMs }) {
      const values = [provider, generationIdsFrom(fromMs), generationIdsFrom(toMs)];
      const query = { name: 'billed-lines', text: billedLines, values };
      const { rows } = await history.look((_db, client) => client.query<BilledLineRow>(query));
      return rows.map(({ served_model, name, count, cost_pico }) => ({
        ...{ routeId: served_model, name, count: Number(count), costPico: BigInt(cost_pico) },
      }));
    },

    async spentSince(accountId, fromMs) {
      const period = { accountId, fromMs, toMs: endOfTime, byDay: true };
      const query = { name: 'spent-since', select: spentSince };
      const rows = await readUsage<{ key_id: string; pico: string }>(history, period, query);
      return new Map(rows.map(({ key_id, pico }) => [key_id, BigInt(pico)]));
    },
  };
}

function rowOf(row: SummaryRow): UsageRow {
  return {
    group: groupOf[row.grouped]!,
    step: row.step === null ? null : Number(row.step),
    id: row.id,
    requests: Number(row.requests),
    errors: Number(row.errors),
    costPico: BigInt(row.cost_pico),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    firstByteP50Ms: percentileOf(row.first_byte, 0.5),
    firstByteP95Ms: percentileOf(row.first_byte, 0.95),
  };
}
