/** Stores quota holds by UTC day and sums up the routes' usage of a day. Old days stay: they are a few short rows each. */
import { gte } from 'drizzle-orm';
import type { Database } from '../database.js';
import { queryUsage } from '../records/usage-query.js';
import type { HoldStore } from '../store.js';
import { quotaHolds } from './tables.js';

const tokensOfRoutes = `
  select served_model as route, sum(prompt_tokens + completion_tokens)::bigint as tokens from parts join series on series.id = parts.series
  where billed and served_model is not null group by served_model having sum(requests) <> 0`;

export function holdStore(database: Database): HoldStore {
  return {
    since: (utcDay) => database.query((db) => db.select().from(quotaHolds).where(gte(quotaHolds.utcDay, utcDay))),

    async put({ utcDay, routeId, reason, quotaLifted }) {
      await database.query((db) =>
        db
          .insert(quotaHolds)
          .values({ utcDay, routeId, reason, quotaLifted })
          .onConflictDoUpdate({ target: [quotaHolds.utcDay, quotaHolds.routeId], set: { reason, quotaLifted } }),
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
