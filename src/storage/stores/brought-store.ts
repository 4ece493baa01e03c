/** Stores keys that are verified by tokens of other systems. */
import type { ApiKey } from '../../domain/account.js';
import type { Database } from '../database.js';
import type { BroughtStore } from '../store.js';
import { storedTerms } from './key-rows.js';
import { jsonWithoutNul } from './tables.js';

const insertTokens = `
insert into lodestone.brought_tokens (hash, key_id) select t.hash, t.id from unnest($1::bytea[], $2::text[]) as t(hash, id)
order by t.hash on conflict do nothing returning key_id`;

const knownHashes = 'select hash from lodestone.keys where hash = any ($1::bytea[])';

/** One parameter for all rows: building a statement with a parameter for each value costs more than running it. */
const insertKeys = `
insert into lodestone.keys (id, account_id, name, last_four, hash, expires_at, created_at, terms, project_id, holder_id, brought,
  imported_from, opening_pico)
select id, account_id, name, last_four, hash, expires_at, created_at, terms, project_id, holder_id, true, imported_from, opening_pico
from json_populate_recordset(null::lodestone.keys, $1::json)`;

function rowOf({ terms, openingPico = 0n, importedFrom = null, hash, expiresAt, ...key }: ApiKey) {
  return {
    ...{ id: key.id, account_id: key.accountId, name: key.name, last_four: key.lastFour },
    ...{ hash: `\\x${hash!.toString('hex')}`, project_id: key.projectId, holder_id: key.holderId },
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    created_at: new Date(key.createdAt).toISOString(),
    ...{ terms: storedTerms(terms), imported_from: importedFrom, opening_pico: openingPico.toString() },
  };
}

export function broughtStore(database: Database): BroughtStore {
  return {
    bring: (brought) =>
      database.transaction(async (_db, client) => {
        const known = await client.query<{ hash: Buffer }>(knownHashes, [brought.map(({ hash }) => hash)]);
        const isKnown = new Set(known.rows.map(({ hash }) => hash.toString('hex')));
        const others = brought.filter(({ hash }) => !isKnown.has(hash!.toString('hex')));
        if (others.length === 0) return new Set();
        // The primary key orders parallel calls: one of two with the same token finds it taken. So does the second of one call.
        const taken = await client.query<{ key_id: string }>(insertTokens, [
          others.map(({ hash }) => hash),
          others.map(({ id }) => id),
        ]);
        const ids = new Set(taken.rows.map(({ key_id }) => key_id));
        const rows = others.filter(({ id }) => ids.has(id)).map(rowOf);
        if (rows.length > 0) await client.query(insertKeys, [jsonWithoutNul(rows)]);
        return ids;
      }),

    find: (hash) =>
      database.value('brought-token', 'select key_id from lodestone.brought_tokens where hash = $1', [hash]),

    any: () => database.hasRow('any-brought-token', 'select 1 from lodestone.brought_tokens limit 1', []),

    async openingSince(keyId, fromMs) {
      const text =
        'select opening_pico from lodestone.keys where id = $1 and brought and created_at >= to_timestamp($2::float8 / 1000)';
      return (await database.value<bigint>('opening-usage', text, [keyId, fromMs])) ?? 0n;
    },
  };
}
