/** Sets the budget of an account or a project: first in the store, then in memory. */
import type { Clock } from '../base/time.js';
import type { Account } from '../domain/account.js';
import type { Budget, Project } from '../domain/organisation.js';
import type { Store } from '../storage/store.js';
import { type Actor, type AuditLog, auditBudget } from './audit.js';
import { periodStart } from './keys/limit-period.js';

export interface BudgetChange {
  readonly account: Account;
  /** null for the account's own. */
  readonly project: Project | null;
  readonly budget: Budget | null;
}

interface SetBudgetDeps {
  readonly store: Pick<Store, 'budgets'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditLog;
}

/** `announce` resolves when no process acts on the earlier budget. */
export async function setBudget(
  { store, clock, audit }: SetBudgetDeps,
  actor: Actor,
  { account, project, budget }: BudgetChange,
  announce: () => Promise<void>,
): Promise<void> {
  const fromMs = (budget && periodStart(budget.period, clock.now())) ?? 0;
  await store.budgets.set({ accountId: account.id, projectId: project?.id ?? null }, budget, fromMs);
  (project ?? account).budget = budget;
  await announce();
  const details = { ...(project && { account_id: account.id }), ...auditBudget(budget) };
  await audit.record(actor, project ? 'project.budget' : 'account.budget', (project ?? account).id, details);
}
