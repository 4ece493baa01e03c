/**
 * Keeps who people are at identity providers, which session an identity provider opened, and what works once: a sign-in that was begun,
 * and a token that ends sessions. An older version lets a session of an identity provider go on like one of a password.
 */
export const singleSignOn = `
create table lodestone.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  provider text not null,
  person_id text collate "C" not null references lodestone.sign_in_users (id) on delete cascade,
  email text not null,
  operator boolean not null default false,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  primary key (issuer, subject)
);
create index identities_person on lodestone.identities (person_id);
create table lodestone.sign_in_uses (
  name text collate "C" primary key,
  expires_at timestamptz not null
);
create index sign_in_uses_expiry on lodestone.sign_in_uses (expires_at);
alter table lodestone.sign_in_sessions add column issuer text collate "C", add column subject text collate "C",
  add column sid text, add column ends_at timestamptz;
`;
