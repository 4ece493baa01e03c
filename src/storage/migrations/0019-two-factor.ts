/**
 * Keeps the second factor of accounts: the secret of an authenticator app, encrypted, and recovery codes as hashes. A row whose
 * `confirmed_at` is null waits for its first code. `last_step` is the time step of the newest code that was used.
 */
export const twoFactor = `
alter table lodestone.sign_in_users add column two_factor boolean not null default false;
alter table lodestone.sign_in_sessions add column two_factor_at timestamptz;
create table lodestone.two_factor (
  account_id text collate "C" primary key references lodestone.sign_in_users (id) on delete cascade,
  secret text not null,
  last_step bigint not null default 0,
  confirmed_at timestamptz
);
create table lodestone.two_factor_recovery_codes (
  account_id text collate "C" not null references lodestone.two_factor (account_id) on delete cascade,
  code_hash text collate "C" not null,
  primary key (account_id, code_hash)
);
`;
