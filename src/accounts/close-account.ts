/**
 * Closes an account for good. Its keys, credentials, members and invitations are deleted, and its email and name are erased. The ledger, the
 * records and their receipts stay, because they are the books: they name the account by its id alone.
 */
import { usdText } from '../base/money.js';
import type { Account } from '../domain/account.js';
import type { PeopleStore } from '../storage/store.js';
import type { Actor, AuditLog } from './audit.js';
import type { AccountDirectory } from './directory.js';

interface CloseDeps {
  directory: Pick<AccountDirectory, 'keys' | 'deleteKey' | 'credentials' | 'updateAccount'>;
  store: { readonly people: Pick<PeopleStore, 'closeAccount'> };
  audit: Pick<AuditLog, 'record'>;
}

/** Nobody can own it: the domain is reserved for names that do not exist. */
const closedEmail = (id: string): string => `closed-${id}@account.invalid`;

/** Access ends first. Where a step fails, its owner is still a member, and closes the account again. */
export async function closeAccount({ directory, store, audit }: CloseDeps, actor: Actor, account: Account) {
  const { id, balancePico } = account;
  const keys = await directory.keys(id);
  for (const key of keys) await directory.deleteKey(actor, id, key.id);
  for (const credential of [...account.credentials]) await directory.credentials.delete(actor, account, credential.id);
  const members = await store.people.closeAccount(id, closedEmail(id));
  Object.assign(account, { email: closedEmail(id), name: null });
  await directory.updateAccount(actor, id, { status: 'suspended', name: null });
  await audit.record(actor, 'account.close', id, { keys: keys.length, members, balance_usd: usdText(balancePico) });
}
