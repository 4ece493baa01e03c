/** The interfaces of the store, one for each concern. Only PostgreSQL implements them. */
import type { Account, Alias, ApiKey, KeyTerms, NewAccount } from '../domain/account.js';
import type { Generation } from '../domain/generation.js';
import type { LedgerEntry } from '../domain/ledger-entry.js';
import type { NoticeStore } from '../domain/notice.js';
import type { PaymentStore } from '../domain/payment.js';
import type { JournalOffset, SettlementRow } from '../domain/settlement-row.js';
import type { AuditStore } from './audit-types.js';
import type { BudgetStore, SpendStore } from './budget-types.js';
import type { CredentialStore } from './credential-types.js';
import type { CatalogueLog, CatalogueUpdateStore, RouteHistoryStore } from './history-types.js';
import type { AvailabilityStore, HoldStore } from './hold-types.js';
import type { IdentityStore } from './identity-types.js';
import type { LogStore } from './log-types.js';
import type { BroughtStore, NameStore } from './name-types.js';
import type { PeopleStore } from './people-types.js';
import type { ProjectStore, WorkloadStore } from './project-types.js';
import type { RecordStore, UsageStore } from './record-types.js';
import type { SignInStore } from './sign-in-types.js';

export type * from './audit-types.js';
export type * from './budget-types.js';
export type * from './credential-types.js';
export * from './history-types.js';
export type * from './hold-types.js';
export type * from './identity-types.js';
export type * from './name-types.js';
export type * from './people-types.js';
export type * from './project-types.js';
export type * from './record-types.js';
export * from './sign-in-types.js';

/** The store could not be reached or did not answer in time. It becomes a 500, never a 401 or 402. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super(whatHappened(cause), { cause });
    this.name = 'StoreUnavailable';
  }
}

/** Says that the store cannot be reached only where nothing was heard of it. */
function whatHappened(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const isConnection = /^(08|57P|E)/;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !isConnection.test(code))
    return `The store answered with an error (SQLSTATE ${code}).`;
  return /timeout|no connection came free/.test(String(message))
    ? 'The store does not answer in time.'
    : 'The store cannot be reached.';
}

/** The store answers, but a query over the history took longer than it may. */
export class QueryTooSlow extends Error {
  constructor(
    readonly timeoutMs: number,
    cause: unknown,
  ) {
    super(`The query took longer than ${timeoutMs / 1000} seconds.`, { cause });
    this.name = 'QueryTooSlow';
  }
}

/** An export names an account or a row that does not exist. */
export class UnknownExportRow extends Error {
  constructor(
    readonly param: 'account' | 'after',
    readonly id: string,
  ) {
    const shown = id.slice(0, 100);
    super(
      param === 'account'
        ? `There is no account with the id "${shown}".`
        : `There is no row with the id "${shown}": it was removed or never existed. Resume by the time (since) instead of the row (after).`,
    );
    this.name = 'UnknownExportRow';
  }
}

export interface LedgerFilter {
  before?: string;
  kind?: LedgerEntry['kind'];
}

export interface GenerationQuery {
  accountId: string;
  limit: number;
  /** The id of the last entry of the page before. */
  after?: string;
  /** The API key's name or id. */
  key?: string;
  /** Who the client said was asking. */
  endUser?: string;
  /** The ids of the projects that paid. */
  projects?: readonly string[];
  /** The person who held the key, by the id that others see. */
  holder?: string;
  /** Requested or served model: an id, or `{creator}/{model}` for all of its ids. */
  model?: string;
  /** The model that served, or was asked for where nobody served, without provider and region. */
  forModel?: string;
  provider?: string;
  /** The region that served. */
  locode?: string;
  /** False for requests that nobody served. */
  served?: boolean;
  requestId?: string;
  /** `ok` or `error` as the overview counts them, or one HTTP status. */
  status?: 'ok' | 'error' | number;
  /** Epoch milliseconds: the first is inclusive, the second exclusive. */
  fromMs?: number;
  toMs?: number;
  /** Newest first where absent. The sorts by a figure have one page, so they take no `after`. */
  sort?: GenerationSort;
}

export type GenerationSort = 'newest' | 'oldest' | 'cost' | 'latency' | 'tokens';

/** The changeable fields of an account; absent fields stay. */
export type AccountChanges = Partial<
  Pick<
    Account,
    | 'name'
    | 'status'
    | 'billingCountry'
    | 'fallback'
    | 'policy'
    | 'overdraft'
    | 'creditLimitPico'
    | 'budget'
    | 'settingsByKeys'
    | 'recordEndUsers'
    | 'budgetsCountOwnKeys'
  >
> & {
  /** Only the named limits change, because another process may be changing the other one. */
  limits?: Partial<Account['limits']>;
};

export interface AccountBalance {
  id: string;
  balancePico: bigint;
  usagePico: bigint;
  creditLimitPico: bigint;
}

export interface AccountStore {
  create(account: NewAccount): Promise<'created' | 'email_taken'>;
  /** Without the settlements that are still in the journal; `accounts/` adds those. */
  find(id: string): Promise<Account | null>;
  /** By email, in any case. */
  findId(email: string): Promise<string | null>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  /** The balances of the ledger, for those accounts that exist. */
  balances(ids: readonly string[]): Promise<AccountBalance[]>;
  update(id: string, change: AccountChanges): Promise<void>;
}

/** What is left out stays as it is, each term for itself. */
export interface KeyChange {
  readonly name?: string;
  readonly terms?: Partial<KeyTerms>;
  readonly holderId?: string | null;
}

