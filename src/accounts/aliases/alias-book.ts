/**
 * Creates, repoints and deletes an account's aliases. The checks run in this order: name (400), name taken (409), free slots
 * (422), target (422).
 */
import type { Clock } from '../../base/time.js';
import type { Snapshot } from '../../catalogue/route.js';
import type { Account, Alias } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Actor, AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { isAliasName } from './alias-name.js';
import { checkAliasTarget, parseAliasTarget, targetModelId } from './alias-target.js';

/** The most aliases that an account may have. */
export const aliasSlots = 5;

type Body = Record<string, unknown>;

export class AliasBook {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  find(account: Account, name: string): Alias {
    const alias = account.aliases.get(name);
    if (!alias) throw gatewayError('alias_not_found', { name: name.slice(0, 100), param: 'name' });
    return alias;
  }

  async create(account: Account, body: Body, snapshot: Snapshot | null, who?: Actor): Promise<Alias> {
    const name = typeof body.name === 'string' ? body.name : '';
    if (!isAliasName(name)) throw gatewayError('invalid_alias_name', { name: name.slice(0, 100), param: 'name' });
    if (account.aliases.has(name)) throw gatewayError('alias_exists', { name });
    if (account.aliases.size >= aliasSlots) throw gatewayError('alias_limit_reached', { limit: aliasSlots });
    const target = parseAliasTarget(body);
    checkAliasTarget(requireSnapshot(snapshot), target);
    const now = this.clock.now();
    const alias: Alias = { name, ...target, createdAt: now, updatedAt: now };
    // The store checks again in its transaction, because parallel calls may all have passed the checks above.
    const outcome = await this.directory.createAlias(account, alias, aliasSlots);
    if (outcome === 'exists') throw gatewayError('alias_exists', { name });
    if (outcome === 'limit') throw gatewayError('alias_limit_reached', { limit: aliasSlots });
    await this.record(account, 'alias.create', alias, who);
    return alias;
  }

  /** Replaces the whole target: a field that is left out becomes empty and does not keep its value. */
  async repoint(
    ...[account, name, body, snapshot, who]: [Account, string, Body, Snapshot | null, Actor?]
  ): Promise<Alias> {
    const before = this.find(account, name);
    const target = parseAliasTarget(body);
    checkAliasTarget(requireSnapshot(snapshot), target);
    const alias: Alias = { name, ...target, createdAt: before.createdAt, updatedAt: this.clock.now() };
    if (!(await this.directory.replaceAlias(account, alias)))
      throw gatewayError('alias_not_found', { name, param: 'name' });
    await this.record(account, 'alias.repoint', alias, who);
    return alias;
  }

  async delete(account: Account, name: string, who?: Actor): Promise<void> {
    const alias = this.find(account, name);
    if (!(await this.directory.deleteAlias(account, name)))
      throw gatewayError('alias_not_found', { name, param: 'name' });
    await this.record(account, 'alias.delete', alias, who);
  }

  private record(account: Account, action: string, alias: Alias, who?: Actor): Promise<void> {
    return this.audit.record(who ?? `account:${account.id}`, action, account.id, {
      name: alias.name,
      target: targetModelId(alias),
    });
  }
}

function requireSnapshot(snapshot: Snapshot | null): Snapshot {
  if (!snapshot) throw gatewayError('service_unavailable');
  return snapshot;
}
