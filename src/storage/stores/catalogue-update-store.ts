/** Stores the updates of the catalogue, for all processes. The last five are kept. */
import type { Database } from '../database.js';
import type { CatalogueLook, CatalogueUpdateStore, StoredUpdate } from '../store.js';

const keptMax = 5;

const put = `
insert into lodestone.catalogue_updates (version, part, note, body, applied_ms, in_use) values ($1, $2, $3, $4, $5, true)
on conflict (version) do update set part = excluded.part, note = excluded.note, body = excluded.body,
  applied_ms = excluded.applied_ms, in_use = true`;

const removeOldest = `
delete from lodestone.catalogue_updates where not in_use and version not in (
  select version from lodestone.catalogue_updates order by in_use desc, version desc limit $1)`;

export function catalogueUpdateStore(database: Database): CatalogueUpdateStore {
  return {
    kept: () =>
      database.statement(
        'catalogue-updates',
        'select version, part, applied_ms as "appliedMs", in_use as "inUse" from lodestone.catalogue_updates order by version desc',
        [],
      ),

    find: (version) =>
      database.one(
        'catalogue-update',
        `select version, part, applied_ms as "appliedMs", note, body from lodestone.catalogue_updates
         where case when $1::text is null then in_use else version = $1 end`,
        [version ?? null],
      ),

    use: (update: StoredUpdate | null, before) =>
      database.transaction(async (_db, client) => {
        await client.query('lock table lodestone.catalogue_updates in share row exclusive mode');
        const used = await client.query<{ version: string }>(
          'select version from lodestone.catalogue_updates where in_use',
        );
        if ((used.rows[0]?.version ?? null) !== before) return false;
        await client.query('update lodestone.catalogue_updates set in_use = false where in_use');
        if (update) {
          const { version, part, note, body, appliedMs } = update;
          await client.query(put, [version, part, note, body, appliedMs]);
        }
        await client.query(removeOldest, [keptMax]);
        return true;
      }),

    takeLook: (nowMs, everyMs) =>
      database.hasRow(
        'catalogue-look',
        'update lodestone.catalogue_looks set next_ms = $1::bigint + $2 where next_ms <= $1::bigint returning only_one',
        [nowMs, everyMs],
      ),

    async reportLook(look, againMs) {
      await database.statement(
        'catalogue-look-report',
        'update lodestone.catalogue_looks set report = $1, next_ms = coalesce($2, next_ms)',
        [JSON.stringify(look), againMs ?? null],
      );
    },

    async lastLook() {
      const text = 'select report from lodestone.catalogue_looks';
      const report = await database.value<string>('catalogue-last-look', text, []);
      return report === null ? null : (JSON.parse(report) as CatalogueLook);
    },
  };
}
