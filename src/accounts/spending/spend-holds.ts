/**
 * Holds the estimated cost of each request that is in flight against the balance of its account and the cap of its key, so that many
 * requests at once cannot spend what is there only once. A request that is alone is always admitted while anything is left, because its
 * estimate may be far above its cost. The holds are those of this process, and die with it.
 */
import { andThen, type MaybePromise } from '../../base/maybe-promise.js';
import { type PicoUsd, usdText } from '../../base/money.js';
import type { Clock } from '../../base/time.js';
import type { Account, ApiKey, Identity, KeyTerms } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { periodStart } from '../keys/limit-period.js';

export interface SpendHoldsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** For accounts that do not say it themselves. */
  readonly overdraft: 'open' | 'bounded';
  /** What was billed for a key's requests since a moment, 0 for all of them, as far as the store has it. */
  spentSince(accountId: string, keyId: string, fromMs: number): Promise<PicoUsd>;
  /** Resolves when everything that was billed so far is in the store. */
  settled(): Promise<unknown>;
}

/** The hold of one request. */
export interface SpendHold {
  /** Ends it; the cost, if any, has been taken off the balance before. Further calls do nothing. */
  release(costPico: PicoUsd): void;
}

interface InFlight {
  heldPico: PicoUsd;
  requests: number;
}

/** What a capped key has spent in a period. */
interface KeySpend extends InFlight {
  reset: KeyTerms['limitReset'];
  /** When the period began. */
  fromMs: number;
  spentPico: PicoUsd;
  /** How many costs were added, so that a reading of the store knows whether one came between. */
  added: number;
  /** Set while the store is asked. */
  reading: Promise<void> | null;
}

const nothing: InFlight = { heldPico: 0n, requests: 0 };

export class SpendHolds {
  /** How many requests cost more than they had held. */
  exceeded = 0;
  private readonly accounts = new Map<string, InFlight>();
  private readonly keys = new Map<string, KeySpend>();

  constructor(private readonly deps: SpendHoldsDeps) {}

  /** Throws insufficient_credits or key_limit_exceeded. A key without a cap waits for nothing. */
  take(identity: Identity, estimatePico: PicoUsd): MaybePromise<SpendHold> {
    const { key, account } = identity;
    if (key.terms.limitPico === null) return this.hold(account, null, estimatePico);
    return andThen(this.currentSpend(key), (spend) => {
      checkCap(identity, spend);
      return this.hold(account, spend, estimatePico);
    });
  }

  /** What is held of an account, and for how many requests. */
  inFlight(accountId: string): Readonly<InFlight> {
    return this.accounts.get(accountId) ?? nothing;
  }

  private hold(account: Account, spend: KeySpend | null, estimatePico: PicoUsd): SpendHold {
    const inFlight = this.accounts.get(account.id) ?? { heldPico: 0n, requests: 0 };
    this.checkBalance(account, inFlight);
    this.accounts.set(account.id, inFlight);
    return new Hold(this, { account, inFlight, spend, estimatePico, createdAt: this.deps.clock.now() });
  }

  private checkBalance(account: Account, { heldPico, requests }: InFlight): void {
    if ((account.overdraft ?? this.deps.overdraft) === 'open') return;
    const { balancePico, creditLimitPico } = account;
    const availablePico = balancePico + creditLimitPico;
    if (availablePico > 0n && (requests === 0 || availablePico - heldPico > 0n)) return;
    throw gatewayError('insufficient_credits', {
      balance: usdText(balancePico),
      held: usdText(heldPico),
      requests,
    });
  }

  /** @internal */
  drop(accountId: string): void {
    if (this.accounts.get(accountId)?.requests === 0) this.accounts.delete(accountId);
  }

  private currentSpend(key: ApiKey): MaybePromise<KeySpend> {
    const reset = key.terms.limitReset;
    const fromMs = periodStart(reset, this.deps.clock.now()) ?? 0;
    const known = this.keys.get(key.id);
    if (known && known.reset === reset && known.fromMs === fromMs) {
      return known.reading ? known.reading.then(() => known) : known;
    }
    const spend = known ?? { heldPico: 0n, requests: 0, reset, fromMs, spentPico: 0n, added: 0, reading: null };
    const begins = known?.reset === reset && fromMs > known.fromMs;
    Object.assign(spend, { reset, fromMs, spentPico: 0n });
    this.keys.set(key.id, spend);
    // In a period that begins now, nothing can have been spent that is not known here.
    if (begins) return spend;
    spend.reading = this.read(key, spend).then(
      () => {
        spend.reading = null;
      },
      (error: unknown) => {
        // What was spent is not known, so the next request asks again.
        this.keys.delete(key.id);
        throw error;
      },
    );
    return spend.reading.then(() => spend);
  }

  /** Again where a cost was added meanwhile, because nobody knows whether the store had it already. */
  private async read({ id, accountId }: ApiKey, spend: KeySpend): Promise<void> {
    for (;;) {
      const { added, fromMs } = spend;
      await this.deps.settled();
      const spentPico = await this.deps.spentSince(accountId, id, fromMs);
      if (spend.added !== added || spend.fromMs !== fromMs) continue;
      spend.spentPico = spentPico;
      return;
    }
  }
}

/** A key may be used while something of its cap is left, and another request only beside what those in flight may cost. */
function checkCap({ key }: Identity, { spentPico, heldPico, requests }: KeySpend): void {
  const limitPico = key.terms.limitPico ?? 0n;
  const leftPico = limitPico - spentPico;
  if (leftPico > 0n && (requests === 0 || leftPico - heldPico > 0n)) return;
  throw gatewayError('key_limit_exceeded', {
    limit: usdText(limitPico),
    used: usdText(spentPico),
    held: usdText(heldPico),
    resets: key.terms.limitReset,
  });
}

interface HeldRequest {
  readonly account: Account;
  readonly inFlight: InFlight;
  readonly spend: KeySpend | null;
  readonly estimatePico: PicoUsd;
  readonly createdAt: number;
}

class Hold implements SpendHold {
  private released = false;

  constructor(
    private readonly holds: SpendHolds,
    private readonly request: HeldRequest,
  ) {
    const { inFlight, spend, estimatePico } = request;
    inFlight.heldPico += estimatePico;
    inFlight.requests++;
    if (!spend) return;
    spend.heldPico += estimatePico;
    spend.requests++;
  }

  release(costPico: PicoUsd): void {
    if (this.released) return;
    this.released = true;
    const { account, inFlight, spend, estimatePico, createdAt } = this.request;
    inFlight.heldPico -= estimatePico;
    if (--inFlight.requests === 0) this.holds.drop(account.id);
    if (costPico > estimatePico) this.holds.exceeded++;
    if (!spend) return;
    spend.heldPico -= estimatePico;
    spend.requests--;
    spend.added++;
    // The cost belongs to the period in which the request came.
    if (createdAt >= spend.fromMs) spend.spentPico += costPico;
  }
}
