/** Stores which models are off, and quota holds by UTC day, and sums up the routes' usage of a day. Old days stay: they are a few short rows each. */

import type { ModelAvailability } from '../../catalogue/route.js';
import type { Database } from '../database.js';
import { queryUsage } from '../records/usage-query.js';
import type { AvailabilityStore, HoldStore } from '../store.js';
import { withoutNul } from './tables.js';

const tokensOfRoutes = `
  select served_model as route, sum(prompt_tokens + completion_tokens)::bigint as tokens from parts join series on series.id = parts.series
  where billed and served_model is not null group by served_model having sum(requests) <> 0`;

export function holdStore(database: Database): HoldStore {
  return {
    since: (utcDay) =>
      database.statement(
        'holds',
        `select utc_day as "utcDay", route_id as "routeId", reason, quota_lifted as "quotaLifted"
         from lodestone.quota_holds where utc_day >= $1`,
        [utcDay],
      ),

    async put({ utcDay, routeId, reason, quotaLifted }) {
      await database.statement(
        'put-hold',
        `insert into lodestone.quota_holds (utc_day, route_id, reason, quota_lifted) values ($1, $2, $3, $4)
         on conflict (utc_day, route_id) do update set reason = excluded.reason, quota_lifted = excluded.quota_lifted`,
        [utcDay, routeId, reason, quotaLifted],
      );
    },

    async tokensBetween(fromMs, toMs) {
      const period = { accountId: null, fromMs, toMs };
      const rows = await queryUsage<{ route: string; tokens: number }>(database, period, {
        parts: [{ source: 'all_routes', wholeHours: 240, select: tokensOfRoutes }],
      });
      return new Map(rows.map(({ route, tokens }) => [route, tokens]));
    },
  };
}

export function availabilityStore(database: Database): AvailabilityStore {
  return {
    async all() {
      const text = 'select canonical_id as id, state, reason from lodestone.model_availability';
      const rows = await database.statement<ModelAvailability & { id: string }>('availability', text, []);
      return new Map(rows.map(({ id, ...availability }) => [id, availability]));
    },

    async set(canonicalId, { state, reason }) {
      await database.statement(
        'set-availability',
        `insert into lodestone.model_availability (canonical_id, state, reason) values ($1, $2, $3)
         on conflict (canonical_id) do update set state = excluded.state, reason = excluded.reason`,
        [canonicalId, state, reason && withoutNul(reason)],
      );
    },
  };
}
