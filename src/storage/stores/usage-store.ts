/** Sums of an account's usage, from the rollups. Percentiles come from histograms, so they are true to within a twentieth. */
import { sql } from 'drizzle-orm';
import { generationIdsFrom } from '../../base/ids.js';
import type { Database } from '../database.js';
import { readActivity } from '../records/activity.js';
import { readReport } from '../records/report.js';
import { keyProjectSql } from '../records/usage-columns.js';
import { queryUsage } from '../records/usage-query.js';
import type { BilledLine, OwnSpent, ReportRow, UsageGroup, UsageRow, UsageStore } from '../store.js';

/** A response of 4xx or 5xx, except for a client that disconnected (499), or a stream that did not complete. */
const isError = `((status >= 400 and status <> 499) or coalesce(stream_end in ('cut', 'stalled', 'pricing_fault'), false))`;
export const isErrorSql = sql.raw(isError);

const spentSince = `
select key_id, sum(cost_pico) as pico from parts join series on series.id = parts.series
where billed group by key_id having sum(requests) <> 0`;

/** What caps count beyond the fees of own credentials, and their list price. The periods of keys begin with a day. */
const ownSpending = `
select key_id, sum(extra_pico) as "extraPico", sum(own_pico) as "listPico" from lodestone.own_spending where account_id = $1 and day >= $2
group by key_id`;

/** By account, because the primary key begins with it: so only the rows of the period are read. */
const billedLines = `
select g.served_model as "routeId", line.name, sum(line.count)::float8 as count, sum(line.cost) as "costPico"
from lodestone.accounts a
join lodestone.generations g on g.account_id = a.id and g.id >= $2 and g.id < $3
cross join lateral (
  select 'requests' as name, 1::numeric as count, 0::numeric as cost
  union all select 'unrecorded', 1, g.cost_pico where g.bill is null
  union all select l.value ->> 0, (l.value ->> 1)::numeric, (l.value ->> 1)::numeric * (l.value ->> 2)::numeric
    from json_array_elements(g.bill::json -> 'lines') l
) line
where g.provider = $1 and g.billed and g.served_model is not null
  and case $4::text when 'operator' then g.credential_id is null when 'own' then g.credential_id is not null else g.credential_id = $4 end
group by 1, 2 order by 1, 2`;

type FacetName = 'keys' | 'models' | 'providers';
/** More cannot be chosen from. */
const facetMax = 500;

/** What the series stand for that have rows in the period. Their figures are not read. */
const facetOf = (values: string) => `
select distinct facet, value from (select distinct series from parts) used join series on series.id = used.series
cross join lateral (values ${values}) as facets(facet, value) where value is not null`;
const keyFacets = facetOf(`('keys', key_name)`);
const routeFacets = facetOf(`('models', requested_model), ('providers', provider)`);

const dayMs = 86_400_000;
const longestHours = 240;
const longestMs = longestHours * 3_600_000;
/** A whole day, later than any generation, whose hours are still a small whole number. */
const endOfTime = 40_000 * dayMs;

export function usageStore(history: Database): UsageStore {
  const ownSince = async (accountId: string, fromMs: number) => {
    const values = [accountId, Math.floor(fromMs / dayMs)];
    const rows = await history.statement<OwnSpent & { key_id: string }>('own-spending', ownSpending, values);
    return new Map(rows.map(({ key_id, ...spent }) => [key_id, spent]));
  };
  return {
    ownSince,

    async summary({ projects, ...period }) {
      const rows = await readReport(
        history,
        { ...period, groups: ['model', 'provider', 'locode'], filter: projects ? { projects } : {}, routes: true },
        isError,
      );
      return summaryOf(rows);
    },

    activity: (query) => readActivity(history, query, isError),

    report: (query) => readReport(history, query, isError),

    async facets(accountId, fromMs, toMs, projects) {
      // Whole parts of the longest sums at the start, and whole days at the end, so that few rows are read.
      const whole = { fromMs: Math.floor(fromMs / longestMs) * longestMs, toMs: Math.ceil(toMs / dayMs) * dayMs };
      const rows = await queryUsage<{ facet: FacetName; value: string }>(
        history,
        { accountId, ...whole },
        {
          parts: [
            { source: 'account_keys', wholeHours: longestHours, select: keyFacets },
            { source: projects ? 'rollups' : 'account_routes', wholeHours: longestHours, select: routeFacets },
          ],
          ...(projects && { filter: `${keyProjectSql} = any ($6::text[])`, values: [projects] }),
        },
      );
      const read = (name: FacetName) =>
        rows
          .filter(({ facet }) => facet === name)
          .map(({ value }) => value)
          .sort()
          .slice(0, facetMax);
      return { keys: read('keys'), models: read('models'), providers: read('providers') };
    },

    async billedLines({ provider, fromMs, toMs, credential }) {
      const values = [provider, generationIdsFrom(fromMs), generationIdsFrom(toMs), credential];
      const query = { name: 'billed-lines', text: billedLines, values };
      return (await history.look((_db, client) => client.query<BilledLine>(query))).rows;
    },

    async spentSince(accountId, fromMs) {
      const period = { accountId, fromMs, toMs: endOfTime };
      const rows = await queryUsage<{ key_id: string; pico: bigint }>(history, period, {
        parts: [{ source: 'account_keys', wholeHours: longestHours, select: spentSince }],
      });
      const spent = new Map(rows.map(({ key_id, pico }) => [key_id, pico]));
      for (const [id, { extraPico }] of await ownSince(accountId, fromMs))
        spent.set(id, (spent.get(id) ?? 0n) + extraPico);
      return spent;
    },
  };
}

/** The groups of a report that a summary has, under its own names. */
const summaryGroups: Partial<Record<ReportRow['group'], UsageGroup>> = {
  ...{ period: 'period', step: 'step', step_intensity: 'intensity', route: 'route' },
  ...{ model: 'model', provider: 'provider', locode: 'region' },
};

const nothing: UsageRow = {
  ...{
    group: 'period',
    step: null,
    id: null,
    requests: 0,
    errors: 0,
    costPico: 0n,
    promptTokens: 0,
    completionTokens: 0,
  },
  ...{ firstByteP50Ms: null, firstByteP95Ms: null },
};

/** The row of the period is there even where nothing was requested. */
function summaryOf(rows: readonly ReportRow[]): UsageRow[] {
  const found = rows.flatMap(({ group, cachedTokens: _, ...row }) => {
    const named = summaryGroups[group];
    return named === undefined ? [] : [{ group: named, ...row }];
  });
  return found.some(({ group }) => group === 'period') ? found : [nothing, ...found];
}
