/**
 * Accounts, keys and aliases: read from memory, changed first in the store and then in memory, so that the request path
 * always sees exact values. A change is acknowledged only when both have it, in every process of a fleet.
 */
import { timeOrderedId } from '../base/ids.js';
import type { Logger } from '../base/logger.js';
import { type PicoUsd, usdText } from '../base/money.js';
import type { Clock } from '../base/time.js';
import { type Account, type Alias, type ApiKey, type NewAccount, newAccount } from '../domain/account.js';
import type { LedgerEntry } from '../domain/ledger-entry.js';
import { shownPersonId } from '../domain/organisation.js';
import type { PaymentEvent, PaymentOutcome } from '../domain/payment.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { KeyChange, KeyFigures, KeysQuery, Store, AccountChanges as StoredChange } from '../storage/store.js';
import { AccountChanges } from './account-changes.js';
import { type Actor, type AuditLog, auditBudget, auditTerms } from './audit.js';
import { CredentialBook } from './credentials/credential-book.js';
import type { Identities } from './identities.js';
import { IdentityCache } from './identity-cache.js';
import { bringKeys } from './keys/bring-keys.js';
import { KeyUses } from './keys/key-uses.js';
import { deletedKeyDetails, keyOf, type NewKey, newKeyDetails } from './keys/new-key.js';
import { noSuchProject, Projects } from './projects/projects.js';
import { type CountryAfter, recordPayment } from './record-payment.js';
import { type BudgetChange, setBudget } from './set-budget.js';

/** The keys of a project. Each has its own rate limits, so these bound a project only if the number of its keys is bounded. */
const keysMax = 200;

type AccountRequest = Pick<NewAccount, 'email' | 'creditLimitPico' | 'budget' | 'importedFrom'> &
  Partial<Pick<NewAccount, 'name' | 'billingCountry'>>;

/** What `updateAccount` changes; policy and chain have `setRouting`. */
export type AccountChange = Omit<StoredChange, 'policy' | 'fallback'>;

interface DirectoryDeps {
  store: Store;
  clock: Clock;
  audit: AuditLog;
  logger: Logger;
  /**
   * Resolves when the journal of an earlier process is in the store. Rejects with StoreUnavailable while that is not
   * possible.
   */
  replayed?: () => Promise<void>;
  /** In a fleet: the memory that also receives the changes of other processes. */
  identities?: Identities;
}

export class AccountDirectory {
  readonly projects: Projects;
  readonly credentials: CredentialBook;
  /** What memory holds of accounts and keys: requests are answered from it. */
  readonly identities: Identities;
  readonly uses: KeyUses;
  private readonly changes: AccountChanges;

  constructor(private readonly deps: DirectoryDeps) {
    this.changes = new AccountChanges((id) => this.identities.reread(id), deps.logger);
    this.uses = new KeyUses(deps.store.keys);
    this.identities = deps.identities ?? new IdentityCache(deps.store, deps.replayed ?? (() => Promise.resolve()));
    this.projects = new Projects({ ...deps, cache: this.identities, changes: this.changes });
    this.credentials = new CredentialBook({ ...deps, cache: this.identities, changes: this.changes });
  }

  /** The shared object of an account: all of its keys see the same balance. */
  account(id: string): Promise<Account | null> {
    return this.identities.account(id);
  }

  accounts(): Promise<Account[]> {
    return this.identities.all();
  }

  async createAccount(actor: Actor, request: AccountRequest): Promise<Account> {
    const createdAt = this.deps.clock.now();
    const { email, billingCountry = null, creditLimitPico, budget, importedFrom } = request;
    const id = `acct-${timeOrderedId(createdAt)}`;
    const made: NewAccount = { name: null, ...request, billingCountry, id, createdAt };
    const outcome = await this.deps.store.accounts.create(made);
    if (outcome === 'email_taken') throw gatewayError('account_exists', { email });
    const account = this.identities.adopt(newAccount(made));
    await this.deps.audit.record(actor, 'account.create', id, {
      ...{ email, billing_country: billingCountry },
      ...(creditLimitPico !== undefined && { credit_limit_usd: usdText(creditLimitPico) }),
      ...(budget && auditBudget(budget)),
      ...(importedFrom && { imported_from: importedFrom }),
    });
    return account;
  }

