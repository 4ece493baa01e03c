/** Stores keys that are verified by tokens of other systems. */
import { inArray } from 'drizzle-orm';
import type { ApiKey } from '../../domain/account.js';
import type { Database } from '../database.js';
import type { BroughtStore } from '../store.js';
import { storedTerms } from './key-rows.js';
import { keys } from './tables.js';

const insertTokens = `
insert into lodestone.brought_tokens (hash, key_id) select t.hash, t.id from unnest($1::bytea[], $2::text[]) as t(hash, id)
order by t.hash on conflict do nothing returning key_id`;

function rowOf({ terms, openingPico = 0n, importedFrom = null, ...key }: ApiKey): typeof keys.$inferInsert {
  return { ...key, brought: true, openingPico, importedFrom, terms: storedTerms(terms) };
}

export function broughtStore(database: Database): BroughtStore {
  return {
    bring: (brought) =>
      database.transaction(async (db, client) => {
        const hashes = brought.map(({ hash }) => hash!);
        const known = await db.select({ hash: keys.hash }).from(keys).where(inArray(keys.hash, hashes));
        const isKnown = new Set(known.map(({ hash }) => hash!.toString('hex')));
        const others = brought.filter(({ hash }) => !isKnown.has(hash!.toString('hex')));
        if (others.length === 0) return new Set();
        // The primary key orders parallel calls: one of two with the same token finds it taken. So does the second of one call.
        const taken = await client.query<{ key_id: string }>(insertTokens, [
          others.map(({ hash }) => hash),
          others.map(({ id }) => id),
        ]);
        const ids = new Set(taken.rows.map(({ key_id }) => key_id));
        const rows = others.filter(({ id }) => ids.has(id)).map(rowOf);
        if (rows.length > 0) await db.insert(keys).values(rows);
        return ids;
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
