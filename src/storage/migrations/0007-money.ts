/**
 * Keys get caps, scopes and a state, and accounts a bound on their overdraft. An older version ignores all of it: it admits a key that is
 * disabled or over its cap until it is replaced.
 */
export const money = `
alter table lodestone.keys add column terms json, add column last_used_at timestamptz;
alter table lodestone.accounts add column overdraft text, add column credit_limit_pico numeric(38,0) not null default 0;
create trigger key_changed after update of name, terms on lodestone.keys
  for each row execute function lodestone.announce_key();
`;
