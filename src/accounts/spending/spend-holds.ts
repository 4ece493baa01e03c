/**
 * Holds the estimated cost of each request that is in flight against the balance of its account and the cap of its key, so that many
 * requests at once cannot spend what is there only once. A request that is alone is always admitted while anything is left, because its
 * estimate may be far above its cost. The holds are those of this process, and die with it.
 */
import { andThen, type MaybePromise } from '../../base/maybe-promise.js';
import { type PicoUsd, parseUsd, usdText } from '../../base/money.js';
import type { Clock } from '../../base/time.js';
import type { SpendAnswer, SpendAsk, SpendLimit } from '../../cluster/shared-spend.js';
import { type Account, type ApiKey, type Identity, type KeyTerms, spendablePico } from '../../domain/account.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { periodStart } from '../keys/limit-period.js';

export interface SpendHoldsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** For accounts that do not say it themselves. */
  readonly overdraft: 'open' | 'bounded';
  /** What was billed for a key's requests since a moment, 0 for all of them, as far as the store has it. */
  spentSince(accountId: string, keyId: string, fromMs: number): Promise<PicoUsd>;
  /** Resolves when everything that was billed so far is in the store, for a key or for all. */
  settled(keyId?: string): Promise<unknown>;
}

/** The hold of one request. */
export interface SpendHold {
  /** Ends it; the cost, if any, has been taken off the balance before. Further calls do nothing. */
  release(costPico: PicoUsd): void;
}

/** What the request path and the API need of holds, in one process or in a fleet. */
export interface Spending {
  /** How many requests cost more than they had held. */
  readonly exceeded: number;
  /** Throws key_limit_exceeded where the cap of the key is spent, whatever is in flight. A key without a cap waits for nothing. */
  checkCap(identity: Identity): MaybePromise<void>;
  /** Throws insufficient_credits or key_limit_exceeded. A key without a cap waits for nothing. */
  take(identity: Identity, estimatePico: PicoUsd): MaybePromise<SpendHold>;
  /** What has to be asked of the shared state before a request is taken; null where nothing has to. */
  askOf(identity: Identity, estimatePico: PicoUsd): SpendAsk | null;
  /** Like `take`, with what the shared state has answered; null where it was out of reach. */
  takeAs(identity: Identity, ask: SpendAsk, answer: SpendAnswer | null): MaybePromise<SpendHold>;
  /** What is held of an account, and for how many requests. */
  inFlight(account: Account): MaybePromise<Readonly<InFlight>>;
}

/** What a capped key has spent in a period. */
interface KeySpend extends InFlight {
  reset: KeyTerms['limitReset'];
  /** When the period began. */
  fromMs: number;
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
}

const nothing: InFlight = { heldPico: 0n, requests: 0 };
const noLimits: readonly SpendLimit[] = [];

export class SpendHolds implements Spending {
  exceeded = 0;
  /** Called at the end of every hold. */
  onRelease: ((request: HeldRequest, costPico: PicoUsd) => void) | null = null;
  private readonly accounts = new Map<string, InFlight>();
  private readonly keys = new Map<string, KeySpend>();

  constructor(private readonly deps: SpendHoldsDeps) {}

  checkCap({ key }: Identity): MaybePromise<void> {
    if (key.terms.limitPico === null) return;
    return andThen(this.currentSpend(key), (spend) => {
      if ((key.terms.limitPico ?? 0n) <= spend.spentPico) throw capRefusal(key, spend.spentPico, spend);
    });
  }

  take(identity: Identity, estimatePico: PicoUsd, limits = noLimits): MaybePromise<SpendHold> {
    const { key } = identity;
    if (key.terms.limitPico === null) {
      this.checkBalance(identity.account);
      return this.track(identity, estimatePico, limits);
    }
    return andThen(this.currentSpend(key), (spend) => {
      this.checkBalance(identity.account);
      const limitPico = key.terms.limitPico ?? 0n;
      if (!hasRoom(limitPico - spend.spentPico, spend)) throw capRefusal(key, spend.spentPico, spend);
      return this.track(identity, estimatePico, limits);
    });
  }

  askOf(): null {
    return null;
  }

  takeAs(identity: Identity, { estimatePico }: SpendAsk): MaybePromise<SpendHold> {
    return this.take(identity, estimatePico);
  }

  /** Counts a request that was admitted already. */
  track(identity: Identity, estimatePico: PicoUsd, limits = noLimits): SpendHold {
    const { key, account } = identity;
    const ofAccount = this.accounts.get(account.id) ?? { heldPico: 0n, requests: 0 };
    this.accounts.set(account.id, ofAccount);
    const ofKey = key.terms.limitPico === null ? null : this.spendOf(key);
    return new Hold(this, { identity, estimatePico, createdAt: this.deps.clock.now(), limits }, ofAccount, ofKey);
  }

  inFlight({ id }: Pick<Account, 'id'>): Readonly<InFlight> {
    return this.accounts.get(id) ?? nothing;
  }

  isBounded({ overdraft }: Account): boolean {
    return (overdraft ?? this.deps.overdraft) === 'bounded';
  }

