/** Keeps how far the journal of each process is settled, in the transaction that settles it. */
export const journalOffsets = `
create table lodestone.journal_offsets (
  run text collate "C" primary key,
  position bigint not null,
  records bigint not null,
  changed_at timestamptz not null default now()
);
`;
