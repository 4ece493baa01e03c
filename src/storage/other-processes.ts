/**
 * Whether other processes serve from the same database. Each holds one lock in shared mode for as long as it is there, and whoever
 * wants to know tries for it alone: the server itself then knows who is gone, also without a word.
 */
import type { ClientBase } from 'pg';
import type { StoreAddress } from './database.js';
import { KeptConnection } from './kept-connection.js';
import type { OtherProcesses } from './store.js';

/** An arbitrary number that only running processes of Lodestone lock on. */
const lockNumber = 7_316_402_286;

/** Until the connection ends. */
export async function bePresent(client: ClientBase): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [lockNumber]);
}

async function isAlone(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(
    'select case when pg_try_advisory_lock($1) then pg_advisory_unlock($1) else false end as alone',
    [lockNumber],
  );
  return rows[0]?.alone ?? true;
}

export function otherProcesses(address: StoreAddress): OtherProcesses {
  return {
    async watch(found, askEveryMs) {
      const look = async (client: ClientBase) => found(!(await isAlone(client)));
      const connection = new KeptConnection({
        address,
        ...(askEveryMs !== undefined && { askEveryMs }),
        async begin(client) {
          await bePresent(client);
          await look(client);
        },
        ask: look,
      });
      await connection.open();
      return connection;
    },
  };
}
