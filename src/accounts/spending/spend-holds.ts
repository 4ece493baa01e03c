/**
 * Holds the estimated cost of each request that is in flight against the balance of its account, the budgets of its account and project,
 * and the cap of its key, so that many requests at once cannot spend what is there only once. A request that is alone is always admitted
 * while anything is left, because its estimate may be far above its cost. The holds are those of this process, and die with it.
 */

import type { PicoUsd } from '../../base/money.js';
import type { Clock } from '../../base/time.js';
import { andThen, type MaybePromise } from '../../base/turn.js';
import type { SpendAsk, SpendLimit } from '../../cluster/shared-spend.js';
import type { Account, Identity } from '../../domain/account.js';
import type { BudgetPeriod } from '../../domain/organisation.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { periodEnd, periodStart } from '../keys/limit-period.js';
import {
  type Bound,
  balanceRefusal,
  boundRefusal,
  boundsOf,
  hasRoom,
  type InFlight,
  type SpendNode,
  spendableIn,
  spendablePico,
  spentBalanceRefusal,
} from './spend-bounds.js';
import type { SpendHold, Spending } from './spending.js';

export type { SpendHold, Spending } from './spending.js';

export interface SpendHoldsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** For accounts that do not say it themselves. */
  readonly overdraft: 'open' | 'bounded';
  /** What was billed since the beginning of a period, 0 for all that was, as far as the store has it. */
  spentSince(node: SpendNode, fromMs: number): Promise<PicoUsd>;
  /** Resolves when everything that was billed so far is in the store, for a key or for all. */
  settled(keyId?: string): Promise<unknown>;
}

/** What an account, a project or a key with a limit has spent in a period. */
interface PeriodSpend extends InFlight {
  period: BudgetPeriod;
  /** When the period began, and when the next one does. */
  fromMs: number;
  untilMs: number;
  spentPico: PicoUsd;
  /** Whether `spentPico` is complete. */
  known: boolean;
  /** How many costs were added, so that a reading of the store knows whether one came between. */
  added: number;
  /** Set while the store is asked. */
  reading: Promise<void> | null;
}

/** A request in flight. */
export interface HeldRequest {
  readonly identity: Identity;
  readonly estimatePico: PicoUsd;
  readonly createdAt: number;
  /** Where the fleet holds the estimate too. */
  readonly limits: readonly SpendLimit[];
  /** False where the balance is not concerned. */
  readonly holdsBalance: boolean;
}

const nothing: InFlight = { heldPico: 0n, requests: 0 };
const noLimits: readonly SpendLimit[] = [];
const noSpends: readonly PeriodSpend[] = [];

export class SpendHolds implements Spending {
  exceeded = 0;
  readonly isElsewhere = false;
  /** Called at the end of every hold. */
  onRelease: ((request: HeldRequest, costPico: PicoUsd, countedPico: PicoUsd) => void) | null = null;
  private readonly accounts = new Map<string, InFlight>();
  /** By the id of the account, project or key. */
  private readonly spends = new Map<string, PeriodSpend>();

  constructor(private readonly deps: SpendHoldsDeps) {}

  checkLimits(identity: Identity): MaybePromise<void> {
    const bounds = boundsOf(identity);
    if (bounds.length === 0) return;
    return andThen(this.currentSpends(bounds), (spends) => {
      for (let i = 0; i < bounds.length; i++) {
        const { fromMs, spentPico } = spends[i]!;
        if (spendableIn(bounds[i]!, fromMs) <= spentPico) throw refusalOf(identity, bounds[i]!, spends[i]!);
      }
    });
  }

