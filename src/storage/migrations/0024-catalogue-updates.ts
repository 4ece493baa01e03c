/** Keeps the last updates of the catalogue, which of them is in use, and when a newer one was last looked for. */
export const catalogueUpdates = `
create table lodestone.catalogue_updates (
  version text collate "C" primary key,
  part text not null,
  note text not null,
  body bytea not null,
  applied_ms bigint not null,
  in_use boolean not null
);
create unique index catalogue_updates_in_use on lodestone.catalogue_updates (in_use) where in_use;

create table lodestone.catalogue_looks (
  only_one boolean primary key default true check (only_one),
  next_ms bigint not null,
  report text
);
insert into lodestone.catalogue_looks (next_ms) values (0);
`;
