/**
 * What each process of a fleet holds of balances, budgets and caps while Redis is out of reach. Unlogged: a PostgreSQL that fails as well
 * loses it, and then every process writes it again before it goes on.
 */
export const spendElsewhere = `
create unlogged table lodestone.spend_processes (
  process text primary key,
  wants_store boolean not null,
  in_store boolean not null,
  seen_at timestamptz not null default now()
);
create unlogged table lodestone.spend_turns (
  account_id text primary key,
  turn bigint not null
);
create unlogged table lodestone.spend_held (
  account_id text not null,
  subject text not null,
  process text not null,
  held_pico numeric(40, 0) not null,
  unsettled_pico numeric(40, 0) not null,
  requests integer not null,
  primary key (account_id, subject, process)
);
`;
