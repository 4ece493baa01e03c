/** A Store in memory for unit tests: the same promises as PostgreSQL's, plus a switch that makes it unreachable. */
import type { ModelAvailability } from '../../src/catalogue/route.js';
import {
  type Account,
  type Alias,
  type ApiKey,
  keyProjectId,
  type NewAccount,
  newAccount,
} from '../../src/domain/account.js';
import type { Generation } from '../../src/domain/generation.js';
import type { LedgerEntry } from '../../src/domain/ledger-entry.js';
import { shownPersonId } from '../../src/domain/organisation.js';
import type { JournalOffset, SettlementRow } from '../../src/domain/settlement-row.js';
import {
  type AccountChanges,
  type AuditEntry,
  type GenerationQuery,
  type HoldRecord,
  type KeyChange,
  type KeyFigures,
  type LedgerFilter,
  type Store,
  StoreUnavailable,
} from '../../src/storage/store.js';
import { generationOf } from './generation.js';
import { memoryAudit } from './memory-audit.js';
import { memoryBudgets, memorySpend } from './memory-budgets.js';
import { memoryCredentials } from './memory-credentials.js';
import { copyOf, inOrder, ledgerPage, postedSums } from './memory-filters.js';
import { memoryCatalogueLog, memoryCatalogueUpdates, memoryRouteHistory } from './memory-history.js';
import { memoryAvailability, memoryHolds } from './memory-holds.js';
import { memoryIdentities } from './memory-identities.js';
import { memoryLog } from './memory-log.js';
import { memoryBrought, memoryNames } from './memory-names.js';
import { memoryNotices, memoryPayments } from './memory-payments.js';
import { memoryPeople } from './memory-people.js';
import { memoryProjects, noWorkloads } from './memory-projects.js';
import { memoryRecords } from './memory-records.js';
import { memorySignIn, memoryTables, signInRows } from './memory-sign-in.js';
import { asked, memoryUsage } from './memory-usage.js';

export class MemoryStore implements Store {
  /** While true, every call rejects with StoreUnavailable. */
  away = false;
  /** Awaited inside each call, between reading and answering: lets a test hold an answer back. */
  hold: Promise<void> = Promise.resolve();
  readonly accountRows = new Map<string, Account>();
  readonly keyRows = new Map<string, ApiKey>();
  readonly ledgerRows: LedgerEntry[] = [];
  readonly generationRows = new Map<string, Generation>();
  readonly availabilityRows = new Map<string, ModelAvailability>();
  readonly holdRows = new Map<string, HoldRecord>();
  readonly auditRows: AuditEntry[] = [];
  readonly offsetRows = new Map<string, JournalOffset>();
  readonly keyUses = new Map<string, number>();
  readonly credentials = memoryCredentials((id, credentials) => Object.assign(this.row(id), { credentials }));

  private async answer<T>(read: () => T): Promise<T> {
    if (this.away) throw new StoreUnavailable(new Error('connect ECONNREFUSED'));
    const value = read();
    await this.hold;
    return value;
  }

  readonly accounts = {
    create: (row: NewAccount) =>
      this.answer(() => {
        if ([...this.accountRows.values()].some(({ email }) => email === row.email)) return 'email_taken' as const;
        this.accountRows.set(row.id, newAccount(row));
        return 'created' as const;
      }),
    find: (id: string) => this.answer(() => copyOf(this.accountRows.get(id))),
    balances: (ids: readonly string[]) =>
      this.answer(() =>
        ids.flatMap((id) => {
          const row = this.accountRows.get(id);
          if (!row) return [];
          const { balancePico, usagePico, creditLimitPico } = row;
          return [{ id, balancePico, usagePico, creditLimitPico }];
        }),
      ),
    findId: (email: string) =>
      this.answer(() => [...this.accountRows.values()].find((row) => row.email === email.toLowerCase())?.id ?? null),
    list: () => this.answer(() => [...this.accountRows.values()].map((row) => copyOf(row) as Account)),
    count: () => this.answer(() => this.accountRows.size),
    update: (id: string, { limits, ...change }: AccountChanges) =>
      this.answer(() => {
        const row = this.row(id);
        Object.assign(row, change, limits && { limits: { ...row.limits, ...limits } });
      }),
  };

