/** Lists every migration, oldest first. A released migration is never changed, and a new one only adds. */
import { initial } from './0001-initial.js';
import { routing } from './0002-routing.js';
import { signIn } from './0003-sign-in.js';
import { payments } from './0004-payments.js';
import { changes } from './0005-changes.js';
import { sessions } from './0006-sessions.js';
import { money } from './0007-money.js';
import { bills } from './0008-bills.js';
import { rollups } from './0009-rollups.js';
import { beforePartitions, partitions } from './0010-partitions.js';
import { beforeLateRows, lateRows } from './0011-late-rows.js';
import { requestPolicy } from './0012-request-policy.js';
import { door } from './0013-door.js';
import { log } from './0014-log.js';
import { catalogueChanges } from './0015-catalogue-changes.js';
import { routeHistory } from './0016-route-history.js';
import { passwordResets } from './0017-password-resets.js';
import { rollupDays } from './0018-rollup-days.js';
import { twoFactor } from './0019-two-factor.js';
import { statements } from './0020-statements.js';
import { lateRowsLock } from './0021-late-rows-lock.js';
import { usageSums } from './0022-usage-sums.js';
import { retirementNotices } from './0023-retirement-notices.js';
import { catalogueUpdates } from './0024-catalogue-updates.js';
import { organisations } from './0025-organisations.js';
import { projectChanges } from './0026-project-changes.js';
import { budgets } from './0027-budgets.js';
import { beforeNamesAndImports, namesAndImports } from './0028-names-and-imports.js';
import { journalOffsets } from './0030-journal-offsets.js';
import { people } from './0031-people.js';
import { auditLog } from './0032-audit-log.js';
import { singleSignOn } from './0033-single-sign-on.js';
import { beforeWorkloads, workloads } from './0035-workloads.js';
import { ownCredentials } from './0036-own-credentials.js';
import { keyProjects } from './0040-key-projects.js';
import { ownServed } from './0041-own-served.js';
import { beforeKeysInOrder, keysInOrder } from './0044-keys-in-order.js';
import { usageOfPeople } from './0046-usage-of-people.js';
import { skippedRoutes } from './0047-skipped-routes.js';
import { noticedCredentials } from './0048-noticed-credentials.js';
import { ownUsage } from './0049-own-usage.js';
import { spendElsewhere } from './0050-spend-elsewhere.js';

export interface Migration {
  readonly name: string;
  /** Runs in one transaction with the record that it ran. */
  readonly sql: string;
  /**
   * Statements that run before it, each on its own, for what reads many rows and must not block writers, such as building an index
   * concurrently. They run again after an interruption, so each must bear being repeated.
   */
  readonly before?: readonly string[];
}

export const migrations: readonly Migration[] = [
  { name: '0001-initial', sql: initial },
  { name: '0002-routing', sql: routing },
  { name: '0003-sign-in', sql: signIn },
  { name: '0004-payments', sql: payments },
  { name: '0005-changes', sql: changes },
  { name: '0006-sessions', sql: sessions },
  { name: '0007-money', sql: money },
  { name: '0008-bills', sql: bills },
  { name: '0009-rollups', sql: rollups },
  { name: '0010-partitions', sql: partitions, before: beforePartitions },
  { name: '0011-late-rows', sql: lateRows, before: beforeLateRows },
  { name: '0012-request-policy', sql: requestPolicy },
  { name: '0013-door', sql: door },
  { name: '0014-log', sql: log },
  { name: '0015-catalogue-changes', sql: catalogueChanges },
  { name: '0016-route-history', sql: routeHistory },
  { name: '0017-password-resets', sql: passwordResets },
  { name: '0018-rollup-days', sql: rollupDays },
  { name: '0019-two-factor', sql: twoFactor },
  { name: '0020-statements', sql: statements },
  { name: '0021-late-rows-lock', sql: lateRowsLock },
  { name: '0022-usage-sums', sql: usageSums },
  { name: '0023-retirement-notices', sql: retirementNotices },
  { name: '0024-catalogue-updates', sql: catalogueUpdates },
  { name: '0025-organisations', sql: organisations },
  { name: '0026-project-changes', sql: projectChanges },
  { name: '0027-budgets', sql: budgets },
  { name: '0028-names-and-imports', sql: namesAndImports, before: beforeNamesAndImports },
  { name: '0030-journal-offsets', sql: journalOffsets },
  { name: '0031-people', sql: people },
  { name: '0032-audit-log', sql: auditLog },
  { name: '0033-single-sign-on', sql: singleSignOn },
  { name: '0035-workloads', sql: workloads, before: beforeWorkloads },
  { name: '0036-own-credentials', sql: ownCredentials },
  { name: '0040-key-projects', sql: keyProjects },
  { name: '0041-own-served', sql: ownServed },
  { name: '0044-keys-in-order', sql: keysInOrder, before: beforeKeysInOrder },
  { name: '0046-usage-of-people', sql: usageOfPeople },
  { name: '0047-skipped-routes', sql: skippedRoutes },
  { name: '0048-noticed-credentials', sql: noticedCredentials },
  { name: '0049-own-usage', sql: ownUsage },
  { name: '0050-spend-elsewhere', sql: spendElsewhere },
];
