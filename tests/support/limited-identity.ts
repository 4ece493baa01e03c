/** A key with limits of its own and of its account. */
import { type Identity, type KeyTerms, openTerms } from '../../src/domain/account.js';
import { defaultPolicy } from '../../src/policy/policy.js';

const unlimitedKey = {
  accountId: 'acc',
  lastFour: 'wxyz',
  hash: null,
  expiresAt: null,
  createdAt: 0,
};

export function identityOf(
  id: string,
  limits: Partial<Identity['account']['limits']> = {},
  terms: Partial<KeyTerms> = {},
): Identity {
  const account = { id: 'acc', email: 'a@example.com', name: null, status: 'active' as const, billingCountry: null };
  return {
    key: { ...unlimitedKey, id, name: id, terms: { ...openTerms, ...terms } },
    account: {
      ...account,
      balancePico: 1n,
      usagePico: 0n,
      limits: { requestsPerMinute: null, tokensPerMinute: null, ...limits },
      overdraft: null,
      creditLimitPico: 0n,
      aliases: new Map(),
      fallback: [],
      policy: defaultPolicy,
      createdAt: 0,
    },
  };
}
