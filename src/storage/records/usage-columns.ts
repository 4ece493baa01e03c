/** The columns of the rollups as lists for SQL. Migrations use them, so a column can be added only by another migration. */

/** What tells one series from another. */
export const seriesColumns =
  'account_id, key_id, key_name, requested_model, served_model, provider, locode, door, billed, status, error_code, stream_end, failed_by';

/** The id of a series, from its columns, as `lodestone.add_usage` makes it. */
export const seriesIdSql = (columns: string): string =>
  `encode(substr(sha256(convert_to(row(${columns})::text, 'UTF8')), 1, 16), 'hex')::uuid`;

/** The project of a series' key: a key never changes it. */
export const keyProjectSql =
  'coalesce((select k.project_id from lodestone.key_projects k where k.id = key_id), lodestone.default_project_of(account_id))';

/** Of generations, beside the columns of their series. */
export const personColumns = 'holder_id, end_user';

/** The id of the person who held the key, as others see it. */
export const holderSql = `regexp_replace(holder_id, '^acct-', 'per-')`;

/** The model of a request: the one that served it, else the one that was asked for, without provider and region. */
export const modelSql = `case when served_model is not null then split_part(served_model, '/', 2) || '/' || split_part(served_model, '/', 3)
  when requested_model like '%/%/%' then split_part(requested_model, '/', 2) || '/' || split_part(requested_model, '/', 3)
  else requested_model end`;

const figureColumns = [
  ...['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens', 'cost_pico', 'latency_ms'],
  ...['first_byte_histogram', 'latency_histogram', 'speed_histogram'],
] as const;

export const figureNames = figureColumns.join(', ');

/** The figures that the sums of reports have. */
export const sumFigureNames =
  'requests, prompt_tokens, completion_tokens, cached_tokens, cost_pico, first_byte_histogram';

/** The sums of all figures, under the same names. */
export const figureSums = figureColumns.map((column) => `sum(${column}) as ${column}`).join(', ');

/** The figures of generations that a sum of whole hours has too much are taken off: `sign` is -1 for those. */
export const signedFigures = figureColumns.map((column) => `sign * ${column} as ${column}`).join(', ');
