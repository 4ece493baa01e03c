/** Sums of filtered usage for the dashboard: of the period, by step, by grid intensity in a step, by route, and by each group that is asked for. */
import type { Database } from '../database.js';
import type { ReportFilter, ReportGroup, ReportQuery, ReportRow } from '../store.js';
import { percentilesOf } from './histogram.js';
import { holderSql, keyProjectSql, modelSql } from './usage-columns.js';
import { queryUsage, type UsagePart } from './usage-query.js';
import type { UsageSource } from './usage-spans.js';

const hourMs = 3_600_000;
/** The number of the first parameter that a query may use for itself. */
const firstOwn = 6;
/** The lengths of rows that a step may consist of, longest first. */
const lengths = [240, 24, 6, 1];
const longest = 240;

const groupColumns: Record<ReportGroup | 'route' | 'failed_by', string> = {
  route: 'served_model',
  failed_by: 'failed_by',
  account: 'account_id',
  key: 'key_name',
  project: 'key_project',
  model: modelSql,
  provider: 'provider',
  locode: 'locode',
  status: 'status::text',
  holder: holderSql,
  end_user: 'end_user',
};

/** Always the same parameters, from the number `first` on, so that a statement does not depend on what is filtered by. */
const filterSql = (isError: string, first: number, isOfPeople: boolean) => {
  const [key, model, provider, locode, served, failed, status, projects, forModel, holder, endUser] = Array.from(
    { length: 11 },
    (_, i) => `$${first + i}`,
  );
  const canonical = (column: string) =>
    `(${model} not like 'alias/%' and ${model} like '%/%' and ${model} not like '%/%/%'
      and split_part(${column}, '/', 2) || '/' || split_part(${column}, '/', 3) = ${model})`;
  return `(${key}::text is null or key_name = ${key} or key_id = ${key})
    and (${model}::text is null or requested_model = ${model} or served_model = ${model}
      or ${canonical('requested_model')} or ${canonical('served_model')})
    and (${provider}::text is null or provider = ${provider}) and (${locode}::text is null or locode = ${locode})
    and (${served}::boolean is null or (provider is not null) = ${served})
    and (${failed}::boolean is null or ${isError} = ${failed}) and (${status}::integer is null or status = ${status})
    and (${projects}::text[] is null or ${keyProjectSql} = any (${projects}))
    and (${forModel}::text is null or ${modelSql} = ${forModel})${
      isOfPeople
        ? ` and (${holder}::text is null or ${holderSql} = ${holder}) and (${endUser}::text is null or end_user = ${endUser})`
        : ''
    }`;
};

function filterValues(filter: ReportFilter, isOfPeople: boolean): unknown[] {
  const { key, model, provider, locode, served, status, projects, forModel, holder, endUser } = filter;
  const failed = typeof status === 'string' ? status === 'error' : null;
  const values = [key, model, provider, locode, served];
  return [
    ...values.map((value) => value ?? null),
    failed,
    typeof status === 'number' ? status : null,
    projects ?? null,
    forModel ?? null,
    ...(isOfPeople ? [holder ?? null, endUser ?? null] : []),
  ];
}

interface Row extends Omit<ReportRow, 'firstByteP50Ms' | 'firstByteP95Ms'> {
  first_byte: string | null;
}

/**
 * All sums are of one moment, so that groups add up to the period. Those by grid intensity are weights, which nobody adds up, and take as
 * long as all others: the store reads them at the same time.
 */
export async function readReport(history: Database, query: ReportQuery, isError: string): Promise<ReportRow[]> {
  const { intensities } = query;
  const [sums, weights] = await Promise.all([
    readParts(history, query, { parts: partsOf(query, isError), isError, more: [] }),
    intensities
      ? readParts(history, query, {
          parts: [intensitiesPart(query)],
          isError,
          more: [[...intensities.keys()], [...intensities.values()].map(String)],
        })
      : [],
  ]);
  return [...sums, ...weights].map(rowOf);
}

interface Parts {
  readonly parts: readonly UsagePart[];
  readonly isError: string;
  /** Parameters besides the length of a step. */
  readonly more: readonly unknown[];
}

function readParts(history: Database, query: ReportQuery, { parts, isError, more }: Parts): Promise<Row[]> {
  const { accountId, fromMs, toMs, stepMs, filter } = query;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const own = [stepMs, ...more];
  const values = [...own, ...(isFiltered ? filterValues(filter, isOfPeople(query)) : [])];
  return queryUsage<Row>(
    history,
    { accountId, fromMs, toMs },
    {
      parts,
      filter: isFiltered ? filterSql(isError, firstOwn + own.length, isOfPeople(query)) : undefined,
      values,
    },
  );
}

/** The longest rows that a step may consist of. */
function stepHours({ fromMs, toMs, stepMs }: ReportQuery): number {
  const isOneStep = stepMs >= toMs - fromMs;
  const isWhole = (ms: number) => stepMs % ms === 0 && fromMs % ms === 0;
  return lengths.find((hours) => isOneStep || isWhole(hours * hourMs)) ?? 1;
}

/** The groups that the sums by key tell apart. */
const ofKeys: readonly ReportGroup[] = ['key', 'project', 'account', 'holder', 'end_user'];

/** No sum tells people apart. */
const isOfPeople = ({ groups, filter: { holder, endUser } }: Pick<ReportQuery, 'groups' | 'filter'>): boolean =>
  holder !== undefined || endUser !== undefined || groups.includes('holder') || groups.includes('end_user');

