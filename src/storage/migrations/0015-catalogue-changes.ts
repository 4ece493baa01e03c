/** Keeps the facts of the catalogue in force, and what every load of it has changed. */
export const catalogueChanges = `
create table lodestone.catalogue_state (
  only_one boolean primary key default true check (only_one),
  digest text not null,
  facts text not null,
  at_ms bigint not null
);

create table lodestone.catalogue_changes (
  at_ms bigint not null,
  position integer not null,
  digest text not null,
  kind text not null,
  id text not null,
  field text not null,
  from_value text,
  to_value text,
  source text,
  as_of text,
  model text,
  provider text,
  primary key (at_ms, position)
);
create index catalogue_changes_model on lodestone.catalogue_changes (model, at_ms) where model is not null;
create index catalogue_changes_provider on lodestone.catalogue_changes (provider, at_ms) where provider is not null;
`;