  take(
    identity: Identity,
    estimatePico: PicoUsd,
    atMs = this.deps.clock.now(),
    holdsBalance = true,
    limits = noLimits,
  ): MaybePromise<SpendHold> {
    const bounds = boundsOf(identity);
    const request = { identity, estimatePico, createdAt: atMs, limits, holdsBalance };
    if (bounds.length === 0) {
      if (holdsBalance) this.checkBalance(identity.account);
      return this.hold(request, noSpends);
    }
    return andThen(this.currentSpends(bounds), (spends) => {
      if (holdsBalance) this.checkBalance(identity.account);
      for (let i = 0; i < bounds.length; i++) {
        const { fromMs, spentPico } = spends[i]!;
        const leftPico = spendableIn(bounds[i]!, fromMs) - spentPico;
        if (!hasRoom(leftPico, spends[i]!)) throw refusalOf(identity, bounds[i]!, spends[i]!);
      }
      return this.hold(request, spends);
    });
  }

  spentBalance(account: Account): GatewayError | null {
    const refusal = spentBalanceRefusal(account);
    if (refusal === null || !this.isBounded(account)) return refusal;
    return balanceRefusal(account.balancePico, this.inFlight(account), true);
  }

  askOf(): null {
    return null;
  }

  takeAs(identity: Identity, { estimatePico, atMs, holdsBalance }: SpendAsk): MaybePromise<SpendHold> {
    return this.take(identity, estimatePico, atMs, holdsBalance);
  }

  /** Counts a request that was admitted already. */
  track(request: HeldRequest): SpendHold {
    const bounds = boundsOf(request.identity);
    const spends = bounds.length === 0 ? noSpends : bounds.map((bound) => this.spendOf(bound));
    return this.hold(request, spends);
  }

  inFlight({ id }: Pick<Account, 'id'>): Readonly<InFlight> {
    return this.accounts.get(id) ?? nothing;
  }

  heldOf(bounds: readonly Bound[]): readonly PicoUsd[] {
    return bounds.map((bound) => this.spendOf(bound).heldPico);
  }

  isBounded({ overdraft }: Account): boolean {
    return (overdraft ?? this.deps.overdraft) === 'bounded';
  }

  /** What was spent is not known any more, because others may have spent too: the store is read again. */
  forgetSpent(): void {
    for (const spend of this.spends.values()) spend.known = false;
  }

  private checkBalance(account: Account): void {
    if (!this.isBounded(account)) return;
    const inFlight = this.inFlight(account);
    const leftPico = spendablePico(account);
    if (!hasRoom(leftPico, inFlight)) throw balanceRefusal(account.balancePico, inFlight, leftPico <= 0n);
  }

  private hold(request: HeldRequest, spends: readonly PeriodSpend[]): SpendHold {
    const { id } = request.identity.account;
    let ofAccount = this.accounts.get(id);
    if (!ofAccount) {
      ofAccount = { heldPico: 0n, requests: 0 };
      this.accounts.set(id, ofAccount);
    }
    return new Hold(this, request, ofAccount, spends);
  }

  /** @internal Called by each hold at its end. */
  released(
    request: HeldRequest,
    spends: readonly PeriodSpend[],
    { costPico, countedPico }: { readonly costPico: PicoUsd; readonly countedPico: PicoUsd },
  ): void {
    const { key, account, project } = request.identity;
    if (this.accounts.get(account.id)?.requests === 0) this.accounts.delete(account.id);
    if (countedPico > request.estimatePico) this.exceeded++;
    // The cost belongs to the period in which the request came.
    for (const spend of spends) {
      spend.added++;
      if (request.createdAt >= spend.fromMs) spend.spentPico += countedPico;
    }
    if (this.spends.size > 0) {
      this.addLate(account.id, request.createdAt, spends, countedPico);
      this.addLate(project.id, request.createdAt, spends, countedPico);
      this.addLate(key.id, request.createdAt, spends, countedPico);
    }
    this.onRelease?.(request, costPico, countedPico);
  }

