/** The interfaces of the store for sums of usage, and for looking after the stored records. */
import type { Readable } from 'node:stream';

/** What a summary's row covers: the whole period, a step of it, what one route served in a step, or one part. */
export type UsageGroup = 'period' | 'step' | 'intensity' | 'route' | 'model' | 'provider' | 'region';

export interface UsageRow {
  group: UsageGroup;
  /** The number of the step, from 0; null on rows that do not belong to a step. */
  step: number | null;
  /** The route, `{creator}/{model}`, provider or locode; null where nothing was served, and on rows of time alone. */
  id: string | null;
  requests: number;
  errors: number;
  costPico: bigint;
  promptTokens: number;
  completionTokens: number;
  /** null on rows of routes, whose percentiles nobody shows. */
  firstByteP50Ms: number | null;
  firstByteP95Ms: number | null;
}

export type ActivityGroup =
  | 'key'
  | 'project'
  | 'holder'
  | 'end_user'
  | 'model'
  | 'provider'
  | 'locode'
  | 'status'
  | 'account';

export interface ActivityQuery {
  /** null for all accounts. */
  accountId: string | null;
  fromMs: number;
  toMs: number;
  interval: 'hour' | 'day';
  /** null for one row an interval. */
  groupBy: ActivityGroup | null;
  /** Only requests of these projects, by id. */
  projects?: readonly string[] | undefined;
  /** The person who held the key, by the id that others see. */
  holder?: string | undefined;
  endUser?: string | undefined;
}

export interface ActivityFigures {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  costPico: bigint;
  firstByteP50Ms: number | null;
  firstByteP95Ms: number | null;
  tokensPerSecondP50: number | null;
}

export interface ActivityRow extends ActivityFigures {
  /** When the interval begins, in epoch milliseconds. */
  startMs: number;
  /** null where nobody served, and where there are no groups. */
  group: string | null;
}

export type ReportGroup = ActivityGroup;

/** What a report counts. Absent fields do not restrict it; they mean the same as in a list of generations. */
export interface ReportFilter {
  /** The ids of the projects that paid. */
  projects?: readonly string[];
  /** The person who held the key, by the id that others see. */
  holder?: string;
  endUser?: string;
  key?: string;
  model?: string;
  /** The model that served, or was asked for where nobody served; as the groups of a report name it. */
  forModel?: string;
  provider?: string;
  locode?: string;
  served?: boolean;
  status?: 'ok' | 'error' | number;
}

export interface ReportQuery {
  /** null for all accounts. */
  accountId: string | null;
  /** Whole hours. */
  fromMs: number;
  toMs: number;
  stepMs: number;
  groups: readonly ReportGroup[];
  filter: ReportFilter;
  /** Whether to sum by route too, where no group needs it anyway. */
  routes: boolean;
  /** The grid intensity of each route that has one, to sum each step by intensity too. */
  intensities?: ReadonlyMap<string, number>;
}

/** A sum of the whole period, of a step, of routes with the same intensity in a step, of a route, of a member of a group, or of requests that nobody served. */
export interface ReportRow {
  group: ReportGroup | 'period' | 'step' | 'route' | 'step_intensity' | 'failed_by';
  step: number | null;
  /**
   * null where nobody served, and on rows of time alone. `failed_by` has the tried providers as JSON. An intensity is a number
   * as text, or null where it is not known; its row sums only requests and tokens.
   */
  id: string | null;
  requests: number;
  errors: number;
  costPico: bigint;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  /** null on rows of routes, whose percentiles nobody shows. */
  firstByteP50Ms: number | null;
  firstByteP95Ms: number | null;
}

/** The operator's credentials, all of customers, or one of those by its id. */
type BilledCredential = 'operator' | 'own' | (string & {});

/** A sum of lines. `requests` counts the bills; `unrecorded` are bills of versions that did not keep their lines. */
export interface BilledLine {
  readonly routeId: string;
  readonly name: string;
  readonly count: number;
  readonly costPico: bigint;
}

