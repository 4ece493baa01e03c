/** Keeps who exchanged a token of an issuer for a key, and how often each token was exchanged. */
export const workloads = `
alter table lodestone.keys add column workload json;
create index keys_of_workloads on lodestone.keys (expires_at) where workload is not null;

create table lodestone.token_exchanges (
  token bytea primary key,
  exchanges integer not null,
  ends_at timestamptz not null
);
create index token_exchanges_end on lodestone.token_exchanges (ends_at);
`;
