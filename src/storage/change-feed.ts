/**
 * Changes as PostgreSQL tells them (LISTEN/NOTIFY), on a connection of its own that is opened again for as long as somebody
 * listens. A connection that was lost may have missed something, and says so.
 */
import type { Logger } from '../base/logger.js';
import type { Database, StoreAddress } from './database.js';
import { KeptConnection } from './kept-connection.js';
import { bePresent } from './other-processes.js';
import type { ChangeFeed } from './store.js';

const channel = 'lodestone_changes';

export function changeFeed(database: Database, address: StoreAddress, logger: Logger): ChangeFeed {
  return {
    async listen(heard) {
      const connection = new KeptConnection({
        address,
        async begin(client) {
          client.on('notification', ({ payload }) => heard(payload ?? null));
          await client.query(`listen ${channel}`);
          heard(null);
          await bePresent(client);
        },
        ask: async (client) => void (await client.query('select 1')),
        lost: (error) => logger.warn({ error: String(error) }, 'changes in the store are not heard; listening again'),
      });
      await connection.open();
      return connection;
    },
    async announce(subject) {
      await database.statement('announce', 'select pg_notify($1, $2)', [channel, subject]);
    },
  };
}
