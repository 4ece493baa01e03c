/** What the product asks of its store, one interface a concern. PostgreSQL implements it; nothing else does. */
import type { DBAdapterInstance } from 'better-auth/types';
import type { ModelAvailability } from '../catalogue/route.js';
import type { Account, Alias, Key } from '../domain/account.js';
import type { Generation } from '../domain/generation.js';
import type { LedgerEntry } from '../domain/ledger-entry.js';
import type { NoticeStore } from '../domain/notice.js';
import type { PaymentStore } from '../domain/payment.js';
import type { SettlementRow } from '../domain/settlement-row.js';

/** The store could not be reached or did not answer in time: 500, never 401 or 402. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('The store cannot be reached.', { cause });
    this.name = 'StoreUnavailable';
  }
}

export interface NewAccount {
  id: string;
  email: string;
  name: string | null;
  billingCountry: string | null;
  createdAt: number;
}

export interface LedgerFilter {
  before?: string;
  kind?: LedgerEntry['kind'];
}

export interface AuditEntry {
  id: string;
  createdAt: number;
  /** `operator`, `account:{id}` or `system`. */
  actor: string;
  /** E.g. `key.create`. */
  action: string;
  /** What it was done to, e.g. an account id. */
  subject: string;
  details: Record<string, unknown>;
}

export interface GenerationQuery {
  accountId: string;
  limit: number;
  /** The id of the last one seen. */
  after?: string;
  /** Key name or id. */
  key?: string;
  /** Requested or served model: an id, or a `{creator}/{model}` that stands for all of its ids. */
  model?: string;
  provider?: string;
  /** `ok` and `error` as the overview counts them, or one HTTP status. */
  status?: 'ok' | 'error' | number;
  /** Epoch milliseconds, the first inclusive, the second not. */
  fromMs?: number;
  toMs?: number;
}

/** What of an account can be changed; what is left out stays. */
export type AccountChanges = Partial<Pick<Account, 'status' | 'billingCountry' | 'fallback' | 'policy'>> & {
  /** Those that are named; another process may be changing the other one. */
  limits?: Partial<Account['limits']>;
};

export interface AccountBalance {
  id: string;
  balancePico: bigint;
  usagePico: bigint;
}

export interface AccountStore {
  create(account: NewAccount): Promise<'created' | 'email_taken'>;
  /** Without the settlements that still wait in the journal; `accounts/` adds those. */
  find(id: string): Promise<Account | null>;
  /** By e-mail address, whatever its case. */
  findId(email: string): Promise<string | null>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  /** As the ledger stands, of the accounts that there are. */
  balances(ids: readonly string[]): Promise<AccountBalance[]>;
  update(id: string, change: AccountChanges): Promise<void>;
}

export interface KeyStore {
  /** False where the account has `keysMax` keys already, expired ones included; exact also for calls that arrive together. */
  create(key: Key, keysMax: number): Promise<boolean>;
  /** The key of a public id with its account, in one query. */
  findWithAccount(keyId: string): Promise<{ key: Key; account: Account } | null>;
  list(accountId: string): Promise<Key[]>;
  /** False where the account has no such key. */
  delete(accountId: string, keyId: string): Promise<boolean>;
  /** Erases the hashes of the keys that expired at or before `nowMs`; the number erased. */
  eraseExpired(nowMs: number): Promise<number>;
  /** The earliest expiry after `nowMs` of a key that still has its hash. */
  nextExpiry(nowMs: number): Promise<number | null>;
  /** Pico-dollars spent through the key. */
  usage(keyId: string): Promise<bigint>;
  /** The same for every key of an account, by key id. */
  usages(accountId: string): Promise<Map<string, bigint>>;
}

export interface AliasStore {
  /** Both checks and the insert in one transaction, so that parallel calls cannot pass the limit. */
  create(accountId: string, alias: Alias, limit: number): Promise<'created' | 'exists' | 'limit'>;
  replace(accountId: string, alias: Alias): Promise<boolean>;
  delete(accountId: string, name: string): Promise<boolean>;
}

export interface LedgerStore {
  /** Adds a credit or an adjustment and moves the balance, in one transaction. */
  post(entry: Omit<LedgerEntry, 'balancePico'>): Promise<LedgerEntry>;
  /** Newest first; with `before`, those that come before the entry of that id. */
  list(accountId: string, limit: number, filter?: LedgerFilter): Promise<LedgerEntry[]>;
  /**
   * Writes generations, ledger entries, balances and key usage in one transaction; a record that is already there changes
   * nothing. The caller may repeat it for ever.
   */
  settle(rows: readonly SettlementRow[]): Promise<void>;
}

