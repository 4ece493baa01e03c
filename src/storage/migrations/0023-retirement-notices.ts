/** Keeps which account was told of the retirement of which model, once, and the delivery of these notices. */
export const retirementNotices = `
create table lodestone.retirement_notices (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id),
  model text collate "C" not null,
  retires_on date not null,
  replaced_by text,
  routes text[] not null,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  unique (account_id, model)
);
create index retirement_notices_due on lodestone.retirement_notices (next_attempt_at) where next_attempt_at is not null;
`;
