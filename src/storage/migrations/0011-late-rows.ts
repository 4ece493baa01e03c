/**
 * Finds the generations that an older version has written since, and adds them to the rollups. Their index is empty unless two versions
 * run side by side.
 */
import { figureSums, seriesColumns } from '../records/usage-columns.js';

/** Without blocking those who write. An interrupted build leaves an index that is not valid. */
export const beforeLateRows: readonly string[] = [
  `do $$ begin
    if exists (select 1 from pg_index where indexrelid = to_regclass('lodestone.generations_first_late') and not indisvalid) then
      drop index lodestone.generations_first_late;
    end if;
  end $$`,
  `create index concurrently if not exists generations_first_late on lodestone.generations_first (account_id)
    where rolled_up = false`,
];

export const lateRows = `
create index generations_late on lodestone.generations (account_id) where rolled_up = false;

create function lodestone.roll_up_late(most integer) returns integer language plpgsql as $$
declare
  accounts text[];
  ids text[];
begin
  if not exists (select 1 from lodestone.generations where rolled_up = false) then return 0; end if;
  perform pg_advisory_xact_lock(7316402286);
  select array_agg(late.account_id), array_agg(late.id) into accounts, ids
    from (select account_id, id from lodestone.generations where rolled_up = false limit most) late;
  if ids is null then return 0; end if;
  perform lodestone.add_usage((select json_agg(line) from (
    select ${seriesColumns}, from_hour, ${figureSums}
    from lodestone.generation_usage join unnest(accounts, ids) as late(account_id, id) using (account_id, id)
    group by ${seriesColumns}, from_hour
  ) line));
  update lodestone.generations g set rolled_up = true from unnest(accounts, ids) as late(account_id, id)
    where g.account_id = late.account_id and g.id = late.id;
  return cardinality(ids);
end $$;
`;
