/**
 * Numbers the entries of the audit log without gaps, and makes those from now on leaves of the transparency log.
 *
 * A trigger takes the number from one row, which stays locked until the transaction ends: one that fails gives its number back, and no
 * entry can be seen before the one with the number below. Entries of an older version are numbered by it too. `logged_from` is the first
 * number that becomes a leaf. Where there are entries already, that is an entry of its own, `audit.begin`, so that the log itself says
 * which ones came before it. `hmac_key` hides emails, names and addresses in leaves. The trigger leaves a move to another store alone.
 */
export const auditLog = `
alter table lodestone.audit add column seq bigint, add column acted_by text, add column account_id text collate "C",
  add column address text, add column leaf_index bigint;

create table lodestone.audit_state (
  only_one boolean primary key default true check (only_one),
  last_seq bigint not null,
  logged_from bigint not null,
  hmac_key bytea not null
);

create function lodestone.audit_account(actor text, subject text, details json) returns text language plpgsql immutable as $$
declare named text := case when subject like 'acct-%' then subject when actor like 'account:%' then substr(actor, 9) end;
begin
  return coalesce(details->>'account_id', named);
exception when others then
  -- JSON may hold half a character, which PostgreSQL keeps and cannot read.
  return named;
end $$;

update lodestone.audit a set seq = n.seq, account_id = lodestone.audit_account(a.actor, a.subject, a.details)
from (select id, row_number() over (order by id) as seq from lodestone.audit) n where n.id = a.id;

insert into lodestone.audit_state (last_seq, logged_from, hmac_key)
select count(*), count(*) + 1, sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
from lodestone.audit;

create unique index audit_seq on lodestone.audit (seq);
create index audit_account_id on lodestone.audit (account_id, id);
create index audit_unsealed on lodestone.audit (seq) where leaf_index is null;

create function lodestone.number_audit_entry() returns trigger language plpgsql as $$
begin
  if current_setting('lodestone.moving', true) = 'on' then return new; end if;
  update lodestone.audit_state set last_seq = last_seq + 1 returning last_seq into strict new.seq;
  new.account_id := coalesce(new.account_id, lodestone.audit_account(new.actor, new.subject, new.details));
  return new;
end $$;
create trigger audit_number before insert on lodestone.audit
  for each row execute function lodestone.number_audit_entry();

insert into lodestone.audit (id, created_at, actor, action, subject, details)
select 'aud-' || time_part || substr(md5(gen_random_uuid()::text), 1, 16), date_trunc('milliseconds', now()), 'system', 'audit.begin', 'log',
  json_build_object('entries_before', s.last_seq)
from lodestone.audit_state s, (
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    ((floor(extract(epoch from now()) * 1000)::bigint >> (5 * (9 - place))) & 31)::integer + 1, 1), '' order by place) as time_part
  from generate_series(0, 9) as place
) t where s.last_seq > 0;
`;
