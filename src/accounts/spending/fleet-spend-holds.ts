/**
 * Holds in one of many processes. Those of bounded accounts and capped keys are taken in the shared state, all others in memory alone.
 * The shared state has the sum of all usage: together with the balance, a process knows what all credits amount to, which changes only
 * with the account's version, so that the sum of usage is all that it needs of the others.
 */
import { RecentMap } from '../../base/collections.js';
import type { Logger } from '../../base/logger.js';
import { andThen, type MaybePromise } from '../../base/maybe-promise.js';
import type { PicoUsd } from '../../base/money.js';
import type {
  SharedSpend,
  SpendAnswer,
  SpendAsk,
  SpendLimit,
  SpendRefusal,
  SpendSubject,
} from '../../cluster/shared-spend.js';
import { type Account, type ApiKey, type Identity, type KeyTerms, spendablePico } from '../../domain/account.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { StoreUnavailable } from '../../storage/store.js';
import { periodStart } from '../keys/limit-period.js';
import {
  balanceRefusal,
  capRefusal,
  type HeldRequest,
  type InFlight,
  isHeldCap,
  type SpendHold,
  SpendHolds,
  type SpendHoldsDeps,
  type Spending,
} from './spend-holds.js';

export interface FleetSpendHoldsDeps extends SpendHoldsDeps {
  readonly shared: SharedSpend;
  /** What was billed to an account, as far as the store has it. */
  usageOf(accountId: string): Promise<PicoUsd>;
  readonly logger: Logger;
}

/** Every process has settled a cost this long after it was added: then the sum and the store must be equal. */
const allSettledMs = 2_000;
/** A request that was in flight when its key got a cap holds nothing of it. This long afterwards its cost is looked for. */
const lookAgainMs = 30_000;
/** A subject can be lost between being set and being used, but not again and again. */
const attemptsMax = 3;
const auditedMax = 10_000;

interface KeySubject extends SpendSubject {
  readonly reset: KeyTerms['limitReset'];
  /** The key was used in the period before: what is spent in this one is known from its beginning. */
  readonly begins: boolean;
}

export class FleetSpendHolds implements Spending {
  /** In charge while the shared state is out of reach. */
  private readonly own: SpendHolds;
  /** The subject of each capped key in its current period. */
  private readonly ofKeys = new Map<string, KeySubject>();
  private readonly learning = new Map<string, Promise<unknown>>();
  /** What has to be read from the store again. */
  private readonly toRaise = new Map<string, SpendSubject>();
  private isRaising = false;
  /** The last change of a used-up subject that was compared with the store. */
  private readonly audited = new RecentMap<number>(auditedMax);

  constructor(private readonly deps: FleetSpendHoldsDeps) {
    this.own = new SpendHolds(deps);
    this.own.onRelease = (request, costPico) => this.released(request, costPico);
    deps.shared.onMissed((subject) => this.raiseLater(subject));
    // While it is away every process counts alone, from what the store has.
    deps.shared.onAway(() => this.own.forgetSpent());
  }

  get exceeded(): number {
    return this.own.exceeded;
  }

  askOf({ key, account }: Identity, estimatePico: PicoUsd): SpendAsk | null {
    const isCapped = key.terms.limitPico !== null;
    const isBounded = this.own.isBounded(account);
    if (!isCapped && !isBounded) return null;
    const limits: SpendLimit[] = [];
    // The balance comes first, because the first limit without room is the one that is answered.
    if (isBounded) {
      // All credits and the credit limit: both are as of the account's version, however old the balance and the usage are.
      const limitPico = spendablePico(account) + account.usagePico;
      limits.push({ subject: subjectOfAccount(account.id), limitPico });
    }
    if (isCapped) limits.push(this.capOf(key));
    return { limits, estimatePico };
  }

  /** Holds nothing for a moment, which the shared state refuses where nothing is left. */
  async checkCap(identity: Identity): Promise<void> {
    const { key } = identity;
    if (key.terms.limitPico === null) return;
    const ask = { limits: [this.capOf(key)], estimatePico: 0n };
    try {
      const hold = await this.takeAs(identity, ask, await this.deps.shared.take(ask));
      hold.release(0n);
    } catch (error) {
      if (!isHeldCap(error)) throw error;
    }
  }

  take(identity: Identity, estimatePico: PicoUsd): MaybePromise<SpendHold> {
    const ask = this.askOf(identity, estimatePico);
    if (!ask) return this.own.track(identity, estimatePico);
    return this.deps.shared.take(ask).then((answer) => this.takeAs(identity, ask, answer));
  }

  takeAs(identity: Identity, ask: SpendAsk, answer: SpendAnswer | null): MaybePromise<SpendHold> {
    const { limits, estimatePico } = ask;
    if (answer?.kind === 'held') return this.own.track(identity, estimatePico, limits);
    return answer ? this.takeAgain(identity, ask, answer) : this.takeAlone(identity, ask);
  }

  inFlight(account: Account): MaybePromise<Readonly<InFlight>> {
    const own = this.own.inFlight(account);
    if (!this.own.isBounded(account)) return own;
    return this.deps.shared.inFlight(subjectOfAccount(account.id)).then((held) => held ?? own);
  }

