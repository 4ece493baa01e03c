/** Stores keys that are verified by tokens of other systems. */
import { eq } from 'drizzle-orm';
import type { Database } from '../database.js';
import type { BroughtStore } from '../store.js';
import { storedTerms } from './key-rows.js';
import { keys } from './tables.js';

export function broughtStore(database: Database): BroughtStore {
  return {
    bring: ({ terms, openingPico = 0n, importedFrom = null, ...key }) =>
      database.transaction(async (db, client) => {
        const known = await db.select({ id: keys.id }).from(keys).where(eq(keys.hash, key.hash!)).limit(1);
        if (known.length > 0) return false;
        // The primary key orders parallel calls: one of two with the same token finds it taken.
        const taken = await client.query(
          'insert into lodestone.brought_tokens (hash, key_id) values ($1, $2) on conflict do nothing returning key_id',
          [key.hash, key.id],
        );
        if (taken.rows.length === 0) return false;
        await db.insert(keys).values({ ...key, brought: true, openingPico, importedFrom, terms: storedTerms(terms) });
        return true;
      }),

    async find(hash) {
      const rows = await database.statement<{ key_id: string }>(
        'brought-token',
        'select key_id from lodestone.brought_tokens where hash = $1',
        [hash],
      );
      return rows[0]?.key_id ?? null;
    },

    async any() {
      const rows = await database.statement<{ found: boolean }>(
        'any-brought-token',
        'select exists (select from lodestone.brought_tokens) as found',
        [],
      );
      return rows[0]?.found === true;
    },

    async openingSince(keyId, fromMs) {
      const rows = await database.statement<{ opening_pico: string }>(
        'opening-usage',
        'select opening_pico from lodestone.keys where id = $1 and brought and created_at >= to_timestamp($2::float8 / 1000)',
        [keyId, fromMs],
      );
      return BigInt(rows[0]?.opening_pico ?? 0);
    },
  };
}