  /** An account, a project or a key may have got a limit, or another period, since the request came, or have none at the moment. */
  private addLate(id: string, createdAt: number, spends: readonly PeriodSpend[], costPico: PicoUsd): void {
    const spend = this.spends.get(id);
    if (!spend || createdAt < spend.fromMs || spends.includes(spend)) return;
    spend.spentPico += costPico;
    spend.added++;
    // Without a limit nobody has opened the period of the request, so what was spent in it is not all here.
    if (createdAt >= spend.untilMs) spend.known = false;
  }

  /** Requests in flight of a period that is over hold nothing of the next one, because their costs belong to their own. */
  private spendOf({ id, period }: Bound): PeriodSpend {
    const now = this.deps.clock.now();
    const last = this.spends.get(id);
    if (last && last.period === period && now >= last.fromMs && now < last.untilMs) return last;
    const fromMs = periodStart(period, now) ?? 0;
    const untilMs = periodEnd(period, now) ?? Number.POSITIVE_INFINITY;
    const begins = last?.period === period && fromMs > last.fromMs;
    const empty = { period, fromMs, untilMs, spentPico: 0n, added: 0, reading: null };
    let spend: PeriodSpend;
    // In a period that begins now, nothing can have been spent that is not known here.
    if (!last || begins) spend = { heldPico: 0n, requests: 0, known: begins && last.known, ...empty };
    else spend = Object.assign(last, { period, fromMs, untilMs, spentPico: 0n, known: false });
    this.spends.set(id, spend);
    return spend;
  }

  private currentSpends(bounds: readonly Bound[]): MaybePromise<readonly PeriodSpend[]> {
    const spends: PeriodSpend[] = [];
    let readings: Promise<void>[] | null = null;
    for (const bound of bounds) {
      const spend = this.spendOf(bound);
      spends.push(spend);
      if (spend.known && !spend.reading) continue;
      readings ??= [];
      readings.push(this.readingOf(bound, spend));
    }
    return readings === null ? spends : Promise.all(readings).then(() => spends);
  }

  private readingOf(bound: Bound, spend: PeriodSpend): Promise<void> {
    spend.reading ??= this.read(bound, spend).finally(() => {
      spend.reading = null;
    });
    return spend.reading;
  }

  /** Again where a cost was added meanwhile, because nobody knows whether the store had it already. */
  private async read({ kind, id, accountId }: Bound, spend: PeriodSpend): Promise<void> {
    for (;;) {
      const { added, fromMs } = spend;
      await this.deps.settled(kind === 'key' ? id : undefined);
      const spentPico = await this.deps.spentSince({ kind, id, accountId }, fromMs);
      if (spend.added !== added || spend.fromMs !== fromMs) continue;
      spend.spentPico = spentPico;
      spend.known = true;
      return;
    }
  }
}

class Hold implements SpendHold {
  private isReleased = false;

  constructor(
    private readonly holds: SpendHolds,
    private readonly request: HeldRequest,
    private readonly ofAccount: InFlight,
    private readonly spends: readonly PeriodSpend[],
  ) {
    if (request.holdsBalance) {
      ofAccount.heldPico += request.estimatePico;
      ofAccount.requests++;
    }
    for (const spend of spends) {
      spend.heldPico += request.estimatePico;
      spend.requests++;
    }
  }

  release(costPico: PicoUsd, countedPico = costPico): void {
    if (this.isReleased) return;
    this.isReleased = true;
    const { request, ofAccount, spends } = this;
    if (request.holdsBalance) {
      ofAccount.heldPico -= request.estimatePico;
      ofAccount.requests--;
    }
    for (const spend of spends) {
      spend.heldPico -= request.estimatePico;
      spend.requests--;
    }
    this.holds.released(request, spends, { costPico, countedPico });
  }
}

function refusalOf(identity: Identity, bound: Bound, { fromMs, spentPico, heldPico }: PeriodSpend): GatewayError {
  return boundRefusal(identity, {
    ...{ kind: bound.kind, fromMs, limitPico: spendableIn(bound, fromMs), spentPico, heldPico },
  });
}