  async updateAccount(actor: Actor, id: string, change: AccountChange): Promise<Account> {
    const account = await this.requireAccount(id);
    return this.changes.run(id, async () => {
      const { limits, ...rest } = change;
      await this.deps.store.accounts.update(id, change);
      Object.assign(account, rest, limits && { limits: { ...account.limits, ...limits } });
      await this.identities.changed([`account:${id}`]);
      const { creditLimitPico, budget, ...recorded } = change;
      await this.deps.audit.record(actor, 'account.update', id, {
        ...recorded,
        ...(creditLimitPico !== undefined && { credit_limit_usd: usdText(creditLimitPico) }),
        ...(budget !== undefined && auditBudget(budget)),
      });
      return account;
    });
  }

  /** Holds for the next request, in every process. What was billed has to be in the store before. */
  setBudget(actor: Actor, change: BudgetChange): Promise<void> {
    const announce = () => this.identities.changed([`account:${change.account.id}`]);
    return this.changes.run(change.account.id, () => setBudget(this.deps, actor, change, announce));
  }

  /** A positive amount is a credit, a negative one an adjustment. The entry's balance follows the order of the ledger. */
  async postCredit(actor: Actor, id: string, amountPico: PicoUsd, note: string | null): Promise<LedgerEntry> {
    const account = await this.requireAccount(id);
    return this.changes.run(id, async () => {
      const createdAt = this.deps.clock.now();
      const entry = await this.deps.store.ledger.post({
        id: `led-${timeOrderedId(createdAt)}`,
        accountId: id,
        createdAt,
        kind: amountPico < 0n ? 'adjustment' : 'credit',
        amountPico,
        generationId: null,
        note,
      });
      account.balancePico += amountPico;
      await this.identities.changed([`account:${id}`]);
      await this.deps.audit.record(actor, 'credits.post', id, { amount_usd: usdText(amountPico), note });
      return entry;
    });
  }

  /** Applies a processor's report: credits and adjustments, each once, and the verified billing country. */
  recordPayment(event: PaymentEvent, countryAfter: CountryAfter): Promise<PaymentOutcome> {
    const { identities: cache, changes } = this;
    return recordPayment({ ...this.deps, cache, changes }, event, countryAfter);
  }

  /** Only the answer contains the token; the store has its hash, and logs have neither. Throws key_limit_reached, or key_exists for a brought key. */
  async createKey(actor: Actor, request: NewKey): Promise<{ key: ApiKey; token: string }> {
    const { accountId, createdAt = this.deps.clock.now(), brought, projectId = null } = request;
    const account = await this.requireAccount(accountId);
    const { key, token } = keyOf(request, createdAt);
    const { id } = key;
    const { keys, brought: tokens } = this.deps.store;
    if (brought && !(await tokens.bring([key])).has(id)) throw gatewayError('key_exists');
    const outcome = brought ? 'created' : await keys.create(key, keysMax);
    if (outcome === 'limit') throw gatewayError('key_limit_reached', { limit: keysMax });
    if (outcome === 'project_gone') throw noSuchProject(projectId ?? '');
    this.identities.addKey(key, account);
    await this.deps.audit.record(actor, 'key.create', id, newKeyDetails(request));
    return { key, token };
  }

  /** Keys of another system, all at once. Those with a token that another key has are left out, and null in their place. */
  async bringKeys(actor: Actor, accountId: string, requests: readonly NewKey[]): Promise<(ApiKey | null)[]> {
    await this.requireAccount(accountId);
    return bringKeys(this.deps, actor, accountId, requests);
  }

  async keys(accountId: string, page?: KeysQuery): Promise<ApiKey[]> {
    await this.requireAccount(accountId);
    return this.deps.store.keys.list(accountId, page);
  }

  /** The spending of each key in all, of those that are listed, and its last use, by key id. */
  keyFigures(accountId: string, keyIds?: readonly string[]): Promise<Map<string, KeyFigures>> {
    return this.uses.figures(accountId, keyIds);
  }