export interface GenerationStore {
  find(accountId: string, id: string): Promise<Generation | null>;
  list(query: GenerationQuery): Promise<{ data: Generation[]; hasMore: boolean }>;
}

export interface AvailabilityStore {
  all(): Promise<Map<string, ModelAvailability>>;
  set(canonicalId: string, availability: ModelAvailability): Promise<void>;
}

export type HoldReason = 'upstream' | 'daily_token_quota';

/** What is to be known of a route's quota on one UTC day. */
export interface HoldRecord {
  /** Days since the epoch. */
  utcDay: number;
  routeId: string;
  /** null = not held (any more). */
  reason: HoldReason | null;
  /** An operator has lifted the hold of the route's own quota, which then binds no more on that day. */
  quotaLifted: boolean;
}

export interface HoldStore {
  /** The records of that day and of later ones. */
  since(utcDay: number): Promise<HoldRecord[]>;
  /** Replaces the record of that route and day. */
  put(record: HoldRecord): Promise<void>;
  /** Prompt and completion tokens of billed generations created from `fromMs` on and before `toMs`, by the route that served. */
  tokensBetween(fromMs: number, toMs: number): Promise<Map<string, number>>;
}

export interface AuditStore {
  add(entry: AuditEntry): Promise<void>;
  list(limit: number): Promise<AuditEntry[]>;
}

/** What a row of a summary sums up: all of the period, a step of it, what one route served in a step, or one part. */
export type UsageGroup = 'period' | 'step' | 'route' | 'model' | 'provider' | 'region';

export interface UsageRow {
  group: UsageGroup;
  /** The number of the step, from 0; null on rows that are not of a step. */
  step: number | null;
  /** The route, `{creator}/{model}`, provider or locode; null where nothing was served, and on rows of time alone. */
  id: string | null;
  requests: number;
  errors: number;
  costPico: bigint;
  promptTokens: number;
  completionTokens: number;
  firstByteP50Ms: number | null;
  firstByteP95Ms: number | null;
}

/** Sums over an account's generations, for charts (contract 8, Overview). Times are epoch milliseconds; `toMs` is not in it. */
export interface UsageStore {
  /** Steps without requests have no row. */
  summary(period: { accountId: string; fromMs: number; toMs: number; stepMs: number }): Promise<UsageRow[]>;
  /** What there is to filter by. */
  facets(accountId: string, fromMs: number): Promise<{ keys: string[]; models: string[]; providers: string[] }>;
}

/**
 * Tells the other processes on the same store of changes, in the transaction that makes them. The subjects
 * are those of shared state's versions; null = what was told may have been missed, so anything can have changed.
 */
export interface ChangeFeed {
  listen(heard: (subject: string | null) => void): Promise<{ close(): Promise<void> }>;
  /** For what has no row of its own: the catalogue, which is read from files. */
  announce(subject: string): Promise<void>;
}

export interface OtherProcesses {
  /** Tells whether there are any, now and from time to time; those that watch see one another. */
  watch(found: (any: boolean) => void, askEveryMs?: number): Promise<{ close(): Promise<void> }>;
}

export interface SignInUser {
  accountId: string;
  operator: boolean;
  hasPassword: boolean;
}

export interface SignInStore {
  /** What better-auth reads and writes its own tables with. */
  adapter(): Promise<DBAdapterInstance>;
  /** What the cookies are signed with: the candidate of the very first call, ever after. */
  secret(candidate: string): Promise<string>;
  /** Every account that can sign in. */
  list(): Promise<SignInUser[]>;
  /** Keeps the account that a one-time token opens, under an identifier that does not tell the token, and ends its earlier ones. */
  keepOnlyToken(identifier: string, accountId: string, expiresAt: number): Promise<void>;
  /** Gives it out once; null where it is unknown, used or too old. */
  takeToken(identifier: string, nowMs: number): Promise<string | null>;
  /** Sessions and one-time tokens whose time is over. */
  forgetExpired(nowMs: number): Promise<void>;
}

export interface Store {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly aliases: AliasStore;
  readonly ledger: LedgerStore;
  readonly generations: GenerationStore;
  readonly availability: AvailabilityStore;
  readonly holds: HoldStore;
  readonly audit: AuditStore;
  readonly signIn: SignInStore;
  readonly usage: UsageStore;
  readonly payments: PaymentStore;
  readonly notices: NoticeStore;
  readonly changes: ChangeFeed;
  readonly otherProcesses: OtherProcesses;
  /** Throws StoreUnavailable where the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
