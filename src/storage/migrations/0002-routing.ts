/**
 * Stores an account's chain and policy, and which routes are quota-held on which UTC day (as days since the epoch, so that no
 * time zone matters). The index lets a start sum up one day of generations without reading all of them; a BRIN index costs a
 * settlement nothing, because generations are appended in the order of time.
 */
export const routing = `
alter table lodestone.accounts add column fallback_models json, add column routing_policy json;

create table lodestone.quota_holds (
  utc_day integer not null,
  route_id text collate "C" not null,
  reason text check (reason in ('upstream', 'daily_token_quota')),
  quota_lifted boolean not null,
  primary key (utc_day, route_id)
);

create index generations_created on lodestone.generations using brin (created_ms) with (autosummarize = on);
`;
