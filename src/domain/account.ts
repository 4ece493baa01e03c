/** Accounts with their API keys and aliases, as the store keeps them and the request path reads them. */
import { defaultPolicy } from '../policy/policy.js';
import type { RoutingPolicy } from '../policy/routing-policy.js';
import { noCredentials, type OwnCredential } from './credential.js';
import { type Budget, defaultProjectId, type ImportedFrom, type Project } from './organisation.js';

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
  /** The project that pays for it and bounds it; null for the default one, and for a management key of the whole account. */
  readonly projectId: string | null;
  /** The person who holds it; null where it belongs to the project. */
  readonly holderId: string | null;
  /** It is verified by a token of another system, which has no id in it; absent for one that was made here. */
  readonly brought?: boolean;
  readonly importedFrom?: ImportedFrom | null;
  /** What was spent through it elsewhere, which counts in the period in which it came. */
  readonly openingPico?: bigint;
  /** The workload that got it for a token of its own; absent for every other key. */
  readonly workload?: Workload;
}

/** Who exchanged a token of an issuer for a key. */
export interface Workload {
  /** The id of the entry of the project's `trust` that let it. */
  readonly entry: string;
  readonly issuer: string;
  readonly subject: string;
}

/** How long the key of a workload is kept after its end. */
export const workloadKeptMs = 3_600_000;

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
  /** By id. The default one is always there. */
  readonly projects: Map<string, Project>;
  /** The saved fallback chain; empty where none is saved. */
  fallback: readonly string[];
  policy: RoutingPolicy;
  budget: Budget | null;
  /** Whether inference keys may change policy, aliases and chain. */
  settingsByKeys: boolean;
  /** Whether the end user that a request names is kept with its record. */
  recordEndUsers: boolean;
  /** Whether budgets and caps count the list price of what own credentials have paid for, and not the fee alone. */
  budgetsCountOwnKeys: boolean;
  /** At providers, of the account and of its projects. Replaced as a whole, and the same list while nothing of it changes. */
  credentials: readonly OwnCredential[];
  /** Where it was before; null for one that was made here. */
  readonly importedFrom: ImportedFrom | null;
  readonly createdAt: number;
}

export interface Identity {
  readonly key: ApiKey;
  readonly account: Account;
  /** The key's; the default one of the account for a management key of the whole account, and in a session. */
  readonly project: Project;
}

/** A key of a project that is gone can do nothing more. */
export function identityOf(key: ApiKey, account: Account): Identity {
  const ofAccount = account.projects.get(defaultProjectId(account.id))!;
  const project = key.projectId === null ? ofAccount : account.projects.get(key.projectId);
  return project
    ? { key, account, project }
    : { key: { ...key, terms: { ...key.terms, disabled: true } }, account, project: ofAccount };
}

/** The project that a key belongs to; null for a management key of the whole account. */
export function keyProjectId({
  projectId,
  accountId,
  terms,
}: Pick<ApiKey, 'projectId' | 'accountId' | 'terms'>): string | null {
  return projectId ?? (terms.kind === 'management' ? null : defaultProjectId(accountId));
}

/** What an account is made with. */
export type NewAccount = Pick<Account, 'id' | 'email' | 'name' | 'billingCountry' | 'createdAt'> &
  Partial<Pick<Account, 'creditLimitPico' | 'budget' | 'importedFrom'>>;

/** An account as it is made: without money and settings, with its default project. */
export function newAccount(made: NewAccount): Account {
  const { id, createdAt } = made;
  return {
    status: 'active',
    balancePico: 0n,
    usagePico: 0n,
    limits: { requestsPerMinute: null, tokensPerMinute: null },
    overdraft: null,
    creditLimitPico: 0n,
    importedFrom: null,
    aliases: new Map(),
    projects: new Map([[defaultProjectId(id), defaultProject(id, createdAt)]]),
    fallback: [],
    policy: defaultPolicy,
    budget: null,
    settingsByKeys: true,
    recordEndUsers: false,
    budgetsCountOwnKeys: true,
    credentials: noCredentials,
    ...made,
  };
}

function defaultProject(accountId: string, createdAt: number): Project {
  return {
    ...{ id: defaultProjectId(accountId), accountId, name: 'default', isDefault: true, createdAt },
    ...{ budget: null, limits: { requestsPerMinute: null, tokensPerMinute: null } },
    ...{ policy: null, trust: [], importedFrom: null },
  };
}
