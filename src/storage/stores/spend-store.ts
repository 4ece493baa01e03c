/** Stores what the processes of a fleet hold of balances, budgets and caps while Redis is out of reach. */
import type { HeldSpend, SpendProcess, SpendStore } from '../budget-types.js';
import type { Database } from '../database.js';

/** A process that has said nothing for so long has died. It says something every second. */
const silent = `interval '5 seconds'`;

const join = `
with own as (
  insert into lodestone.spend_processes (process, wants_store, in_store) values ($1, $2, $3)
  on conflict (process) do update set wants_store = excluded.wants_store, in_store = excluded.in_store, seen_at = now()
)
select process, wants_store as "wantsStore", in_store as "inStore" from lodestone.spend_processes
where process <> $1 and seen_at > now() - ${silent}`;

/** At least one row, which has the turn. */
const heldByOthers = `
select coalesce((select turn from lodestone.spend_turns where account_id = $2), 0)::text as turn, $2 as "accountId", h.subject,
  h.held_pico as "heldPico", h.unsettled_pico as "unsettledPico", h.requests
from (select 1) one left join (
  select held.* from lodestone.spend_held held join lodestone.spend_processes p using (process)
  where held.account_id = $2 and held.process <> $1 and p.seen_at > now() - ${silent}
) h on true`;

const write = (where: string) => `
insert into lodestone.spend_held (process, account_id, subject, held_pico, unsettled_pico, requests)
select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::numeric[], $6::integer[]) ${where}
on conflict (account_id, subject, process) do update
  set held_pico = excluded.held_pico, unsettled_pico = excluded.unsettled_pico, requests = excluded.requests`;

const take = `
with turned as (
  insert into lodestone.spend_turns as last (account_id, turn) values ($7, $8::bigint + 1)
  on conflict (account_id) do update set turn = excluded.turn where last.turn = $8::bigint
  returning turn
), written as (${write('where exists (select from turned)')})
select from turned`;

const forget = `
delete from lodestone.spend_held where process = $1 or process not in
  (select process from lodestone.spend_processes where seen_at > now() - ${silent})`;

function valuesOf(process: string, held: readonly HeldSpend[]): unknown[] {
  return [
    process,
    held.map(({ accountId }) => accountId),
    held.map(({ subject }) => subject),
    held.map(({ heldPico }) => String(heldPico)),
    held.map(({ unsettledPico }) => String(unsettledPico)),
    held.map(({ requests }) => requests),
  ];
}

export function spendStore(database: Database): SpendStore {
  return {
    join({ process, wantsStore, inStore }) {
      return database.statement<SpendProcess>('spend-join', join, [process, wantsStore, inStore]);
    },

    async leave(process) {
      await database.statement('spend-leave', 'delete from lodestone.spend_processes where process = $1', [process]);
    },

    async heldByOthers(process, accountId) {
      const found = await database.statement<HeldSpend & { turn: string }>('spend-held', heldByOthers, [
        process,
        accountId,
      ]);
      const held = found.map(({ turn: _, ...row }) => row).filter(({ subject }) => subject !== null);
      return { turn: found[0]!.turn, held };
    },

    take: (process, accountId, turn, held) =>
      database.hasRow('spend-take', take, [...valuesOf(process, held), accountId, turn]),

    async write(process, held) {
      await database.statement('spend-write', write(''), valuesOf(process, held));
    },

    async writeAll(process, held) {
      await database.transaction(async (_db, client) => {
        await client.query(forget, [process]);
        if (held.length > 0) await client.query(write(''), valuesOf(process, held));
      });
    },
  };
}
