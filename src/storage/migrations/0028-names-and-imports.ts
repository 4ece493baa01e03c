/** Keeps names that the operator gives to models, and tokens of other systems that keys are verified by. */
export const namesAndImports = `
create sequence lodestone.names_version;
create table lodestone.names (
  name text collate "C" primary key,
  definition json not null,
  created_ms bigint not null,
  updated_ms bigint not null,
  version bigint not null
);
create index names_by_version on lodestone.names (version);

alter table lodestone.keys add column brought boolean not null default false, add column imported_from json,
  add column opening_pico numeric(38,0) not null default 0;
create table lodestone.brought_tokens (
  hash bytea primary key,
  key_id text not null references lodestone.keys (id) on delete cascade deferrable initially deferred
);
create index brought_tokens_key on lodestone.brought_tokens (key_id);
`;

/** A token that is brought along must not be one that a key has already. */
export const beforeNamesAndImports: readonly string[] = [
  'create index concurrently if not exists keys_by_hash on lodestone.keys (hash)',
];
