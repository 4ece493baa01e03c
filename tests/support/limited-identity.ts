/** A key with limits of its own and of its account. */
import {
  type Identity,
  type KeyTerms,
  newAccount,
  identityOf as ofAccount,
  openTerms,
} from '../../src/domain/account.js';

const unlimitedKey = {
  accountId: 'acc',
  lastFour: 'wxyz',
  hash: null,
  expiresAt: null,
  createdAt: 0,
  projectId: null,
  holderId: null,
};

export function identityOf(
  id: string,
  limits: Partial<Identity['account']['limits']> = {},
  terms: Partial<KeyTerms> = {},
): Identity {
  const account = newAccount({ id: 'acc', email: 'a@example.com', name: null, billingCountry: null, createdAt: 0 });
  Object.assign(account.limits, limits);
  account.balancePico = 1n;
  return ofAccount({ ...unlimitedKey, id, name: id, terms: { ...openTerms, ...terms } }, account);
}
