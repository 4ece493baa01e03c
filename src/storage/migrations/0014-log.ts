/**
 * Creates the log of receipts: its state, its hash tiles, its keys, the receipts, and the queue of generations that it does not have yet.
 * A trigger fills the queue, so rows of an older version are in it too. `old_before_ms` is for the generations of before: those created
 * earlier may be neither in the queue nor in the log; null where none is. `old_from_ms` is where to stop; null for the oldest. `again_at` is
 * when the newest are looked at once more, because a settlement under way does not see that the queue was switched on. `set_aside` says why
 * a generation cannot be made into a receipt.
 */
export const log = `
create table lodestone.log_state (
  only_one boolean primary key default true check (only_one),
  active boolean not null,
  old_before_ms bigint,
  old_from_ms bigint,
  again_at timestamptz,
  origin text,
  salt bytea,
  size bigint not null,
  root bytea not null,
  checkpoint text,
  sealed_at timestamptz
);
insert into lodestone.log_state (active, old_before_ms, size, root)
select true, case when exists (select 1 from lodestone.generations) then 9007199254740991 end, 0, sha256(''::bytea);

create table lodestone.log_keys (
  verifier_key text primary key,
  from_at timestamptz not null default now(),
  to_at timestamptz
);

create table lodestone.log_tiles (
  level smallint not null,
  tile bigint not null,
  hashes bytea not null,
  primary key (level, tile)
);

create table lodestone.receipts (
  id text collate "C" not null,
  account_id text collate "C" not null,
  leaf_index bigint not null,
  receipt text not null,
  primary key (id, account_id)
);

create table lodestone.unsealed (
  id text collate "C" not null,
  account_id text collate "C" not null,
  queued_at timestamptz not null default now(),
  set_aside text,
  primary key (id, account_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index unsealed_set_aside on lodestone.unsealed (id) where set_aside is not null;

create function lodestone.queue_for_log() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('lodestone.moving', true), '') <> 'on' then
    insert into lodestone.unsealed (id, account_id)
    select added.id, added.account_id from added where (select s.active from lodestone.log_state s)
    on conflict do nothing;
  end if;
  return null;
end $$;

alter table lodestone.generations add column proof text;
create trigger generations_queue_for_log after insert on lodestone.generations
  referencing new table as added for each statement execute function lodestone.queue_for_log();
`;
