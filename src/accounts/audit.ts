/** Writes the audit log: one entry for each change by an operator or an account. Entries contain no secrets. */

import { timeOrderedId } from '../base/ids.js';
import type { Logger } from '../base/logger.js';
import { usdText } from '../base/money.js';
import type { Clock } from '../base/time.js';
import type { KeyTerms } from '../domain/account.js';
import type { Budget } from '../domain/organisation.js';
import type { AuditStore } from '../storage/store.js';

/** `operator`, `system`, `anonymous` (not signed in) or `account:{id}`. */
export type Actor = 'operator' | 'system' | 'anonymous' | `account:${string}`;

export class AuditLog {
  constructor(
    private readonly store: AuditStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** The change has already been made, so an entry that cannot be written is logged and not thrown. */
  async record(actor: Actor, action: string, subject: string, details: Record<string, unknown> = {}): Promise<void> {
    const createdAt = this.clock.now();
    const entry = { id: `aud-${timeOrderedId(createdAt)}`, createdAt, actor, action, subject, details };
    try {
      await this.store.add(entry);
    } catch (error) {
      this.logger.error({ ...entry, error: String(error) }, 'an audit entry could not be stored');
    }
  }
}

/** The terms for the audit log, which is JSON: named as in the API, and an amount is decimal text. */
export function auditTerms({ limitPico, ...terms }: Partial<KeyTerms>): Record<string, unknown> {
  const named = Object.entries(terms).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return {
    ...Object.fromEntries(named),
    ...(limitPico !== undefined && { limit_usd: limitPico === null ? null : usdText(limitPico) }),
  };
}

export function auditBudget(budget: Budget | null): Record<string, unknown> | null {
  return budget && { limit_usd: usdText(budget.limitPico), period: budget.period, alert_at: budget.alertAt };
}
