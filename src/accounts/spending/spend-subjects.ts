/** The subjects of limits in the state that a fleet shares. */
import type { SpendLimit, SpendRefusal, SpendSubject } from '../../cluster/shared-spend.js';
import type { Account, Identity } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { balanceRefusal, boundRefusal, spendablePico } from './spend-bounds.js';

/** Its usage, which its balance is about. */
export function subjectOfBalance(accountId: string): SpendSubject {
  return { name: `{${accountId}}:account`, accountId, kind: 'balance', id: accountId, fromMs: 0 };
}

/** All credits and the credit limit: both are as of the account's version, however old the balance and the usage are. */
export function limitOfBalance(account: Account): SpendLimit {
  return { subject: subjectOfBalance(account.id), limitPico: spendablePico(account) + account.usagePico };
}

export const isOfBalance = ({ subject }: SpendLimit): boolean => subject.kind === 'balance';

export const subjectsOf = (limits: readonly SpendLimit[]): SpendSubject[] => limits.map(({ subject }) => subject);

export function includes(limits: readonly SpendLimit[], name: string): boolean {
  return limits.some(({ subject }) => subject.name === name);
}

/** The error for the limit that has no room. */
export function limitRefusal(
  identity: Identity,
  { subject, limitPico }: SpendLimit,
  refused: SpendRefusal,
): GatewayError {
  const { spentPico, heldPico } = refused;
  const { kind, fromMs } = subject;
  if (kind === 'balance') {
    const leftPico = limitPico - spentPico;
    return balanceRefusal(leftPico - identity.account.creditLimitPico, refused, leftPico <= 0n);
  }
  return boundRefusal(identity, { kind, fromMs, limitPico, spentPico, heldPico });
}
