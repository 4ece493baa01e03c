/** Stores the names that the operator gives to models, for all processes. */
import {
  definitionOf,
  modelNameOf,
  type NameDefinition,
  namesMax,
  type StoredName,
} from '../../catalogue/model-name.js';
import type { Database } from '../database.js';
import type { NameStore } from '../store.js';

interface NameRow {
  name: string;
  definition: NameDefinition;
  createdAt: number;
  updatedAt: number;
  version: string;
}

const columns = (table: string) =>
  `${table}.name, ${table}.definition, ${table}.created_ms as "createdAt", ${table}.updated_ms as "updatedAt", ${table}.version::text`;

/** One statement, so that the number and the rows are of the same moment. */
const readChanged = `
select ${columns('n')}, t.total
from (select count(*)::int as total from lodestone.names) t
left join lodestone.names n on n.version > $1 order by n.version`;

const put = `
insert into lodestone.names (name, definition, created_ms, updated_ms, version)
values ($1, $2, $3, $3, nextval('lodestone.names_version'))
on conflict (name) do update set definition = excluded.definition, updated_ms = excluded.updated_ms, version = excluded.version
returning ${columns('names')}`;

export function nameStore(database: Database): NameStore {
  return {
    async changedSince(version) {
      const rows = await database.statement<NameRow & { name: string | null; total: number }>(
        'names-since',
        readChanged,
        [version],
      );
      const found = rows.filter((row) => row.name !== null);
      return {
        names: found.map(storedOf),
        total: rows[0]?.total ?? 0,
        version: found.at(-1)?.version ?? version,
      };
    },

    put: (name, nowMs) =>
      database.transaction(async (_db, client) => {
        // Versions become visible in their order, so that nobody who reads from a version on misses an earlier one.
        await client.query('lock table lodestone.names in share row exclusive mode');
        const { rows } = await client.query<{ others: number }>(
          'select count(*)::int as others from lodestone.names where name <> $1',
          [name.name],
        );
        if ((rows[0]?.others ?? 0) >= namesMax) return null;
        const values = [name.name, JSON.stringify(definitionOf(name)), nowMs];
        const stored = await client.query<NameRow>(put, values);
        return storedOf(stored.rows[0]!);
      }),

    delete: (name) =>
      database.hasRow('delete-name', 'delete from lodestone.names where name = $1 returning name', [name]),
  };
}

function storedOf({ name, definition, createdAt, updatedAt }: NameRow): StoredName {
  return { ...modelNameOf(name, definition), createdAt, updatedAt };
}
