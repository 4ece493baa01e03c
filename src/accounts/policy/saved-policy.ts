/** The operations on an account's routing policy: stored first, then in force, then in the audit. */

import type { Account } from '../../domain/account.js';
import { defaultPolicy, type RoutingPolicy, readPolicy } from '../../policy/policy.js';
import type { AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';

export class SavedPolicy {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly audit: AuditLog,
  ) {}

  /** Replaces all of it: what the body leaves out is the default. */
  async set(account: Account, body: Record<string, unknown>): Promise<RoutingPolicy> {
    const policy = readPolicy(body);
    await this.directory.setPolicy(account, policy);
    await this.audit.record(`account:${account.id}`, 'policy.set', account.id, { ...policy });
    return policy;
  }

  async delete(account: Account): Promise<void> {
    await this.directory.setPolicy(account, defaultPolicy);
    await this.audit.record(`account:${account.id}`, 'policy.delete', account.id);
  }
}
