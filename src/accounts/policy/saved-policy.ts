/** Saves and deletes an account's routing policy: first in the store, then in memory, then in the audit log. */

import type { Account } from '../../domain/account.js';
import { defaultPolicy, readPolicy } from '../../policy/policy.js';
import type { RoutingPolicy } from '../../policy/routing-policy.js';
import type { Actor, AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';

export class SavedPolicy {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly audit: AuditLog,
  ) {}

  /** Replaces the whole policy: a field that the body leaves out gets its default. */
  async set(account: Account, body: Record<string, unknown>, who?: Actor): Promise<RoutingPolicy> {
    const policy = readPolicy(body);
    await this.directory.setRouting(account, { policy });
    await this.audit.record(who ?? `account:${account.id}`, 'policy.set', account.id, { ...policy });
    return policy;
  }

  async delete(account: Account, who?: Actor): Promise<void> {
    await this.directory.setRouting(account, { policy: defaultPolicy });
    await this.audit.record(who ?? `account:${account.id}`, 'policy.delete', account.id);
  }
}
