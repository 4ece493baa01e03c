/**
 * Adds credentials of accounts and projects at providers, sealed, and what their use counts beside its fee.
 *
 * `own_spending` has the list price that budgets, caps and keys count beyond the fee. The days of projects include it; the sums of usage,
 * which the ledger agrees with, do not. An older version that settles a line does not know of it, and adds the fee alone.
 */
export const ownCredentials = `
alter table lodestone.accounts add column budgets_count_own_keys boolean not null default true;
alter table lodestone.generations add column credential_id text collate "C", add column credential_owner text collate "C",
  add column notional_pico numeric(38,0), add column counted_pico numeric(38,0);

create table lodestone.credentials (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  project_id text collate "C",
  provider text collate "C" not null,
  name text not null,
  used text not null,
  models text,
  agreement text,
  fingerprint text not null,
  revision integer not null,
  key_id text collate "C" not null,
  wrapped text not null,
  sealed text not null,
  created_at timestamptz not null,
  status text not null default 'unchecked',
  reason text,
  status_since timestamptz not null,
  status_at timestamptz not null,
  last_used_at timestamptz
);
create index credentials_account on lodestone.credentials (account_id, id);
create index credentials_key on lodestone.credentials (key_id);

-- The key that new secrets are sealed with. Whoever seals holds the row, so that a rotation cannot end in between.
create table lodestone.secrets_state (only_one boolean primary key default true check (only_one), key_id text collate "C");
insert into lodestone.secrets_state (only_one) values (true);

create table lodestone.credential_notices (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  project_id text collate "C",
  credential_id text collate "C" not null,
  provider text not null,
  name text not null,
  reason text,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  mailed_at timestamptz
);
create index credential_notices_due on lodestone.credential_notices (next_attempt_at) where next_attempt_at is not null;

create function lodestone.announce_credential() returns trigger language plpgsql as $$
begin
  perform pg_notify('lodestone_changes', 'account:' || coalesce(new.account_id, old.account_id));
  return null;
end $$;
create trigger credential_made after insert or delete on lodestone.credentials
  for each row execute function lodestone.announce_credential();
-- Not of what traffic has shown of it, which every process sees for itself.
create trigger credential_changed after update of name, used, models, agreement, revision, key_id on lodestone.credentials
  for each row execute function lodestone.announce_credential();
create trigger account_counts_changed after update of budgets_count_own_keys on lodestone.accounts
  for each row execute function lodestone.announce_account();

create function lodestone.drop_project_credentials() returns trigger language plpgsql as $$
begin
  delete from lodestone.credentials where project_id = old.id;
  return null;
end $$;
create trigger project_credentials after delete on lodestone.projects
  for each row execute function lodestone.drop_project_credentials();

create table lodestone.own_spending (
  account_id text collate "C" not null,
  project_id text collate "C" not null,
  key_id text collate "C" not null,
  day integer not null,
  extra_pico numeric(38,0) not null,
  primary key (account_id, project_id, key_id, day)
) with (fillfactor = 70);

create or replace function lodestone.add_project_days(added json) returns void language sql as $$
  insert into lodestone.project_days as d (account_id, project_id, day, spent_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.from_hour / 24,
    sum(l.cost_pico + coalesce(l.extra_pico, 0))
  from json_to_recordset(added) as l(account_id text, project_id text, from_hour integer, cost_pico numeric, extra_pico numeric)
  group by 1, 2, 3 having sum(l.cost_pico + coalesce(l.extra_pico, 0)) <> 0 order by 1, 2, 3
  on conflict (account_id, project_id, day) do update set spent_pico = d.spent_pico + excluded.spent_pico;
  insert into lodestone.own_spending as o (account_id, project_id, key_id, day, extra_pico)
  select l.account_id, coalesce(l.project_id, lodestone.default_project_of(l.account_id)), l.key_id, l.from_hour / 24, sum(l.extra_pico)
  from json_to_recordset(added) as l(account_id text, project_id text, key_id text, from_hour integer, extra_pico numeric)
  where l.extra_pico is not null
  group by 1, 2, 3, 4 having sum(l.extra_pico) <> 0 order by 1, 2, 3, 4
  on conflict (account_id, project_id, key_id, day) do update set extra_pico = o.extra_pico + excluded.extra_pico
$$;
`;
