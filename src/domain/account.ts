/** Accounts with their API keys and aliases, as the store keeps them and the request path reads them. */
import type { RoutingPolicy } from '../policy/routing-policy.js';

export interface ApiKey {
  /** The first ten characters after the token's prefix: the key's public id. */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly lastFour: string;
  /** SHA-256 of the whole token; null after the key's expiry has erased it. */
  readonly hash: Buffer | null;
  /** Epoch milliseconds; null where the key never expires. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly terms: KeyTerms;
  /** It is verified by a token of another system, which has no id in it; absent for one that was made here. */
  readonly brought?: boolean;
  readonly importedFrom?: { readonly system: string; readonly id: string } | null;
  /** What was spent through it elsewhere, which counts in the period in which it came. */
  readonly openingPico?: bigint;
}

/** How long the hash of a brought token outlives its expiry: it is all that tells its owner that it has expired. */
export const broughtKeptMs = 30 * 86_400_000;

/** What a key may do and spend. */
export interface KeyTerms {
  /** A management key changes the keys of its account and can call no model. */
  readonly kind: 'inference' | 'management';
  readonly disabled: boolean;
  /** How much may be spent through the key in a period; null = as much as the account has. */
  readonly limitPico: bigint | null;
  /** When a new period begins, at 00:00 UTC: never, each day, each Monday, each first of a month. */
  readonly limitReset: 'never' | 'daily' | 'weekly' | 'monthly';
  /** Ids of routes, of a provider's model, `auto/` ids, `{creator}/{model}` or `{creator}/*`; null = every model. */
  readonly allowedModels: readonly string[] | null;
  readonly allowedProviders: readonly string[] | null;
  /** CIDRs from which the key may be used; null = from everywhere. */
  readonly allowedIps: readonly string[] | null;
  /** Not above the account's; null = the account's. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Restrict nothing. */
export const openTerms: KeyTerms = {
  kind: 'inference',
  disabled: false,
  limitPico: null,
  limitReset: 'never',
  allowedModels: null,
  allowedProviders: null,
  allowedIps: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
};

export interface AliasTarget {
  readonly provider: string;
  readonly canonicalId: string;
  /** null for `auto`. */
  readonly locode: string | null;
}

export interface Alias extends AliasTarget {
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Kept in memory and written through to the store, so that it is always exact in a single process. Mutable on purpose. */
export interface Account {
  readonly id: string;
  readonly email: string;
  name: string | null;
  status: 'active' | 'suspended';
  billingCountry: string | null;
  /** The sum of the ledger, including settlements that are still in the journal. */
  balancePico: bigint;
  /** The sum of all usage costs, as a positive amount. */
  usagePico: bigint;
  limits: { requestsPerMinute: number | null; tokensPerMinute: number | null };
  /** Whether requests in flight are held against the balance; null = as the configuration says. */
  overdraft: 'open' | 'bounded' | null;
  /** How far below zero the balance may go before requests are refused. */
  creditLimitPico: bigint;
  readonly aliases: Map<string, Alias>;
  /** The saved fallback chain; empty where none is saved. */
  fallback: readonly string[];
  policy: RoutingPolicy;
  readonly createdAt: number;
}

/** What requests may still spend. Requests are admitted while it is above zero. */
export function spendablePico({
  balancePico,
  creditLimitPico,
}: Pick<Account, 'balancePico' | 'creditLimitPico'>): bigint {
  return balancePico + creditLimitPico;
}

export interface Identity {
  readonly key: ApiKey;
  readonly account: Account;
}
