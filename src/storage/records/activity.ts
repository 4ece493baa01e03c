/** Sums of usage by interval and group, with the total of the same rows. */
import type { Database } from '../database.js';
import type { ActivityFigures, ActivityGroup, ActivityQuery, ActivityRow } from '../store.js';
import { percentileOf, percentilesOf } from './histogram.js';
import { holderSql, keyProjectSql } from './usage-columns.js';
import { queryUsage } from './usage-query.js';

const hourMs = 3_600_000;
const firstOwnParameter = 6;

/** What a group is called. Requests that nobody served have no model, provider and locode. */
const groupColumns: Record<ActivityGroup | 'none', string> = {
  none: 'null::text',
  key: 'label',
  project: keyProjectSql,
  model: `split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3)`,
  provider: 'provider',
  locode: 'locode',
  status: 'status::text',
  account: 'account_id',
  holder: holderSql,
  end_user: 'end_user',
};

/**
 * A key is called by its last name; of several in one hour, by the one that it has. Keys that share a name are told apart by their ids.
 */
const keyLabels = `, keys as (
      select key_id, (array_agg(key_name order by last desc, key_name is not distinct from k.name desc, key_name))[1] as name from (
        select series, max(from_hour) as last from parts group by 1
      ) used join series on series.id = used.series left join lodestone.keys k on k.id = key_id group by 1
    ), labels as (
      select key_id, case when count(*) over (partition by name) > 1 then name || ' (' || key_id || ')' else name end as label from keys
    )`;

interface Row extends Omit<ActivityFigures, 'firstByteP50Ms' | 'firstByteP95Ms' | 'tokensPerSecondP50'> {
  is_total: number;
  from_hour: number | null;
  name: string | null;
  first_byte: string;
  speed: string;
}

export async function readActivity(
  history: Database,
  { accountId, fromMs, toMs, interval, groupBy, projects, holder, endUser }: ActivityQuery,
  isError: string,
): Promise<{ rows: ActivityRow[]; total: ActivityFigures }> {
  const hours = interval === 'day' ? 24 : 1;
  const group = groupBy ?? 'none';
  const byKey = group === 'key';
  const select = `${byKey ? keyLabels : ''}, cells as materialized (
      select floor(from_hour / ${hours}.0)::integer * ${hours} as from_hour, ${groupColumns[group]} as name, sum(requests) as requests,
        coalesce(sum(requests) filter (where ${isError}), 0) as errors, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(cost_pico) as cost_pico,
        sum(first_byte_histogram) as first_byte, sum(speed_histogram) as speed
      from parts join series on series.id = parts.series ${byKey ? 'join labels using (key_id)' : ''}
      group by 1, 2 having sum(requests) <> 0
    )
    select grouping(from_hour) as is_total, from_hour, name, coalesce(sum(requests), 0)::bigint as requests,
      coalesce(sum(errors), 0)::bigint as errors, coalesce(sum(prompt_tokens), 0)::bigint as "promptTokens",
      coalesce(sum(completion_tokens), 0)::bigint as "completionTokens", coalesce(sum(cached_tokens), 0)::bigint as "cachedTokens",
      coalesce(sum(cost_pico), 0) as "costPico", coalesce(sum(first_byte), 0)::text as first_byte, coalesce(sum(speed), 0)::text as speed
    from cells group by grouping sets ((from_hour, name), ()) order by 1, 2, 3`;
  const period = { accountId, fromMs, toMs };
  const isOfPeople = group === 'holder' || group === 'end_user' || holder !== undefined || endUser !== undefined;
  const filters = filtersOf({ projects, holder, endUser });
  const rows = await queryUsage<Row>(history, period, {
    parts: [{ source: isOfPeople ? 'generations' : 'rollups', wholeHours: hours, select }],
    ...filters,
  });
  const total = rows.find(({ is_total }) => is_total === 1);
  return {
    rows: rows
      .filter(({ is_total }) => is_total === 0)
      .map((row) => ({ startMs: row.from_hour! * hourMs, group: row.name, ...figuresOf(row) })),
    total: figuresOf(total!),
  };
}

function filtersOf({ projects, holder, endUser }: Pick<ActivityQuery, 'projects' | 'holder' | 'endUser'>) {
  const asked = [
    [projects, (parameter: string) => `${keyProjectSql} = any (${parameter}::text[])`],
    [holder, (parameter: string) => `${holderSql} = ${parameter}::text`],
    [endUser, (parameter: string) => `end_user = ${parameter}::text`],
  ] as const;
  const used = asked.filter(([value]) => value !== undefined);
  if (used.length === 0) return {};
  return {
    filter: used.map(([, sql], at) => sql(`$${firstOwnParameter + at}`)).join(' and '),
    values: used.map(([value]) => value),
  };
}

function figuresOf({ is_total, from_hour, name, first_byte, speed, ...figures }: Row): ActivityFigures {
  const [firstByteP50Ms = null, firstByteP95Ms = null] = percentilesOf(first_byte, [0.5, 0.95]);
  return { ...figures, firstByteP50Ms, firstByteP95Ms, tokensPerSecondP50: percentileOf(speed, 0.5) };
}