  private takeAlone(identity: Identity, ask: SpendAsk): MaybePromise<SpendHold> {
    return andThen(this.own.take(identity, ask.estimatePico, ask.limits), (hold) => {
      this.deps.shared.note(ask);
      return hold;
    });
  }

  private async takeAgain(identity: Identity, ask: SpendAsk, first: SpendAnswer): Promise<SpendHold> {
    let answer: SpendAnswer | null = first;
    for (let attempt = 1; answer && answer.kind !== 'held'; attempt++) {
      const limit = ask.limits[answer.place]!;
      if (answer.kind === 'unknown') await this.learn(limit.subject, identity.account);
      else if (!(await this.audit(limit.subject, answer))) throw refusalOf(identity, limit, answer);
      if (attempt === attemptsMax) answer = null;
      else answer = await this.deps.shared.take(ask);
    }
    return this.takeAs(identity, ask, answer);
  }

  private learn(subject: SpendSubject, account: Account): Promise<unknown> {
    const running = this.learning.get(subject.name);
    if (running) return running;
    const learning = this.readSpent(subject)
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        // What this process knows of an account's usage is never too much.
        if (subject.keyId === null) return account.usagePico;
        if (this.ofKeys.get(subject.keyId)?.begins) return 0n;
        throw error;
      })
      .then((spentPico) => this.deps.shared.setSpent(subject, spentPico, 'first'))
      .finally(() => this.learning.delete(subject.name));
    this.learning.set(subject.name, learning);
    setTimeout(() => this.raiseLater(subject), lookAgainMs).unref();
    return learning;
  }

  /** Costs of this process are in the store before it is read; those of others follow within moments, by way of the shared state. */
  private async readSpent({ accountId, keyId, fromMs }: SpendSubject): Promise<PicoUsd> {
    await this.deps.settled(keyId ?? undefined);
    return keyId === null ? this.deps.usageOf(accountId) : this.deps.spentSince(accountId, keyId, fromMs);
  }

  private raiseLater(subject: SpendSubject): void {
    this.toRaise.set(subject.name, subject);
    if (!this.isRaising) void this.raiseAll();
  }

  /** One after the other, because an outage leaves many of them to a store that has other work. */
  private async raiseAll(): Promise<void> {
    this.isRaising = true;
    for (const [name, subject] of this.toRaise) {
      this.toRaise.delete(name);
      await this.raise(subject);
    }
    this.isRaising = false;
  }

  /** The store has at most what was spent, so a lower sum has missed something. */
  private async raise(subject: SpendSubject): Promise<void> {
    try {
      await this.deps.shared.setSpent(subject, await this.readSpent(subject), 'least');
    } catch (error) {
      this.deps.logger.warn({ error: String(error), subject: subject.name }, 'what was spent could not be read again');
    }
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

  /** A key may have got a cap, or another, and an account may have become bounded, since the request came. */
  private released({ identity, estimatePico, createdAt, limits }: HeldRequest, costPico: PicoUsd): void {
    const { shared } = this.deps;
    const { key, account } = identity;
    if (limits.length > 0) {
      const subjects = limits.map(({ subject }) => subject);
      shared.release(subjects, estimatePico, costPico);
    }
    if (costPico === 0n) return;
    const ofKey = this.ofKeys.get(key.id);
    if (ofKey && createdAt >= ofKey.fromMs && !includes(limits, ofKey.name)) shared.addCost(ofKey, costPico);
    if (!this.own.isBounded(account)) return;
    const ofAccount = subjectOfAccount(account.id);
    if (!includes(limits, ofAccount.name)) shared.addCost(ofAccount, costPico);
  }

  private capOf(key: ApiKey): SpendLimit {
    return { subject: this.subjectOfKey(key), limitPico: key.terms.limitPico! };
  }

  private subjectOfKey({ id, accountId, terms: { limitReset: reset } }: ApiKey): SpendSubject {
    const fromMs = periodStart(reset, this.deps.clock.now()) ?? 0;
    const known = this.ofKeys.get(id);
    if (known?.fromMs === fromMs) return known;
    const begins = known?.reset === reset && known.fromMs < fromMs;
    const subject = { name: `{${accountId}}:${id}:${fromMs}`, accountId, keyId: id, fromMs, reset, begins };
    this.ofKeys.set(id, subject);
    return subject;
  }
}

/** The braces keep all subjects of an account on one node of a Redis cluster. */
function subjectOfAccount(accountId: string): SpendSubject {
  return { name: `{${accountId}}:account`, accountId, keyId: null, fromMs: 0 };
}

function includes(limits: readonly SpendLimit[], name: string): boolean {
  return limits.some(({ subject }) => subject.name === name);
}

function refusalOf(
  { key, account }: Identity,
  { subject, limitPico }: SpendLimit,
  refused: SpendRefusal,
): GatewayError {
  if (subject.keyId !== null) return capRefusal(key, refused.spentPico, refused);
  return balanceRefusal(limitPico - account.creditLimitPico - refused.spentPico, refused);
}