/** Each part reads the coarsest sums that tell apart what it groups and filters by. */
function partsOf(query: ReportQuery, isError: string): UsagePart[] {
  const groups = [...new Set(query.groups)].sort();
  const byKey: readonly ReportGroup[] = groups.filter((group) => ofKeys.includes(group));
  const byRoute = groups.filter((group) => !byKey.includes(group));
  const { steps, routes, keys } = sourcesOf(query, byKey.length > 0);
  const parts: UsagePart[] = [{ source: steps, wholeHours: stepHours(query), select: selectSteps(isError) }];
  if (query.routes || byRoute.length > 0) {
    const select = selectGroups(['route', 'failed_by', ...byRoute], isError);
    parts.push({ source: routes, wholeHours: longest, select });
  }
  if (byKey.length > 0) parts.push({ source: keys, wholeHours: longest, select: selectGroups(byKey, isError) });
  return parts;
}

/** Steps, routes and keys all have the status. Where something else is filtered by, one source must have all that is asked for. */
function sourcesOf(query: ReportQuery, byKey: boolean): Record<'steps' | 'routes' | 'keys', UsageSource> {
  if (isOfPeople(query)) return { steps: 'generations', routes: 'generations', keys: 'generations' };
  const { status: _, ...filter } = query.filter;
  const { accountId } = query;
  const routes = accountId === null ? 'all_routes' : 'account_routes';
  if (Object.values(filter).every((value) => value === undefined)) {
    return { steps: accountId === null ? 'all_steps' : 'account_steps', routes, keys: 'account_keys' };
  }
  const { key, projects, ...others } = filter;
  const isOfKeys = key !== undefined || projects !== undefined;
  // The sums by key hold all that such a filter needs, but for the routes.
  if (isOfKeys && Object.values(others).every((value) => value === undefined))
    return { steps: 'account_keys', routes: 'rollups', keys: 'account_keys' };
  const source = isOfKeys || byKey ? 'rollups' : routes;
  return { steps: source, routes: source, keys: source };
}

const sumsOf = (isError: string) =>
  [
    `sum(requests)::bigint as requests, coalesce(sum(requests) filter (where ${isError}), 0)::bigint as errors`,
    `sum(cost_pico) as "costPico", sum(prompt_tokens)::bigint as "promptTokens"`,
    `sum(completion_tokens)::bigint as "completionTokens", sum(cached_tokens)::bigint as "cachedTokens"`,
  ].join(', ');

const step = 'greatest(from_hour::bigint * 3600000 - $2::bigint, 0) / $6::bigint';

/** The period and its steps. */
function selectSteps(isError: string): string {
  return `select case grouping(step) when 1 then 'period' else 'step' end as "group", step, null::text as id, ${sumsOf(isError)},
      sum(first_byte_histogram)::text as first_byte
    from (select *, ${step} as step from parts) stepped join series on series.id = stepped.series
    group by grouping sets ((), (step)) having sum(requests) <> 0`;
}

/** The routes of a step are as many as those of the period, so they are summed by their grid intensity. Only weights are read of them. */
function intensitiesPart(query: ReportQuery): UsagePart {
  return { source: sourcesOf(query, false).routes, wholeHours: stepHours(query), select: selectIntensities };
}

const selectIntensities = `select 'step_intensity' as "group", step, intensity as id, sum(requests)::bigint as requests, 0 as errors,
      0::numeric as "costPico", sum(prompt_tokens)::bigint as "promptTokens", sum(completion_tokens)::bigint as "completionTokens",
      0 as "cachedTokens", null::text as first_byte
    from (select *, ${step} as step from parts) stepped
    join (
      select series.*, known.intensity from series
      left join unnest($7::text[], $8::text[]) as known(route, intensity) on known.route = series.served_model
    ) series on series.id = stepped.series
    group by step, intensity having sum(requests) <> 0`;

const withProjects = `(select *, ${keyProjectSql} as key_project from series) series`;

/** The members of groups over the whole period. Each series is summed first, because there are few. */
function selectGroups(groups: readonly (keyof typeof groupColumns)[], isError: string): string {
  const columns = groups.map((group) => groupColumns[group]);
  const names = groups.map((name, i) => `when ${2 ** groups.length - 1 - 2 ** (groups.length - 1 - i)} then '${name}'`);
  return `select case grouping(${columns.join(', ')}) ${names.join(' ')} end, null::bigint, coalesce(${columns.join(', ')}),
      ${sumsOf(isError)}, ${groups.includes('route') ? 'case when grouping(served_model) = 1 then sum(first_byte)::text end' : 'sum(first_byte)::text'}
    from (
      select series, sum(requests) as requests, sum(cost_pico) as cost_pico, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(first_byte_histogram) as first_byte
      from parts group by series
    ) summed join ${groups.includes('project') ? withProjects : 'series'} on series.id = summed.series
    group by grouping sets (${columns.map((column) => `(${column})`).join(', ')}) having sum(requests) <> 0`;
}

function rowOf({ first_byte, ...row }: Row): ReportRow {
  const [firstByteP50Ms = null, firstByteP95Ms = null] =
    first_byte === null ? [] : percentilesOf(first_byte, [0.5, 0.95]);
  return { ...row, firstByteP50Ms, firstByteP95Ms };
}
