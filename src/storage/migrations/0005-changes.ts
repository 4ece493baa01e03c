/**
 * Notifies listening processes of what a transaction has changed, at its commit. The triggers name the columns that the
 * request path holds in memory, so that a settlement, which changes balances, does not fire them.
 */
export const changes = `
create function lodestone.announce_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('lodestone_changes', 'account:' || new.id);
  return null;
end $$;
create trigger account_changed after update of name, status, billing_country, requests_per_minute, tokens_per_minute,
  fallback_models, routing_policy on lodestone.accounts for each row execute function lodestone.announce_account();

create function lodestone.announce_owner() returns trigger language plpgsql as $$
begin
  perform pg_notify('lodestone_changes', 'account:' || coalesce(new.account_id, old.account_id));
  return null;
end $$;
create trigger alias_changed after insert or update or delete on lodestone.aliases
  for each row execute function lodestone.announce_owner();
create trigger ledger_posted after insert on lodestone.ledger_posts
  for each row execute function lodestone.announce_owner();

create function lodestone.announce_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('lodestone_changes', 'key:' || old.id);
  return null;
end $$;
create trigger key_gone after delete on lodestone.keys for each row execute function lodestone.announce_key();

create function lodestone.announce_states() returns trigger language plpgsql as $$
begin
  perform pg_notify('lodestone_changes', 'states');
  return null;
end $$;
create trigger availability_changed after insert or update or delete on lodestone.model_availability
  for each statement execute function lodestone.announce_states();
create trigger holds_changed after insert or update or delete on lodestone.quota_holds
  for each statement execute function lodestone.announce_states();
`;
