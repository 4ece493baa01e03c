/**
 * Makes the link that a start prints for the demo account: a token that works once, within a week, and is stored only as a
 * hash. Whoever reads the console of an embedded store can read its admin token too, so the claim makes the user an operator.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import type { Store } from '../../storage/store.js';
import type { AccountDirectory } from '../directory.js';
import { hashToken } from '../keys/token.js';
import type { SignIns } from './sign-ins.js';

export const demoEmail = 'demo@lodestone.local';

const validMs = 7 * 86_400_000;

interface DemoClaimDeps {
  store: Pick<Store, 'accounts' | 'signIn'>;
  directory: Pick<AccountDirectory, 'account'>;
  signIns: Pick<SignIns, 'admitAsOperator' | 'hasPassword'>;
  clock: Pick<Clock, 'now'>;
}

/** Makes a new token and ends the earlier ones; null where there is no demo account or it already has a password. */
export async function offerClaim({ store, clock }: Pick<DemoClaimDeps, 'store' | 'clock'>): Promise<string | null> {
  const { accounts, signIn } = store;
  const accountId = await accounts.findId(demoEmail);
  if (accountId === null) return null;
  const user = (await signIn.list()).find((entry) => entry.accountId === accountId);
  if (user?.hasPassword) return null;
  const token = randomBytes(32).toString('base64url');
  await signIn.keepOnlyToken(identifierOf(token), accountId, clock.now() + validMs);
  return token;
}

export class DemoClaim {
  constructor(private readonly deps: DemoClaimDeps) {}

  /**
   * Returns the demo account ready to sign in, and its person; null where the token is unknown, used or too old, or the account has a
   * password.
   */
  async take(token: string): Promise<{ account: Account; personId: string } | null> {
    const accountId = await this.deps.store.signIn.takeToken(identifierOf(token), this.deps.clock.now());
    const account = accountId === null ? null : await this.deps.directory.account(accountId);
    if (!account || (await this.deps.signIns.hasPassword(account.id))) return null;
    return { account, personId: await this.deps.signIns.admitAsOperator(account) };
  }
}

function identifierOf(token: string): string {
  return `claim:${hashToken(token).toString('hex')}`;
}
