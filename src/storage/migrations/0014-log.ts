/**
 * Creates the log of receipts: its state, its hash tiles and its keys. A settlement adds the leaves of its generations as one batch, whose
 * number they all have; it begins with the millisecond. A sealed batch has the index of its first leaf instead of the hashes. Generations
 * without a number, which are those of an older version and of a process that does not know the log yet, go through a queue that a trigger
 * fills, and have their receipts stored. The number 0 means that there was no log. `old_before_ms` is for the generations of before: those
 * created earlier may be neither in the queue nor in the log; null where none is. `old_from_ms` is where to stop; null for the oldest.
 * `again_at` is when the newest are looked at once more, because a settlement under way does not see that the queue was switched on.
 * `set_aside` says why a generation cannot be made into a receipt. Hashes do not shrink, so PostgreSQL must not try.
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

alter table lodestone.log_tiles alter column hashes set storage external;

create table lodestone.log_batches (
  batch bigint primary key,
  origin text not null,
  version smallint not null,
  leaf_count integer not null,
  leaves bytea,
  first_leaf bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table lodestone.log_batches alter column leaves set storage external;
create index log_batches_waiting on lodestone.log_batches (batch) where first_leaf is null;

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
  if coalesce(current_setting('lodestone.moving', true), '') <> 'on' and (select s.active from lodestone.log_state s) then
    insert into lodestone.unsealed (id, account_id) values (new.id, new.account_id) on conflict do nothing;
  end if;
  return null;
end $$;

alter table lodestone.generations add column proof text;
alter table lodestone.generations add column log_batch bigint;
alter table lodestone.generations alter column log_batch set default nullif(current_setting('lodestone.log_batch', true), '')::bigint;
create trigger generations_queue_for_log after insert on lodestone.generations
  for each row when (new.log_batch is null) execute function lodestone.queue_for_log();
`;