/** Sums over an account's generations for the dashboard's charts. Times are epoch milliseconds; `toMs` is exclusive. */
export interface UsageStore {
  /** Steps without requests have no row. */
  summary(
    period: Omit<ReportQuery, 'groups' | 'filter' | 'routes'> &
      Required<Pick<ReportQuery, 'intensities'>> & { projects?: readonly string[] },
  ): Promise<UsageRow[]>;
  /** The values to filter by. */
  facets(
    accountId: string,
    fromMs: number,
    toMs: number,
    projects?: readonly string[],
  ): Promise<{ keys: string[]; models: string[]; providers: string[] }>;
  /** Sums by interval and group, and of all together. Groups without requests have no row. */
  activity(query: ActivityQuery): Promise<{ rows: ActivityRow[]; total: ActivityFigures }>;
  /** Sums of filtered usage by step and by each group. Steps and members without requests have no row. */
  report(query: ReportQuery): Promise<ReportRow[]>;
  /** The lines of all bills of a provider's answers in a period, by route. */
  billedLines(period: {
    provider: string;
    fromMs: number;
    toMs: number;
    credential: BilledCredential;
  }): Promise<BilledLine[]>;
  /** The pico-dollars spent through each key of an account since then, by key id. Keys without requests have no entry. */
  spentSince(accountId: string, fromMs: number): Promise<Map<string, bigint>>;
  /** What own credentials have served since then through each key of an account, by key id. Keys without any have no entry. */
  ownSince(accountId: string, fromMs: number): Promise<Map<string, OwnSpent>>;
}

/** In pico-dollars. */
export interface OwnSpent {
  /** The list price. */
  readonly listPico: bigint;
  /** What of it budgets, caps and usage of keys count beyond the fees. */
  readonly extraPico: bigint;
}

/** A month whose generations are older than the retention. */
export interface PrunableMonth {
  monthMs: number;
  accounts: number;
  requests: number;
}

/** A sum that does not agree with another. */
export interface StorageFault {
  /** What was compared, such as `balance`. */
  what: string;
  /** The account, and the month or the key where the sum is of one. */
  where: string;
  expected: string;
  found: string;
}

export interface CheckResult {
  accounts: number;
  generations: number;
  faults: StorageFault[];
}

export type ExportKind = 'generations' | 'ledger' | 'audit';

export interface ExportQuery {
  kind: ExportKind;
  format: 'ndjson' | 'csv' | 'parquet';
  accountId?: string;
  /** Of generations only: the ids of the project and of the person who held the key, and the end user. */
  only?: { readonly project?: string; readonly holder?: string; readonly end_user?: string };
  /** Epoch milliseconds: the first is included, the second is not. */
  fromMs?: number;
  toMs?: number;
  /** The id of the last line that the reader has. */
  after?: string;
}

export interface MovedTable {
  table: string;
  rows: number;
}

/** Looks after partitions, rollups and retention. */
export interface RecordStore {
  /** Makes missing partitions; returns their names. */
  ensurePartitions(nowMs: number): Promise<string[]>;
  /** Adds the generations of an older version to the rollups; returns how many. */
  rollUpLate(): Promise<number>;
  /** Adds the next part of the earlier generations; false where nothing was left. */
  backfill(nowMs: number): Promise<boolean>;
  /** Puts the rollups of the next finished day into the order of accounts; false where none was left. */
  gatherDay(nowMs: number): Promise<boolean>;
  /** Adds the rollups of the next finished hours to the sums of reports; false where none was left. */
  sumHours(nowMs: number): Promise<boolean>;
  /** The whole months before that moment that still have generations, oldest first. */
  prunable(beforeMs: number): Promise<PrunableMonth[]>;
  /** Replaces the generations of a month by one statement in the ledger of each account. */
  prune(month: PrunableMonth): Promise<void>;
  /** Compares balances, ledger, rollups and generations. */
  check(): Promise<CheckResult>;
  /** Copies everything to another PostgreSQL, which must have no accounts, and compares both sides. */
  moveTo(databaseUrl: string): Promise<MovedTable[]>;
  /** Lines of text, or a Parquet file, as fast as the reader takes it. Throws UnknownExportRow. */
  export(query: ExportQuery): Promise<Readable>;
}
