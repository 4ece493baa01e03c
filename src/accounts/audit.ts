/** Writes the audit log: one entry for each change by an operator or an account. Entries contain no secrets. */

import { timeOrderedId } from '../base/ids.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
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
