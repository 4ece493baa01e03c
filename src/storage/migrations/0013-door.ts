/** A generation keeps the client API that its request came by, and the rollups follow it. Null is chat completions. */
import { histogramSql } from '../records/histogram.js';

/** What each generation adds to the rollups. A later migration may add columns at its end. */
export const generationUsageView = (more = ''): string => `create or replace view lodestone.generation_usage as
  select id, created_ms, rolled_up, account_id, key_id, key_name, requested_model, served_model, provider, locode,
    coalesce(door, 'chat') as door, billed, status, error_code, stream_end,
    case when served_model is null then providers_attempted end as failed_by,
    floor(created_ms / 3600000.0)::integer as from_hour, 1::bigint as requests, prompt_tokens, completion_tokens, cached_tokens,
    reasoning_tokens, case when billed then cost_pico else 0 end as cost_pico, floor(latency_ms)::bigint as latency_ms,
    coalesce(${histogramSql('first_byte_ms')}, 0) as first_byte_histogram,
    coalesce(${histogramSql('latency_ms')}, 0) as latency_histogram,
    coalesce(${histogramSql(
      'case when billed and completion_tokens > 0 and latency_ms > 0 then completion_tokens * 1000.0::float8 / latency_ms end',
    )}, 0) as speed_histogram${more}
  from lodestone.generations;
`;

export const door = `
alter table lodestone.generations add column door text;

${generationUsageView()}`;
