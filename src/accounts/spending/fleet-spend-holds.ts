/**
 * Holds in one of many processes. Those of bounded accounts, budgets and capped keys are taken in the shared state, all others in memory
 * alone.
 * The shared state has the sum of all usage: together with the balance, a process knows what all credits amount to, which changes only
 * with the account's version, so that the sum of usage is all that it needs of the others.
 */
import { RecentMap } from '../../base/collections.js';
import type { Logger } from '../../base/logger.js';
import type { PicoUsd } from '../../base/money.js';
import { andThen, type MaybePromise } from '../../base/turn.js';
import type {
  FleetSpend,
  SpendAnswer,
  SpendAsk,
  SpendLimit,
  SpendRefusal,
  SpendSubject,
} from '../../cluster/shared-spend.js';
import type { Account, Identity } from '../../domain/account.js';
import type { BudgetPeriod } from '../../domain/organisation.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { StoreUnavailable } from '../../storage/store.js';
import { periodEnd, periodStart } from '../keys/limit-period.js';
import { allSettledMs, MissedSpend } from './missed-spend.js';
import { type Bound, balanceRefusal, boundsOf, type InFlight, type SpendNode, spendableIn } from './spend-bounds.js';
import { type HeldRequest, type SpendHold, SpendHolds, type SpendHoldsDeps, type Spending } from './spend-holds.js';
import { includes, isOfBalance, limitOfBalance, limitRefusal, subjectOfBalance, subjectsOf } from './spend-subjects.js';

interface FleetSpendHoldsDeps extends SpendHoldsDeps {
  readonly shared: FleetSpend;
  /** What was billed, as far as the store has it. */
  spentOf(subject: SpendSubject): Promise<PicoUsd>;
  readonly logger: Logger;
}

/** A request that was in flight when a limit was set holds nothing of it. This long afterwards its cost is looked for. */
const lookAgainMs = 30_000;
/** A subject can be lost between being set and being used, but not again and again. */
const attemptsMax = 3;
const auditedMax = 10_000;

interface PeriodSubject extends SpendSubject, SpendNode {
  readonly kind: SpendNode['kind'];
  readonly period: BudgetPeriod;
  readonly untilMs: number;
  /** It was used in the period before: what is spent in this one is known from its beginning. */
  readonly begins: boolean;
}

export class FleetSpendHolds implements Spending {
  /** In charge while the shared state is out of reach. */
  private readonly own: SpendHolds;
  /** The subjects of accounts, projects and keys in their current periods, by their ids. */
  private readonly subjects = new Map<string, PeriodSubject>();
  private readonly learning = new Map<string, Promise<unknown>>();
  private readonly missed: MissedSpend;
  /** The last change of a used-up subject that was compared with the store. */
  private readonly audited = new RecentMap<number>(auditedMax);

  constructor(private readonly deps: FleetSpendHoldsDeps) {
    this.own = new SpendHolds(deps);
    this.own.onRelease = (request, costPico, countedPico) => this.released(request, costPico, countedPico);
    const { shared, logger } = deps;
    this.missed = new MissedSpend({ shared, logger, readSpent: (subject) => this.readSpent(subject) });
    shared.onMissed((subject) => this.missed.doubt(subject));
    // A process that counts alone begins with what the store has.
    shared.onAway(() => this.own.forgetSpent());
  }

  get exceeded(): number {
    return this.own.exceeded;
  }

  get isElsewhere(): boolean {
    return !this.deps.shared.isInRedis;
  }

  /** null also where it has to be asked later, because the shared state may know too little. */
  askOf(identity: Identity, estimatePico: PicoUsd, atMs: number, holdsBalance = true): SpendAsk | null {
    const ask = this.wholeAsk(identity, estimatePico, atMs, holdsBalance);
    return ask && this.deps.shared.isInRedis && this.missed.certain(ask.limits) === null ? ask : null;
  }

  private wholeAsk(identity: Identity, estimatePico: PicoUsd, atMs: number, holdsBalance: boolean): SpendAsk | null {
    const { account } = identity;
    const bounds = boundsOf(identity);
    const isBounded = holdsBalance && this.own.isBounded(account);
    if (bounds.length === 0 && !isBounded) return null;
    const limits: SpendLimit[] = [];
    // The balance comes first, because the first limit without room is the one that is answered.
    if (isBounded) limits.push(limitOfBalance(account));
    for (const bound of bounds) limits.push(this.limitOf(bound, atMs));
    return { limits, estimatePico, atMs, holdsBalance };
  }

  checkLimits(identity: Identity): MaybePromise<void> {
    const bounds = boundsOf(identity);
    if (bounds.length > 0) return this.checkBounds(identity, bounds);
  }