export interface KeyFigures {
  /** The pico-dollars spent through the key. */
  readonly usagePico: bigint;
  readonly lastUsedAt: number | null;
}

/** Where a key is, or was, among those of its account: they are in the order of the time at which they were made. */
export type KeyPlace = Pick<ApiKey, 'id' | 'createdAt'>;

/** What is left out bounds nothing. */
export interface KeysQuery {
  readonly limit?: number | undefined;
  readonly after?: KeyPlace | undefined;
}

export interface KeyStore {
  /**
   * `limit` where the key's project already has `keysMax` keys, expired ones included; management keys of the whole account are counted
   * for themselves. Exact for parallel calls too, and none is created in a project that is being deleted.
   */
  create(key: ApiKey, keysMax: number): Promise<'created' | 'limit' | 'project_gone'>;
  /** The stored id of a member of the account by the id that others see; null where there is no such member. */
  holderNamed(accountId: string, shownId: string): Promise<string | null>;
  /** The key of a public id with its account, in one query. */
  findWithAccount(keyId: string): Promise<{ key: ApiKey; account: Account } | null>;
  /** Oldest first. */
  list(accountId: string, page?: KeysQuery): Promise<ApiKey[]>;
  /** The key as it is now; null where the account has no such key. Parallel changes of different terms are all kept. */
  update(accountId: string, keyId: string, change: KeyChange): Promise<ApiKey | null>;
  /** When it was made; null where the account has no such key. */
  delete(accountId: string, keyId: string): Promise<number | null>;
  /** Erases the hashes of keys that expired at or before `nowMs`; returns their number. */
  eraseExpired(nowMs: number): Promise<number>;
  /** The earliest expiry after `nowMs` of a key that still has its hash. */
  nextExpiry(nowMs: number): Promise<number | null>;
  /** The pico-dollars spent through the key. */
  usage(keyId: string): Promise<bigint>;
  /** The figures of keys of an account, by key id; of all of them without a list. */
  figures(accountId: string, keyIds?: readonly string[]): Promise<Map<string, KeyFigures>>;
  /** Notes when keys were last used, by key id. An earlier time than the stored one changes nothing. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>;
}

export interface AliasStore {
  /** Runs both checks and the insert in one transaction, so that parallel calls cannot exceed the limit. */
  create(accountId: string, alias: Alias, limit: number): Promise<'created' | 'exists' | 'limit'>;
  replace(accountId: string, alias: Alias): Promise<boolean>;
  delete(accountId: string, name: string): Promise<boolean>;
}

export interface LedgerStore {
  /** Adds a credit or an adjustment and changes the balance, in one transaction. */
  post(entry: Omit<LedgerEntry, 'balancePico'>): Promise<LedgerEntry>;
  /** Newest first; with `before`, the entries before that one. */
  list(accountId: string, limit: number, filter?: LedgerFilter): Promise<LedgerEntry[]>;
  /** The sums of all credits and of all adjustments. */
  posted(accountId: string): Promise<{ creditPico: bigint; adjustmentPico: bigint }>;
  /**
   * Writes generations, ledger entries, balances and key usage in one transaction. A record that already exists changes
   * nothing, so the caller may repeat it. How far the journals are settled is noted in the same transaction.
   */
  settle(rows: readonly SettlementRow[], offsets?: readonly JournalOffset[]): Promise<void>;
  /** How far a journal is settled; null where nothing of it is. */
  offset(run: string): Promise<JournalOffset | null>;
  /** The journal is gone. */
  removeOffset(run: string): Promise<void>;
}

export interface GenerationStore {
  /** By the generation's id, or by the id of its request. Without an account: of any. */
  find(accountId: string | null, id: string): Promise<Generation | null>;
  list(query: GenerationQuery): Promise<{ data: Generation[]; hasMore: boolean }>;
}

/**
 * Notifies the other processes on the same store of changes, in the transaction that makes them. The subjects are those of
 * the shared state's versions; null means that changes may have been missed, so anything can have changed.
 */
export interface ChangeFeed {
  listen(heard: (subject: string | null) => void): Promise<{ close(): Promise<void> }>;
  /** For what has no row in the store: the catalogue, which is read from files. */
  announce(subject: string): Promise<void>;
}

export interface OtherProcesses {
  /** Reports whether there are other processes, now and at intervals. Processes that watch see each other. */
  watch(found: (any: boolean) => void, askEveryMs?: number): Promise<{ close(): Promise<void> }>;
}

export interface Store {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly workloads: WorkloadStore;
  readonly projects: ProjectStore;
  readonly brought: BroughtStore;
  readonly aliases: AliasStore;
  readonly credentials: CredentialStore;
  readonly names: NameStore;
  readonly ledger: LedgerStore;
  readonly budgets: BudgetStore;
  readonly spend: SpendStore;
  readonly generations: GenerationStore;
  readonly availability: AvailabilityStore;
  readonly holds: HoldStore;
  readonly audit: AuditStore;
  readonly signIn: SignInStore;
  readonly people: PeopleStore;
  readonly identities: IdentityStore;
  readonly usage: UsageStore;
  readonly records: RecordStore;
  readonly catalogueLog: CatalogueLog;
  catalogueUpdates: CatalogueUpdateStore;
  readonly routeHistory: RouteHistoryStore;
  readonly log: LogStore;
  readonly payments: PaymentStore;
  readonly notices: NoticeStore;
  readonly changes: ChangeFeed;
  readonly otherProcesses: OtherProcesses;
  /** Throws StoreUnavailable where the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
