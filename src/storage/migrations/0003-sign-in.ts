/**
 * Creates the tables for signing in. The first four are better-auth's, under our names; a user's id is the id of its account.
 * `operator` is ours: permanent on a user, and as long as the session on a session. The secret signs the cookies; it is in
 * the store so that every replica accepts the cookies of another.
 */
export const signIn = `
create table lodestone.sign_in_users (
  id text collate "C" primary key references lodestone.accounts (id) on delete cascade,
  name text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  operator boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index sign_in_users_email on lodestone.sign_in_users (email);

create table lodestone.sign_in_sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references lodestone.sign_in_users (id) on delete cascade,
  token text collate "C" not null,
  operator boolean not null default false,
  ip_address text,
  user_agent text,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index sign_in_sessions_token on lodestone.sign_in_sessions (token);
create index sign_in_sessions_user on lodestone.sign_in_sessions (user_id);
create index sign_in_sessions_expiry on lodestone.sign_in_sessions (expires_at);

create table lodestone.sign_in_credentials (
  id text collate "C" primary key,
  account_id text not null,
  provider_id text not null,
  user_id text collate "C" not null references lodestone.sign_in_users (id) on delete cascade,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index sign_in_credentials_user on lodestone.sign_in_credentials (user_id, provider_id);

create table lodestone.sign_in_tokens (
  id text collate "C" primary key,
  identifier text collate "C" not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index sign_in_tokens_identifier on lodestone.sign_in_tokens (identifier);

create table lodestone.sign_in_secret (
  only_one boolean primary key default true check (only_one),
  secret text not null
);
`;