  /** Holds nothing for a moment, which the shared state refuses where nothing is left. */
  private async checkBounds(identity: Identity, bounds: readonly Bound[]): Promise<void> {
    const atMs = this.deps.clock.now();
    let limits = bounds.map((bound) => this.limitOf(bound, atMs));
    while (limits.length > 0) {
      const ask = { limits, estimatePico: 0n, atMs };
      const answer = await this.finalAnswer(identity.account, ask, await this.askShared(ask));
      if (answer === null) return this.own.checkLimits(identity);
      if (answer.kind === 'held') return this.deps.shared.release(subjectsOf(limits), 0n, 0n);
      const refusing = limits[answer.place]!;
      if (refusing.limitPico <= answer.spentPico) throw limitRefusal(identity, refusing, answer);
      // Something is left, and only requests in flight are in the way. The limits behind it may be spent.
      limits = limits.slice(answer.place + 1);
    }
  }

  take(
    identity: Identity,
    estimatePico: PicoUsd,
    atMs = this.deps.clock.now(),
    holdsBalance = true,
  ): MaybePromise<SpendHold> {
    const ask = this.wholeAsk(identity, estimatePico, atMs, holdsBalance);
    if (!ask) return this.own.track({ identity, estimatePico, createdAt: atMs, limits: [], holdsBalance });
    return this.askShared(ask).then((answer) => this.taken(identity, ask, answer));
  }

  private askShared(ask: SpendAsk): Promise<SpendAnswer | null> {
    const { shared } = this.deps;
    const certain = this.missed.certain(ask.limits);
    return certain === null ? shared.take(ask) : certain.then(() => shared.take(ask));
  }

  /** Redis that has not answered may be back, and else the store may answer. */
  takeAs(identity: Identity, ask: SpendAsk, answer: SpendAnswer | null): MaybePromise<SpendHold> {
    if (answer !== null) return this.taken(identity, ask, answer);
    return this.askShared(ask).then((again) => this.taken(identity, ask, again));
  }

  private taken(identity: Identity, ask: SpendAsk, answer: SpendAnswer | null): MaybePromise<SpendHold> {
    const { limits, estimatePico, atMs, holdsBalance = true } = ask;
    const request = { identity, estimatePico, createdAt: atMs, limits, holdsBalance };
    if (answer?.kind === 'held') return this.own.track(request);
    return answer ? this.takeAgain(identity, ask, answer) : this.takeAlone(identity, ask);
  }

  spentBalance(account: Account): MaybePromise<GatewayError | null> {
    const refusal = this.own.spentBalance(account);
    if (refusal === null || !this.own.isBounded(account)) return refusal;
    return andThen(this.inFlight(account), (held) => balanceRefusal(account.balancePico, held, true));
  }

  inFlight(account: Account): MaybePromise<Readonly<InFlight>> {
    const own = this.own.inFlight(account);
    if (!this.own.isBounded(account)) return own;
    return this.deps.shared.inFlight(subjectOfBalance(account.id)).then((held) => held ?? own);
  }

  async heldOf(bounds: readonly Bound[]): Promise<readonly PicoUsd[]> {
    const atMs = this.deps.clock.now();
    const own = this.own.heldOf(bounds);
    const shared = bounds.map((bound) => this.deps.shared.inFlight(this.subjectOf(bound, atMs)));
    return (await Promise.all(shared)).map((held, i) => held?.heldPico ?? own[i]!);
  }

  private takeAlone(identity: Identity, ask: SpendAsk): MaybePromise<SpendHold> {
    return andThen(this.own.take(identity, ask.estimatePico, ask.atMs, ask.holdsBalance, ask.limits), (hold) => {
      this.deps.shared.note(ask);
      return hold;
    });
  }

  private async takeAgain(identity: Identity, ask: SpendAsk, first: SpendAnswer): Promise<SpendHold> {
    const answer = await this.finalAnswer(identity.account, ask, first);
    if (answer?.kind === 'refused') throw limitRefusal(identity, ask.limits[answer.place]!, answer);
    return this.taken(identity, ask, answer);
  }

  /** Tells the shared state what it does not know, and corrects what it may know wrongly, and asks again. */
  private async finalAnswer(
    account: Account,
    ask: SpendAsk,
    first: SpendAnswer | null,
  ): Promise<Exclude<SpendAnswer, { kind: 'unknown' }> | null> {
    let answer = first;
    for (let attempt = 1; answer && answer.kind !== 'held'; attempt++) {
      const { subject } = ask.limits[answer.place]!;
      if (answer.kind === 'unknown') await this.learn(subject, account);
      else if (!(await this.audit(subject, answer))) return answer;
      answer = attempt === attemptsMax ? null : await this.askShared(ask);
    }
    return answer;
  }