  readonly keys = {
    create: (key: ApiKey, keysMax: number) =>
      this.answer(() => {
        if (key.projectId !== null && !this.row(key.accountId).projects.has(key.projectId))
          return 'project_gone' as const;
        const beside = [...this.keyRows.values()].filter(
          (other) => other.accountId === key.accountId && keyProjectId(other) === keyProjectId(key),
        );
        if (beside.length >= keysMax) return 'limit' as const;
        this.keyRows.set(key.id, key);
        return 'created' as const;
      }),
    holderNamed: (accountId: string, shownId: string) =>
      this.answer(() => (shownPersonId(accountId) === shownId ? accountId : null)),
    findWithAccount: (keyId: string) =>
      this.answer(() => {
        const key = this.keyRows.get(keyId);
        return key ? { key, account: copyOf(this.row(key.accountId)) as Account } : null;
      }),
    list: (accountId: string) =>
      this.answer(() => [...this.keyRows.values()].filter((key) => key.accountId === accountId)),
    update: (accountId: string, keyId: string, change: KeyChange) =>
      this.answer(() => {
        const key = this.keyRows.get(keyId);
        if (key?.accountId !== accountId) return null;
        const terms = { ...key.terms, ...change.terms };
        const holderId = change.holderId === undefined ? key.holderId : change.holderId;
        const changed: ApiKey = { ...key, name: change.name ?? key.name, terms, holderId };
        this.keyRows.set(keyId, changed);
        return changed;
      }),
    delete: (accountId: string, keyId: string) =>
      this.answer(() => {
        const key = this.keyRows.get(keyId);
        return key?.accountId === accountId && this.keyRows.delete(keyId) ? key.createdAt : null;
      }),
    eraseExpired: (nowMs: number) =>
      this.answer(() => {
        const due = [...this.keyRows.values()].filter((key) => key.hash && (key.expiresAt ?? Infinity) <= nowMs);
        for (const key of due) this.keyRows.set(key.id, { ...key, hash: null });
        return due.length;
      }),
    nextExpiry: (nowMs: number) =>
      this.answer(() => {
        const later = [...this.keyRows.values()].filter((key) => key.hash && (key.expiresAt ?? 0) > nowMs);
        return later.length > 0 ? Math.min(...later.map((key) => key.expiresAt!)) : null;
      }),
    usage: (keyId: string) =>
      this.answer(() =>
        [...this.generationRows.values()].reduce((sum, row) => (row.keyId === keyId ? sum + row.costPico : sum), 0n),
      ),
    figures: (accountId: string) =>
      this.answer(() => {
        const figures = new Map<string, KeyFigures>();
        const rows = [...this.generationRows.values()].filter((row) => row.accountId === accountId);
        for (const { id } of this.keyRows.values()) {
          const usagePico = rows.reduce((sum, row) => (row.keyId === id ? sum + row.costPico : sum), 0n);
          figures.set(id, { usagePico, lastUsedAt: this.keyUses.get(id) ?? null });
        }
        return figures;
      }),
    noteUses: (uses: ReadonlyMap<string, number>) =>
      this.answer(() => {
        for (const [id, at] of uses) this.keyUses.set(id, Math.max(at, this.keyUses.get(id) ?? 0));
      }),
  };

  readonly names: Store['names'] = memoryNames();
  readonly budgets = memoryBudgets(this, (read) => this.answer(read));
  readonly spend = memorySpend((read) => this.answer(read));
  readonly projects = memoryProjects({
    answer: (read) => this.answer(read),
    account: (id) => this.row(id),
    keys: () => this.keyRows.values(),
  });
  readonly brought: Store['brought'] = memoryBrought(this.keyRows);
  readonly workloads: Store['workloads'] = noWorkloads;

  readonly aliases = {
    create: (accountId: string, alias: Alias, limit: number) =>
      this.answer(() => {
        const { aliases } = this.row(accountId);
        if (aliases.has(alias.name)) return 'exists' as const;
        if (aliases.size >= limit) return 'limit' as const;
        aliases.set(alias.name, alias);
        return 'created' as const;
      }),
    replace: (accountId: string, alias: Alias) =>
      this.answer(
        () => this.row(accountId).aliases.has(alias.name) && !!this.row(accountId).aliases.set(alias.name, alias),
      ),
    delete: (accountId: string, name: string) => this.answer(() => this.row(accountId).aliases.delete(name)),
  };