  /** What was spent is not known any more, because others may have spent too: the store is read again. */
  forgetSpent(): void {
    for (const spend of this.keys.values()) spend.known = false;
  }

  private checkBalance(account: Account): void {
    if (!this.isBounded(account)) return;
    const inFlight = this.inFlight(account);
    if (!hasRoom(spendablePico(account), inFlight)) throw balanceRefusal(account.balancePico, inFlight);
  }

  /** @internal Called by each hold at its end. */
  released(request: HeldRequest, ofKey: KeySpend | null, costPico: PicoUsd): void {
    const { key, account } = request.identity;
    if (this.accounts.get(account.id)?.requests === 0) this.accounts.delete(account.id);
    if (costPico > request.estimatePico) this.exceeded++;
    if (ofKey) ofKey.added++;
    // The cost belongs to the period in which the request came. The key may have got a cap, or another, since.
    const current = this.keys.get(key.id);
    if (ofKey && request.createdAt >= ofKey.fromMs) ofKey.spentPico += costPico;
    if (current && current !== ofKey && request.createdAt >= current.fromMs) {
      current.spentPico += costPico;
      current.added++;
    }
    this.onRelease?.(request, costPico);
  }

  /** Requests in flight of a period that is over hold nothing of the next one, because their costs belong to their own. */
  private spendOf(key: ApiKey): KeySpend {
    const reset = key.terms.limitReset;
    const fromMs = periodStart(reset, this.deps.clock.now()) ?? 0;
    const last = this.keys.get(key.id);
    if (last && last.reset === reset && last.fromMs === fromMs) return last;
    const begins = last?.reset === reset && fromMs > last.fromMs;
    const empty = { reset, fromMs, spentPico: 0n, added: 0, reading: null };
    let spend: KeySpend;
    // In a period that begins now, nothing can have been spent that is not known here.
    if (!last || begins) spend = { heldPico: 0n, requests: 0, known: begins && last.known, ...empty };
    else spend = Object.assign(last, { reset, fromMs, spentPico: 0n, known: false });
    this.keys.set(key.id, spend);
    return spend;
  }

  private currentSpend(key: ApiKey): MaybePromise<KeySpend> {
    const spend = this.spendOf(key);
    if (spend.reading) return spend.reading.then(() => spend);
    if (spend.known) return spend;
    spend.reading = this.read(key, spend).finally(() => {
      spend.reading = null;
    });
    return spend.reading.then(() => spend);
  }

  /** Again where a cost was added meanwhile, because nobody knows whether the store had it already. */
  private async read({ id, accountId }: ApiKey, spend: KeySpend): Promise<void> {
    for (;;) {
      const { added, fromMs } = spend;
      await this.deps.settled(id);
      const spentPico = await this.deps.spentSince(accountId, id, fromMs);
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
    private readonly ofKey: KeySpend | null,
  ) {
    ofAccount.heldPico += request.estimatePico;
    ofAccount.requests++;
    if (!ofKey) return;
    ofKey.heldPico += request.estimatePico;
    ofKey.requests++;
  }

  release(costPico: PicoUsd): void {
    if (this.isReleased) return;
    this.isReleased = true;
    const { request, ofAccount, ofKey } = this;
    ofAccount.heldPico -= request.estimatePico;
    ofAccount.requests--;
    if (ofKey) {
      ofKey.heldPico -= request.estimatePico;
      ofKey.requests--;
    }
    this.holds.released(request, ofKey, costPico);
  }
}

/** What requests in flight hold. */
export interface InFlight {
  heldPico: PicoUsd;
  requests: number;
}

/** A request is admitted while something is left, and beside others only while more is left than they hold. */
function hasRoom(leftPico: PicoUsd, { heldPico, requests }: InFlight): boolean {
  return leftPico > 0n && (requests === 0 || leftPico - heldPico > 0n);
}

/** The refusal of an account whose balance and credit limit are spent; null where something is left. */
export function spentBalanceRefusal(account: Account): GatewayError | null {
  if (spendablePico(account) > 0n) return null;
  return gatewayError('insufficient_credits', { balance: usdText(account.balancePico) });
}

export function balanceRefusal(balancePico: PicoUsd, { heldPico, requests }: InFlight): GatewayError {
  return gatewayError('insufficient_credits', { balance: usdText(balancePico), held: usdText(heldPico), requests });
}

export function capRefusal({ terms }: ApiKey, spentPico: PicoUsd, { heldPico }: InFlight): GatewayError {
  return gatewayError('key_limit_exceeded', {
    limit: usdText(terms.limitPico ?? 0n),
    used: usdText(spentPico),
    held: usdText(heldPico),
    resets: terms.limitReset,
  });
}

/** Whether an error is the refusal of a cap of which something is left, so that only requests in flight are in the way. */
export function isHeldCap(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.condition !== 'key_limit_exceeded') return false;
  const { limit, used } = error.values as { limit: string; used: string };
  return parseUsd(used)! < parseUsd(limit)!;
}
