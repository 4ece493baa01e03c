/** Keeps the links that reset a password, by the SHA-256 of their tokens, so that a copy of the store opens none of them. */
export const passwordResets = `
create table lodestone.password_resets (
  token_hash text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id) on delete cascade,
  sent_by text not null,
  expires_at timestamptz not null
);
create index password_resets_account on lodestone.password_resets (account_id);
create index password_resets_expiry on lodestone.password_resets (expires_at);
`;
