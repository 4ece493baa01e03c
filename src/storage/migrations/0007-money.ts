/**
 * Keys get caps, scopes and a state, accounts a bound on their overdraft, and generations say how their cost is made up. An older version
 * ignores all of it: it admits a key that is disabled or over its cap until it is replaced.
 */
export const money = `
alter table lodestone.keys add column terms json, add column last_used_at timestamptz;
alter table lodestone.accounts add column overdraft text, add column credit_limit_pico numeric(38,0) not null default 0;
alter table lodestone.generations add column cost_details text;
create trigger key_changed after update of name, terms on lodestone.keys
  for each row execute function lodestone.announce_key();
`;
