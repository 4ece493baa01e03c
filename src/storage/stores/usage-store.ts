/**
 * Sums over an account's generations. A period is a range of ids, which are ordered by time, so the rows of one account and
 * period are read along the primary key, once for all charts of a page.
 */
import { sql } from 'drizzle-orm';
import { generationIdsFrom } from '../../base/ids.js';
import type { Database } from '../database.js';
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

const summary = `
select grouping(step, served_model, model, provider, locode) as grouped, step,
  coalesce(served_model, model, provider, locode) as id,
  count(*) as requests, count(*) filter (where failed) as errors, coalesce(sum(cost_pico), 0) as cost_pico,
  coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens,
  percentile_disc(0.5) within group (order by first_byte_ms) as p50,
  percentile_disc(0.95) within group (order by first_byte_ms) as p95
from (
  select (created_ms - $4::bigint) / $5::bigint as step, served_model,
    split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3) as model, provider, locode,
    ${isError} as failed, cost_pico, prompt_tokens, completion_tokens, first_byte_ms
  from lodestone.generations where account_id = $1 and id >= $2 and id < $3
) g
group by grouping sets ((), (step), (step, served_model), (model), (provider), (locode))`;

const spentSince = `
select key_id, sum(cost_pico) as pico from lodestone.generations
where account_id = $1 and id >= $2 and billed group by key_id`;

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
select distinct ${column} as value from lodestone.generations
where account_id = $1 and id >= $2 and ${column} is not null order by 1 limit 500`;

interface SummaryRow {
  grouped: number;
  step: string | null;
  id: string | null;
  requests: string;
  errors: string;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  p50: number | null;
  p95: number | null;
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
      const values = [accountId, generationIdsFrom(fromMs), generationIdsFrom(toMs), fromMs, stepMs];
      const query = { name: 'usage-summary', text: summary, values };
      const { rows } = await history.look((_db, client) => client.query<SummaryRow>(query));
      return rows.map(rowOf);
    },

    async facets(accountId, fromMs) {
      const values = [accountId, generationIdsFrom(fromMs)];
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
      const query = { name: 'spent-since', text: spentSince, values: [accountId, generationIdsFrom(fromMs)] };
      const { rows } = await history.look((_db, client) => client.query<{ key_id: string; pico: string }>(query));
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
    firstByteP50Ms: row.p50,
    firstByteP95Ms: row.p95,
  };
}