  private learn(subject: SpendSubject, account: Account): Promise<unknown> {
    const running = this.learning.get(subject.name);
    if (running) return running;
    const learning = this.readSpent(subject)
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        // What this process knows of an account's usage is never too much.
        if (subject.kind === 'balance') return account.usagePico;
        const current = this.subjects.get(subject.id);
        if (current?.begins && current.fromMs === subject.fromMs) return 0n;
        throw error;
      })
      .then((spentPico) => this.deps.shared.setSpent(subject, spentPico, 'first'))
      .finally(() => this.learning.delete(subject.name));
    this.learning.set(subject.name, learning);
    setTimeout(() => this.missed.raiseLater(subject), lookAgainMs).unref();
    return learning;
  }

  /** Costs of this process are in the store before it is read; those of others follow within moments, by way of the shared state. */
  private async readSpent(subject: SpendSubject): Promise<PicoUsd> {
    await this.deps.settled(subject.kind === 'key' ? subject.id : undefined);
    return this.deps.spentOf(subject);
  }

  /**
   * A process that died may have added a cost that it never wrote down. So before a sum refuses a request, it is compared with the
   * store once it has been still for so long that both must agree. True where the sum was too high.
   */
  private async audit(
    subject: SpendSubject,
    { spentPico, requests, change, unchangedMs }: SpendRefusal,
  ): Promise<boolean> {
    if (requests > 0 || unchangedMs < allSettledMs || this.audited.get(subject.name) === change) return false;
    this.audited.set(subject.name, change);
    try {
      const storedPico = await this.readSpent(subject);
      return storedPico < spentPico && (await this.deps.shared.setSpent(subject, storedPico, change));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // The next refusal looks again.
      this.audited.set(subject.name, -1);
      return false;
    }
  }

  /** A limit may have been set, or changed its period, and an account may have become bounded, since the request came. */
  private released(
    { identity, estimatePico, createdAt, limits }: HeldRequest,
    costPico: PicoUsd,
    countedPico: PicoUsd,
  ): void {
    const { shared } = this.deps;
    const { key, account, project } = identity;
    if (costPico === countedPico) {
      if (limits.length > 0) shared.release(subjectsOf(limits), estimatePico, costPico);
    } else {
      // The balance pays the fee, and the budgets count the list price.
      const [ofBalance, others] = [limits.filter(isOfBalance), limits.filter((limit) => !isOfBalance(limit))];
      if (ofBalance.length > 0) shared.release(subjectsOf(ofBalance), estimatePico, costPico);
      if (others.length > 0) shared.release(subjectsOf(others), estimatePico, countedPico);
    }
    if (countedPico !== 0n && this.subjects.size > 0) {
      this.addLate(account.id, createdAt, limits, countedPico);
      this.addLate(project.id, createdAt, limits, countedPico);
      this.addLate(key.id, createdAt, limits, countedPico);
    }
    if (costPico === 0n || !this.own.isBounded(account)) return;
    const ofBalance = subjectOfBalance(account.id);
    if (!includes(limits, ofBalance.name)) shared.addCost(ofBalance, costPico);
  }

  private addLate(id: string, createdAt: number, limits: readonly SpendLimit[], costPico: PicoUsd): void {
    const subject = this.subjects.get(id);
    if (!subject || createdAt < subject.fromMs || createdAt >= subject.untilMs) return;
    if (!includes(limits, subject.name)) this.deps.shared.addCost(subject, costPico);
  }

  private limitOf(bound: Bound, atMs: number): SpendLimit {
    const subject = this.subjectOf(bound, atMs);
    return { subject, limitPico: spendableIn(bound, subject.fromMs) };
  }

  /** The braces keep all subjects of an account on one node of a Redis cluster. */
  private subjectOf({ kind, id, accountId, period }: Bound, atMs: number): PeriodSubject {
    const known = this.subjects.get(id);
    if (known && known.period === period && atMs >= known.fromMs && atMs < known.untilMs) return known;
    const fromMs = periodStart(period, atMs) ?? 0;
    const untilMs = periodEnd(period, atMs) ?? Number.POSITIVE_INFINITY;
    const begins = known?.period === period && known.fromMs < fromMs;
    const name = `{${accountId}}:${kind === 'account' ? 'budget' : id}:${fromMs}`;
    const subject = { name, accountId, kind, id, fromMs, untilMs, period, begins };
    // A request of the period before may be the last to ask.
    if (known?.period !== period || begins) this.subjects.set(id, subject);
    return subject;
  }
}
