/** Stores the facts of the catalogue in force and the changes of every load. */
import type { CatalogueChange } from '../../catalogue/changes.js';
import type { Facts, FactValue } from '../../catalogue/facts.js';
import type { Database } from '../database.js';
import { lockNumbers } from '../lock-numbers.js';
import type { CatalogueLog, RecordedChange } from '../store.js';

const insertChanges = `
insert into lodestone.catalogue_changes
  (at_ms, position, digest, kind, id, field, from_value, to_value, source, as_of, model, provider)
select $1, position, $2, kind, id, field, from_value, to_value, source, as_of, model, provider
from json_to_recordset($3::json) as c(position integer, kind text, id text, field text, from_value text, to_value text,
  source text, as_of text, model text, provider text)`;

const selectChanges = `
select at_ms as "atMs", position, digest, kind, id, field, from_value as "from", to_value as "to", source, as_of as "asOf"
from lodestone.catalogue_changes
where ($1::text is null or model = $1 or (model is null and (provider = any($5::text[]) or id = any($6::text[]))))
  and ($2::text is null or provider = $2)
order by at_ms desc, position limit $3 offset $4`;

interface ChangeRow extends Omit<RecordedChange, 'from' | 'to'> {
  from: string | null;
  to: string | null;
}

export function catalogueLog(database: Database): CatalogueLog {
  return {
    record: ({ digest, text, atMs, changesSince }) =>
      database.transaction(async (_db, client) => {
        // One load at a time, also where nothing is recorded yet.
        await client.query('select pg_advisory_xact_lock($1)', [lockNumbers.catalogueLoads]);
        const state = await client.query<{ digest: string; facts: string; at_ms: number }>(
          'select digest, facts, at_ms from lodestone.catalogue_state',
        );
        const before = state.rows[0];
        if (before?.digest === digest) return 0;
        // Two loads never have the same time, whatever the clocks of two machines say.
        const at = before ? Math.max(atMs, before.at_ms + 1) : atMs;
        const changes = before ? changesSince(JSON.parse(before.facts) as Partial<Facts>) : [];
        await client.query(
          `insert into lodestone.catalogue_state (digest, facts, at_ms) values ($1, $2, $3)
           on conflict (only_one) do update set digest = excluded.digest, facts = excluded.facts, at_ms = excluded.at_ms`,
          [digest, text, at],
        );
        if (changes.length > 0)
          await client.query(insertChanges, [at, digest, JSON.stringify(changes.map(changeLine))]);
        return changes.length;
      }),

    async changes({ limit, offset, model = null, provider = null, related = { providers: [], locodes: [] } }) {
      const values = [model, provider, limit + 1, offset, related.providers, related.locodes];
      const rows = await database.statement<ChangeRow>('catalogue-changes', selectChanges, values);
      return { data: rows.slice(0, limit).map(changeOf), hasMore: rows.length > limit };
    },
  };
}

function changeLine({ kind, id, field, from, to, source, asOf }: CatalogueChange, position: number) {
  return {
    ...{ position, kind, id, field, source, as_of: asOf, ...subjectOf(kind, id) },
    from_value: JSON.stringify(from),
    to_value: JSON.stringify(to),
  };
}

/** The model and the provider that a change is about, for the filters. */
function subjectOf(kind: CatalogueChange['kind'], id: string): { model: string | null; provider: string | null } {
  const [first = '', second, third, fourth] = id.split('/');
  if (fourth !== undefined) return { provider: first, model: `${second}/${third}` };
  if (second !== undefined) return { provider: null, model: id };
  return { provider: kind === 'jurisdiction' || kind === 'terms' ? first : null, model: null };
}

function changeOf({ from, to, ...row }: ChangeRow): RecordedChange {
  return { ...row, from: parseValue(from), to: parseValue(to) };
}

function parseValue(text: string | null): FactValue | null {
  return text === null ? null : (JSON.parse(text) as FactValue | null);
}
