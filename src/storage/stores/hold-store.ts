/** Stores quota holds by UTC day and sums up the routes' usage of a day. Old days stay: they are a few short rows each. */
import { gte } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { HoldStore } from '../store.js';
import { quotaHolds } from './tables.js';

/** A day may have millions of rows. The sum runs once, at start, so it may take longer than other queries. */
const sumMs = 60_000;

const tokensOfRoutes = `
  select served_model as route, sum(prompt_tokens + completion_tokens) as tokens from lodestone.generations
  where created_ms >= $1 and created_ms < $2 and billed and served_model is not null group by served_model`;

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

    tokensBetween: (fromMs, toMs) =>
      database.session(async (client) => {
        const query = { text: tokensOfRoutes, values: [fromMs, toMs], query_timeout: sumMs };
        const { rows } = await client.query<{ route: string; tokens: string }>(query);
        return new Map(rows.map(({ route, tokens }) => [route, Number(tokens)]));
      }),
  };
}
