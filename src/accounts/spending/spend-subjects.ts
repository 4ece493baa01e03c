/** The subjects of limits in the state that a fleet shares. */
import type { SpendLimit, SpendSubject } from '../../cluster/shared-spend.js';

/** Its usage, which its balance is about. */
export function subjectOfBalance(accountId: string): SpendSubject {
  return { name: `{${accountId}}:account`, accountId, kind: 'balance', id: accountId, fromMs: 0 };
}

export const isOfBalance = ({ subject }: SpendLimit): boolean => subject.kind === 'balance';

export const subjectsOf = (limits: readonly SpendLimit[]): SpendSubject[] => limits.map(({ subject }) => subject);

export function includes(limits: readonly SpendLimit[], name: string): boolean {
  return limits.some(({ subject }) => subject.name === name);
}