  readonly ledger = {
    post: (entry: Omit<LedgerEntry, 'balancePico'>) => this.answer(() => this.post(entry)),
    list: (accountId: string, limit: number, filter: LedgerFilter = {}) =>
      this.answer(() => ledgerPage(this.ledgerRows, accountId, limit, filter)),
    posted: (accountId: string) => this.answer(() => postedSums(this.ledgerRows, accountId)),
    settle: (rows: readonly SettlementRow[], offsets: readonly JournalOffset[] = []) =>
      this.answer(() => {
        for (const row of rows) this.settle(generationOf(row));
        for (const offset of offsets) this.offsetRows.set(offset.run, offset);
      }),
    offset: (run: string) => this.answer(() => this.offsetRows.get(run) ?? null),
    removeOffset: (run: string) => this.answer(() => void this.offsetRows.delete(run)),
  };

  readonly generations = {
    find: (accountId: string | null, id: string) =>
      this.answer(() => {
        const rows = [...this.generationRows.values()].filter((row) => row.id === id || row.requestId === id);
        return rows.find((row) => accountId === null || row.accountId === accountId) ?? null;
      }),
    list: (query: GenerationQuery) =>
      this.answer(() => {
        const { limit } = query;
        const rows = [...this.generationRows.values()].filter((row) => asked(row, query)).sort(inOrder(query.sort));
        return { data: rows.slice(0, limit), hasMore: rows.length > limit };
      }),
  };

  readonly availability = memoryAvailability(this.availabilityRows, (read) => this.answer(read));
  readonly holds = memoryHolds(this, (read) => this.answer(read));
  readonly audit = memoryAudit(this.auditRows, (read) => this.answer(read));

  private readonly signInTables = memoryTables();
  readonly signIn = memorySignIn(this.signInTables);
  readonly identities = memoryIdentities(signInRows(this.signInTables));
  readonly people = memoryPeople({
    signIn: signInRows(this.signInTables),
    accountOf: (id) => this.accountRows.get(id),
    disableKeys: (accountId, personId) => {
      const held = [...this.keyRows.values()].filter((key) => key.accountId === accountId && key.holderId === personId);
      const active = held.filter(({ terms }) => !terms.disabled);
      for (const key of active) this.keyRows.set(key.id, { ...key, terms: { ...key.terms, disabled: true } });
      return active.map(({ id }) => id);
    },
  });
  /** Who listens, told by `announce` and by the tests. */
  readonly listeners = new Set<(subject: string | null) => void>();
  readonly changes = {
    listen: async (heard: (subject: string | null) => void) => {
      this.listeners.add(heard);
      return { close: async () => void this.listeners.delete(heard) };
    },
    announce: (subject: string) =>
      this.answer(() => {
        for (const heard of this.listeners) heard(subject);
      }),
  };

  readonly otherProcesses = { watch: async () => ({ close: async () => {} }) };
  readonly records = memoryRecords;
  readonly catalogueLog = memoryCatalogueLog();
  readonly catalogueUpdates = memoryCatalogueUpdates();
  readonly routeHistory = memoryRouteHistory();
  readonly log = memoryLog;
  readonly usage = memoryUsage(() => this.generationRows.values());
  readonly payments = memoryPayments({
    answer: (read) => this.answer(read),
    countryOf: (id) => this.accountRows.get(id)?.billingCountry,
    setCountry: (id, country) => Object.assign(this.row(id), { billingCountry: country }),
    post: (entry) => this.post(entry),
  });
  readonly notices = memoryNotices((read) => this.answer(read));

  ping(): Promise<void> {
    return this.answer(() => {});
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private row(id: string): Account {
    const row = this.accountRows.get(id);
    if (!row) throw new Error(`no account ${id}`);
    return row;
  }

  private post(entry: Omit<LedgerEntry, 'balancePico'>): LedgerEntry {
    const account = this.row(entry.accountId);
    account.balancePico += entry.amountPico;
    const posted = { ...entry, balancePico: account.balancePico };
    this.ledgerRows.push(posted);
    return posted;
  }

  private settle(row: Generation): void {
    if (this.generationRows.has(row.id)) return;
    this.generationRows.set(row.id, row);
    if (!row.billed) return;
    this.row(row.accountId).usagePico += row.costPico;
    const { accountId, createdAt, id: generationId } = row;
    this.post({
      id: `led-${row.id}`,
      accountId,
      createdAt,
      kind: 'usage',
      amountPico: -row.costPico,
      generationId,
      note: null,
    });
  }
}
