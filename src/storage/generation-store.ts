/** The usage history of an account, newest first (contract 4.6). */
import { and, desc, eq, lt, or } from 'drizzle-orm';
import type { Database } from './database.js';
import { generations } from './schema.js';
import type { GenerationStore } from './store.js';

export function generationStore(database: Database): GenerationStore {
  return {
    async find(accountId, id) {
      const rows = await database.query((db) =>
        db
          .select()
          .from(generations)
          .where(and(eq(generations.accountId, accountId), eq(generations.id, id))),
      );
      return rows[0] ?? null;
    },

    async list({ accountId, limit, after, key, model }) {
      const rows = await database.query((db) =>
        db
          .select()
          .from(generations)
          .where(
            and(
              eq(generations.accountId, accountId),
              after === undefined ? undefined : lt(generations.id, after),
              key === undefined ? undefined : or(eq(generations.keyName, key), eq(generations.keyId, key)),
              model === undefined
                ? undefined
                : or(eq(generations.requestedModel, model), eq(generations.servedModel, model)),
            ),
          )
          .orderBy(desc(generations.id))
          .limit(limit + 1),
      );
      return { data: rows.slice(0, limit), hasMore: rows.length > limit };
    },
  };
}
