/**
 * Adds people beside accounts: projects, memberships, invitations, and what is spent on a day in a project.
 *
 * A version that knows none of it runs on this schema too. Each account gets its default project by a trigger, so that an account of an
 * older version has one; its id is that of the account with another beginning. A key without a project is of the default one, a management
 * key without a project of the whole account. Who signs in to an account today becomes its owner, also where an older version signs them
 * up later. A person who came with an account keeps the account's id in these tables, and pages show it with the beginning `per-`.
 * The triggers leave a move to another store alone, which copies these tables too.
 */
export const organisations = `
alter table lodestone.accounts add column budget text, add column settings_by_keys boolean not null default true,
  add column record_end_users boolean not null default false, add column imported_from text;
alter table lodestone.keys add column project_id text collate "C", add column holder_id text collate "C";
alter table lodestone.generations add column project_id text collate "C", add column holder_id text collate "C",
  add column end_user text;

create table lodestone.projects (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  name text collate "C" not null,
  is_default boolean not null default false,
  budget text,
  requests_per_minute bigint,
  tokens_per_minute bigint,
  routing_policy json,
  trust text not null default '[]',
  imported_from text,
  created_at timestamptz not null
);
create unique index projects_name on lodestone.projects (account_id, name);
create unique index projects_default on lodestone.projects (account_id) where is_default;

create function lodestone.default_project_of(account text) returns text language sql immutable as $$
  select 'proj-' || regexp_replace(account, '^acct-', '')
$$;

insert into lodestone.projects (id, account_id, name, is_default, created_at)
select lodestone.default_project_of(id), id, 'default', true, created_at from lodestone.accounts;

create function lodestone.add_default_project() returns trigger language plpgsql as $$
begin
  if current_setting('lodestone.moving', true) = 'on' then return null; end if;
  insert into lodestone.projects (id, account_id, name, is_default, created_at)
  values (lodestone.default_project_of(new.id), new.id, 'default', true, new.created_at);
  return null;
end $$;
create trigger account_default_project after insert on lodestone.accounts
  for each row execute function lodestone.add_default_project();

-- A person without an account of their own has no row in accounts.
alter table lodestone.sign_in_users drop constraint sign_in_users_id_fkey;
alter table lodestone.password_resets drop constraint password_resets_account_id_fkey;
alter table lodestone.sign_in_users add column status text not null default 'active', add column last_account_id text collate "C",
  add column imported_from text;

create table lodestone.memberships (
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  person_id text collate "C" not null references lodestone.sign_in_users (id) on delete cascade,
  source text collate "C" not null,
  role text not null,
  projects text[],
  created_at timestamptz not null,
  last_seen_at timestamptz,
  primary key (account_id, person_id, source)
);
create index memberships_person on lodestone.memberships (person_id);

insert into lodestone.memberships (account_id, person_id, source, role, created_at)
select a.id, u.id, 'manual', 'owner', u.created_at from lodestone.sign_in_users u join lodestone.accounts a on a.id = u.id;

create function lodestone.add_first_owner() returns trigger language plpgsql as $$
begin
  if current_setting('lodestone.moving', true) = 'on' then return null; end if;
  insert into lodestone.memberships (account_id, person_id, source, role, created_at)
  select a.id, new.id, 'manual', 'owner', new.created_at from lodestone.accounts a where a.id = new.id
  on conflict do nothing;
  return null;
end $$;
create trigger user_first_owner after insert on lodestone.sign_in_users
  for each row execute function lodestone.add_first_owner();

create table lodestone.invitations (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  email text not null,
  role text not null,
  projects text[],
  token_hash text collate "C" not null,
  invited_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz
);
create unique index invitations_token on lodestone.invitations (token_hash);
create index invitations_account on lodestone.invitations (account_id, id);
`;
