/** Opens the PostgreSQL store: migrates it and returns one object for each concern. */

import pg from 'pg';
import type { Logger } from '../base/logger.js';
import { clientConfig, Database, historyTimeoutMs, type StoreAddress, storeError } from './database.js';
import type { LogMembership } from './log-types.js';
import { migrate } from './migrate.js';
import { changeFeed, otherProcesses } from './other-processes.js';
import { ensurePartitions } from './records/partitions.js';
import { recordStore } from './records/record-store.js';
import type { Store } from './store.js';
import { accountStore } from './stores/account-store.js';
import { aliasStore } from './stores/alias-store.js';
import { auditStore } from './stores/audit-store.js';
import { broughtStore } from './stores/brought-store.js';
import { budgetStore } from './stores/budget-store.js';
import { catalogueLog } from './stores/catalogue-log.js';
import { catalogueUpdateStore } from './stores/catalogue-update-store.js';
import { credentialStore } from './stores/credential-store.js';
import { generationStore } from './stores/generation-store.js';
import { availabilityStore, holdStore } from './stores/hold-store.js';
import { identityStore } from './stores/identity-store.js';
import { keyStore } from './stores/key-store.js';
import { ledgerStore } from './stores/ledger-store.js';
import { logStore } from './stores/log-store.js';
import { nameStore } from './stores/name-store.js';
import { noticeStore } from './stores/notice-store.js';
import { paymentStore } from './stores/payment-store.js';
import { peopleStore } from './stores/people-store.js';
import { projectStore } from './stores/project-store.js';
import { routeHistoryStore } from './stores/route-history-store.js';
import { signInStore } from './stores/sign-in-store.js';
import { spendStore } from './stores/spend-store.js';
import { usageStore } from './stores/usage-store.js';
import { workloadStore } from './stores/workload-store.js';

/** Throws StoreUnavailable where the server cannot be reached. */
export async function openStore(options: StoreAddress & { logger: Logger }): Promise<Store> {
  await migrateOnce(options, options.logger);
  const database = new Database(options, options.logger, 7);
  // A pool of its own, so that long queries of the usage history never delay a key lookup or a settlement.
  const history = new Database(options, options.logger, 3, historyTimeoutMs);
  // Without a partition of its own a row goes into the one for all others, so a start does not depend on it.
  await ensurePartitions(database, Date.now()).catch((error) =>
    options.logger.warn(
      { error: String(error) },
      'partitions for the coming months could not be made; trying again later',
    ),
  );
  let membership: LogMembership = null;
  return {
    accounts: accountStore(database),
    keys: keyStore(database),
    workloads: workloadStore(database),
    projects: projectStore(database),
    brought: broughtStore(database),
    aliases: aliasStore(database),
    credentials: credentialStore(database),
    names: nameStore(database),
    ledger: ledgerStore(database, history, () => membership),
    generations: generationStore(history),
    availability: availabilityStore(database),
    holds: holdStore(database),
    audit: auditStore(database),
    signIn: signInStore(database),
    people: peopleStore(database),
    identities: identityStore(database),
    usage: usageStore(history),
    records: recordStore(database, options, migrateOnce),
    catalogueLog: catalogueLog(database),
    catalogueUpdates: catalogueUpdateStore(database),
    routeHistory: routeHistoryStore(database, history),
    log: logStore(database, history, (joined) => {
      membership = joined;
    }),
    payments: paymentStore(database),
    notices: noticeStore(database),
    budgets: budgetStore(database),
    spend: spendStore(database),
    changes: changeFeed(database, options, options.logger),
    otherProcesses: otherProcesses(options),
    async ping() {
      await database.statement('ping', 'select 1', []);
    },
    close: async () => void (await Promise.all([database.close(), history.close()])),
  };
}

/** On a connection of its own, because a migration may take longer than the pool allows. */
async function migrateOnce(address: StoreAddress, logger: Logger): Promise<void> {
  const client = new pg.Client(clientConfig(address));
  client.on('error', () => {});
  try {
    await client.connect();
    const { run, newer } = await migrate(client);
    if (run.length > 0) logger.info({ migrations: run }, 'the store was migrated');
    if (newer.length > 0)
      logger.info({ migrations: newer }, 'the store was migrated by a newer version; this one serves with it');
  } catch (error) {
    throw storeError(error);
  } finally {
    await client.end().catch(() => {});
  }
}
