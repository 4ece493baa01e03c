/** Writes the audit log: one entry for each change by an operator or an account. Entries contain no secrets. */

import { IdSequence } from '../base/ids.js';
import type { Logger } from '../base/logger.js';
import { usdText } from '../base/money.js';
import type { Clock } from '../base/time.js';
import type { KeyTerms } from '../domain/account.js';
import { type Budget, shownPersonId } from '../domain/organisation.js';
import type { AuditStore } from '../storage/store.js';

/** `operator`, `system`, `anonymous` (not signed in), `account:{id}`, or a person or key by id. */
type ActorName = 'operator' | 'system' | 'anonymous' | `${'account' | 'person' | 'key'}:${string}`;

/** Who did something, as exactly as the caller knows it. */
export interface ActorDetails {
  readonly actor: ActorName;
  /** `person:{id}`, `key:{id}` or `admin_token`; null where it is not known. */
  readonly by: string | null;
  readonly address: string | null;
}

/** The name alone where nothing else is known. */
export type Actor = ActorName | ActorDetails;

/** A person at an address. Who signed up with an account is named by it, as before accounts had several people. */
export function personAt(personId: string, address: string): ActorDetails {
  const by = `person:${shownPersonId(personId)}` as const;
  return { actor: personId.startsWith('acct-') ? `account:${personId}` : by, by, address };
}

export function actorDetailsOf(who: Actor): ActorDetails {
  return typeof who === 'string' ? { actor: who, by: null, address: null } : who;
}

export class AuditLog {
  private readonly ids = new IdSequence();

  constructor(
    private readonly store: AuditStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * The change has already been made, so an entry that cannot be written is logged and not thrown. The account is that of the details, of
   * the subject or of the actor unless it is given.
   */
  async record(
    who: Actor,
    action: string,
    subject: string,
    details: Record<string, unknown> = {},
    accountId: string | null = null,
  ): Promise<void> {
    const createdAt = this.clock.now();
    const { actor, by, address } = actorDetailsOf(who);
    const id = `aud-${this.ids.next(createdAt)}`;
    const entry = { id, createdAt, actor, by, accountId, address, action, subject, details };
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

/** A budget as the log keeps it. */
export function auditBudget(budget: Budget | null): Record<string, unknown> {
  if (budget === null) return { budget: null };
  const { limitPico, period, alertAt, opening } = budget;
  return {
    budget: { limit_usd: usdText(limitPico), period, alert_at: alertAt },
    ...(opening && { opening_spent_usd: usdText(opening.spentPico) }),
  };
}
