/**
 * Gives the rolling up of late rows a lock of its own. Its number was that of the lock that every process holds while it runs on an
 * external database, so it waited for as long as one ran, and every sum of usage failed at its time limit.
 */
import { figureSums, seriesColumns } from '../records/usage-columns.js';

export const lateRowsLock = `
create or replace function lodestone.roll_up_late(most integer) returns integer language plpgsql as $$
declare
  accounts text[];
  ids text[];
begin
  if not exists (select 1 from lodestone.generations where rolled_up = false) then return 0; end if;
  perform pg_advisory_xact_lock(7316402289);
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
