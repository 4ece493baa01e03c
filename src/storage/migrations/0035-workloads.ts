/** Keeps who exchanged a token of an issuer for a key, and how often each token was exchanged. */
export const workloads = `
create table lodestone.token_exchanges (
  token bytea primary key,
  exchanges integer not null,
  ends_at timestamptz not null
);
create index token_exchanges_end on lodestone.token_exchanges (ends_at);
`;

/** The column is needed for the index, which must not block the keys while it is built. */
export const beforeWorkloads: readonly string[] = [
  'alter table lodestone.keys add column if not exists workload json',
  'create index concurrently if not exists keys_of_workloads on lodestone.keys (expires_at) where workload is not null',
];
