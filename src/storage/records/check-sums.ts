/** Compares the sums of reports with the rollups of the hours that they cover, for the check of the store. */
import { type SumKind, sumLengths } from './sums.js';

/** What a kind of sum is compared by, in the words of the series. */
const placeOf: Record<SumKind, string> = {
  account_steps: 's.account_id',
  account_routes: `s.account_id || ' route ' || coalesce(s.served_model, 'none')`,
  account_keys: `s.account_id || ' key ' || s.key_id`,
  all_steps: `'all accounts'`,
  all_routes: `'all accounts, route ' || coalesce(s.served_model, 'none')`,
};

const figures = `row(sum(requests), sum(cost_pico), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(first_byte_histogram))`;

function comparison(kind: SumKind, hours: number): { what: string; sql: string } {
  return {
    what: `sums of ${hours} hours and rollups (${kind.replace('_', ' ')})`,
    sql: `select place || ' hour ' || from_hour as place, r.figures::text as expected, u.figures::text as found
      from (
        select ${placeOf[kind]} as place, r.from_hour / ${hours} * ${hours} as from_hour, ${figures} as figures
        from lodestone.usage_rollups r join lodestone.usage_series s on s.id = r.series
        where r.hours = 1 and r.from_hour < (select sums_before from lodestone.records_state) group by 1, 2
      ) r full join (
        select ${placeOf[kind]} as place, u.from_hour, ${figures} as figures
        from lodestone.usage_sums u join lodestone.usage_sum_series s on s.id = u.series
        where u.kind = '${kind}' and u.hours = ${hours} group by 1, 2
      ) u using (place, from_hour)
      where r.figures is distinct from u.figures`,
  };
}

export const sumComparisons = Object.keys(placeOf).flatMap((kind) =>
  sumLengths.map((hours) => comparison(kind as SumKind, hours)),
);
