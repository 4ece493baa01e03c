/**
 * Makes one of many identical processes on one store and one shared state: it brings memory up to the versions of the others
 * and notifies them of settlements where that matters.
 */

import { spendablePico } from '../accounts/spending/spend-bounds.js';
import type { Logger } from '../base/logger.js';
import type { Admission, Versions } from '../cluster/ports.js';
import type { Account } from '../domain/account.js';
import type { JournalOffset, SettlementRow } from '../domain/settlement-row.js';
import type { Journal } from '../journal/journal.js';
import { type Store, StoreUnavailable } from '../storage/store.js';
import { FleetIdentities } from './fleet-identities.js';
import { FleetStates, type FleetStatesDeps } from './fleet-states.js';
import { UnsettledCharges } from './unsettled-charges.js';

interface FleetDeps extends FleetStatesDeps {
  store: Store;
  admission: Admission;
  /** Resolves when the journal of an earlier process is in the store. */
  replayed: () => Promise<void>;
  /** Resolves when everything charged so far is in the store; rejects with StoreUnavailable while that is not possible. */
  settled: () => Promise<void>;
  logger: Logger;
}

/**
 * Other processes may use up a balance and credit limit below this many times the cost of an answer before they settle (they
 * settle four times a second), so below it each answer is settled before its last byte leaves.
 */
const nearZeroCosts = 1_000n;
/** The same for an answer that costs almost nothing while another process delivers an expensive one: one US dollar. */
const nearZeroPico = 1_000_000_000_000n;
/** While the store is away, an answer near a used-up balance waits this long for it, and no longer. */
const awayMs = 500;
/** A store that is only slow is waited for until its queries fail. */
const silentMs = 5_000;

/** A store that did not answer may have the rows all the same: counted twice, they could cause a wrong 402. */
export type SettlementOutcome = 'arrived' | 'refused' | 'unanswered';

export class Fleet {
  readonly identities: FleetIdentities;
  readonly states: FleetStates;
  readonly admission: Admission;
  private readonly versions: Versions;
  private readonly charges = new UnsettledCharges();
  /** Accounts that were charged and whose balance has not been read since. */
  private readonly unread = new Set<string>();
  private listening: { close(): Promise<void> } | null = null;

  constructor(private readonly deps: FleetDeps) {
    const { store, versions, replayed, settled } = deps;
    this.versions = versions;
    this.admission = deps.admission;
    this.identities = new FleetIdentities({ store, versions, replayed, settled, charges: this.charges });
    this.states = new FleetStates(deps);
  }

  /** Starts to receive changes of others, also those of a process that died before it could raise a version. */
  async listen(): Promise<void> {
    this.listening = await this.deps.store.changes.listen((subject) => this.applyChange(subject));
  }

  /** Model states, quota holds or the catalogue have changed; resolves when the other processes know. */
  changed(what: 'states' | 'catalogue'): Promise<void> {
    return this.versions.raise([what]);
  }

  async catalogueChanged(): Promise<void> {
    await this.deps.store.changes.announce('catalogue').catch(() => {});
    await this.changed('catalogue');
  }

  /** Settles in this process. */
  async settle(rows: readonly SettlementRow[], offsets: readonly JournalOffset[] = []): Promise<void> {
    const ended = this.settling(rows);
    try {
      await this.deps.store.ledger.settle(rows, offsets);
    } catch (error) {
      await ended(error instanceof StoreUnavailable ? 'unanswered' : 'refused');
      throw error;
    }
    await ended('arrived');
  }

  /**
   * Rows are about to be sent to the store. Returns what is to be called with how that ended: it takes over the balances of all processes,
   * and notifies the others of one that is used up.
   */
  settling(rows: readonly SettlementRow[]): (outcome: SettlementOutcome) => Promise<void> {
    const sent = this.charges.sending(rows);
    return async (outcome) => {
      sent[outcome]();
      if (outcome !== 'arrived') return;
      for (const { accountId, chargePico } of rows) if (chargePico !== 0n) this.unread.add(accountId);
      if (this.unread.size > 0) await this.raiseVersions(await this.findUsedUp([...this.unread]));
    };
  }

  nearZero(account: Account, costPico: bigint): boolean {
    const leftPico = spendablePico(account);
    return leftPico < nearZeroPico || leftPico < costPico * nearZeroCosts;
  }

  /**
   * Resolves when what the account was charged is in the store and the other processes know, or when the store is away. Never rejects.
   */
  async confirm(accountId: string, journal: Pick<Journal, 'settled'>): Promise<void> {
    if (await journal.settled(awayMs)) return;
    if (!this.charges.inDoubt(accountId)) await journal.settled(silentMs - awayMs);
  }

  async close(): Promise<void> {
    await this.listening?.close();
  }

  private async findUsedUp(accountIds: readonly string[]): Promise<readonly string[]> {
    try {
      const balances = await this.identities.takeOverBalances(accountIds);
      for (const id of accountIds) this.unread.delete(id);
      return balances.filter((balance) => spendablePico(balance) <= 0n).map(({ id }) => id);
    } catch (error) {
      // Raising versions now would only send every process to a store that is away.
      this.deps.logger.warn(
        { error: String(error) },
        'balances could not be read after a settlement; the next settlement reads them',
      );
      return [];
    }
  }

  private async raiseVersions(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.versions.raiseWithinReach(accountIds.map((id) => `account:${id}` as const));
  }

  /** The version that was not read is not held, so the next request reads the catalogue again. */
  private reportUnread(error: unknown): void {
    this.deps.logger.error({ error: String(error) }, 'the catalogue could not be read again; the next request does');
  }

  private applyChange(subject: string | null): void {
    if (subject === null) this.identities.trustNothing();
    if (subject === null || subject === 'states') this.states.invalidate();
    else if (subject === 'catalogue') this.states.reloadCatalogue()?.catch((error) => this.reportUnread(error));
    else this.identities.invalidate(subject);
  }
}
