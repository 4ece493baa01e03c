/**
 * Creates the tables for payments and balance notices. A payment's row holds the totals that the processor reported and how
 * much of them is in the ledger. The transaction that stores an event reconciles the two, so repeated or reordered events
 * lead to the same balance. `balance_watch` has the accounts with their own threshold or a balance below it; an index on the
 * balance itself would cost every settlement.
 */
export const payments = `
create table lodestone.payments (
  id text collate "C" primary key,
  account_id text collate "C" references lodestone.accounts (id),
  checkout_id text collate "C",
  paid_pico numeric(38,0),
  refunded_pico numeric(38,0) not null default 0,
  posted_pico numeric(38,0) not null default 0,
  created_at timestamptz not null
);
create index payments_checkout on lodestone.payments (checkout_id);

create table lodestone.payment_events (
  id text collate "C" primary key,
  payment_id text collate "C" not null,
  kind text not null,
  received_at timestamptz not null
);

create table lodestone.payment_movements (
  id text collate "C" primary key,
  payment_id text collate "C" not null,
  kind text not null check (kind in ('refund_failed', 'dispute_withdrawn', 'dispute_reinstated')),
  amount_pico numeric(38,0) not null,
  happened_at timestamptz not null
);
create index payment_movements_payment on lodestone.payment_movements (payment_id);

create table lodestone.balance_watch (
  account_id text collate "C" primary key references lodestone.accounts (id),
  threshold_pico numeric(38,0),
  level smallint not null default 0
);

create table lodestone.balance_looks (
  only_one boolean primary key default true check (only_one),
  looked_at timestamptz not null default '-infinity'
);
insert into lodestone.balance_looks default values;

create table lodestone.balance_notices (
  id text collate "C" primary key,
  account_id text collate "C" not null references lodestone.accounts (id),
  level smallint not null,
  balance_pico numeric(38,0) not null,
  threshold_pico numeric(38,0) not null,
  created_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  delivered_at timestamptz
);
create index balance_notices_due on lodestone.balance_notices (next_attempt_at) where next_attempt_at is not null;
`;