  /** null where the account has no such key. Holds for the key's next request, in every process. */
  async updateKey(actor: Actor, accountId: string, keyId: string, change: KeyChange): Promise<ApiKey | null> {
    if (!(await this.account(accountId))) return null;
    const owner = this.identities.ownerOf(keyId);
    if (owner !== undefined && owner !== accountId) return null;
    // The store may have made the change also where it does not answer, so memory and the other processes read the key again.
    const changed = await this.deps.store.keys.update(accountId, keyId, change).finally(() => {
      this.identities.forgetKey(keyId);
      return this.identities.changed([`key:${keyId}@${accountId}`]);
    });
    if (!changed) return null;
    const { name, terms, holderId } = change;
    const details = {
      ...{ account_id: accountId, ...(name !== undefined && { name }), ...(terms && auditTerms(terms)) },
      ...(holderId !== undefined && { holder: holderId && shownPersonId(holderId) }),
    };
    await this.deps.audit.record(actor, 'key.update', keyId, details);
    return changed;
  }

  /** The store has changed these keys. Their next requests see it, in every process. */
  async keysChanged(accountId: string, keyIds: readonly string[]): Promise<void> {
    for (const id of keyIds) this.identities.forgetKey(id);
    await this.identities.changed([`account:${accountId}`, ...keyIds.map((id) => `key:${id}@${accountId}` as const)]);
  }

  /** The key's next request gets 401, also where the store failed half-way: memory drops the key in either case. */
  async deleteKey(actor: Actor, accountId: string, keyId: string): Promise<boolean> {
    if (!(await this.account(accountId))) return false;
    const owner = this.identities.ownerOf(keyId);
    if (owner !== undefined && owner !== accountId) return false;
    const createdAt = await this.deps.store.keys.delete(accountId, keyId).finally(() => this.identities.dropKey(keyId));
    // Also where it was already gone: the process that deleted it may have died before it notified the others.
    await this.identities.changed([`key:${keyId}@${accountId}`]);
    if (createdAt === null) return false;
    await this.deps.audit.record(actor, 'key.delete', keyId, deletedKeyDetails(accountId, createdAt));
    return true;
  }

  /** Erases in the store first, then in memory. Called by ExpirySweeper. */
  async eraseExpired(nowMs: number): Promise<number> {
    const erased = await this.deps.store.keys.eraseExpired(nowMs);
    this.identities.eraseExpired(nowMs);
    return erased;
  }

  nextExpiry(nowMs: number): Promise<number | null> {
    return this.deps.store.keys.nextExpiry(nowMs);
  }

  createAlias(account: Account, alias: Alias, limit: number): Promise<'created' | 'exists' | 'limit'> {
    return this.changes.run(account.id, async () => {
      const outcome = await this.deps.store.aliases.create(account.id, alias, limit);
      if (outcome !== 'created') return outcome;
      account.aliases.set(alias.name, alias);
      await this.identities.changed([`account:${account.id}`]);
      return outcome;
    });
  }

  replaceAlias(account: Account, alias: Alias): Promise<boolean> {
    return this.changes.run(account.id, async () => {
      const replaced = await this.deps.store.aliases.replace(account.id, alias);
      if (replaced) account.aliases.set(alias.name, alias);
      await this.identities.changed([`account:${account.id}`]);
      return replaced;
    });
  }

  deleteAlias(account: Account, name: string): Promise<boolean> {
    return this.changes.run(account.id, async () => {
      const deleted = await this.deps.store.aliases.delete(account.id, name);
      if (deleted) account.aliases.delete(name);
      await this.identities.changed([`account:${account.id}`]);
      return deleted;
    });
  }

  /** Both are replaced and never changed, so running requests keep those that they began with. */
  setRouting(account: Account, change: Partial<Pick<Account, 'policy' | 'fallback'>>): Promise<void> {
    return this.changes.run(account.id, async () => {
      await this.deps.store.accounts.update(account.id, change);
      Object.assign(account, change);
      await this.identities.changed([`account:${account.id}`]);
    });
  }

  async close(): Promise<void> {
    this.changes.close();
    await this.uses.close();
  }

  private async requireAccount(id: string): Promise<Account> {
    const account = await this.account(id);
    if (!account) throw gatewayError('resource_not_found', { what: 'account', id });
    return account;
  }
}
