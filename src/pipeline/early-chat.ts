/**
 * A chat that is read before it is admitted, where its body arrived together with its head. In a fleet one round trip to the shared state
 * then admits it, takes its tokens and holds its estimate. Nothing is answered from here: what is wrong with the request is found again
 * after its admission, in the order in which errors are answered.
 */
import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import type { ChatAsk, ChatTaken, Take } from '../cluster/ports.js';
import type { SpendAnswer, SpendAsk } from '../cluster/shared-spend.js';
import type { Identity } from '../domain/account.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { isJsonType } from './caller.js';
import type { Arrival, Exchange } from './handover.js';
import type { EarlyTake, PipelinePorts } from './ports.js';

type Prepare = (ports: PipelinePorts, arrival: Arrival, identity: Identity, request: ChatRequest) => Exchange;

export class EarlyChat implements EarlyTake {
  private read: ChatRequest | null = null;
  /** A name may have changed during the round trip, and the body was read with it. */
  private namesVersion = 0;
  private exchange: Exchange | null = null;
  /** The tokens of the project, where it has a limit. */
  private ofProject: MaybePromise<Take> | null = null;
  /** What the shared state was asked to hold, and its answer; null where nothing limits what the request may spend. */
  ask: SpendAsk | null = null;
  answer: SpendAnswer | null = null;
  /** Why there are not enough tokens, to be thrown in the order of errors. */
  refusal: unknown = null;

  constructor(
    private readonly ports: PipelinePorts,
    private readonly arrival: Arrival,
    private readonly open: Prepare,
  ) {}

  /** null where the body was not read. */
  get request(): ChatRequest | null {
    return this.namesVersion === this.ports.names.version ? this.read : null;
  }

  get isHeld(): boolean {
    return this.answer?.kind === 'held';
  }

  prepare(identity: Identity): Omit<ChatAsk, 'keyVersion' | 'accountVersion'> | null {
    const { ports, arrival } = this;
    const { caller, door } = arrival;
    const body = caller.bodyAtHand();
    if (!body || !isJsonType(caller.contentType) || ports.keyLimiter.isUsedUp(identity)) return null;
    this.namesVersion = ports.names.version;
    try {
      const request = ports.validator.validate(door, body);
      if (isPending(request)) return null;
      this.read = request;
      const exchange = this.open(ports, arrival, identity, request);
      // It takes its tokens and gives them back, in the order of errors.
      if (exchange.refusal) return null;
      this.exchange = exchange;
    } catch {
      return null;
    }
    const { promptEstimate, costEstimatePico, createdAt, holdsBalance } = this.exchange;
    this.ask = ports.spend.askOf(identity, costEstimatePico, createdAt, holdsBalance);
    this.ofProject = ports.keyLimiter.takeProjectTokens(identity, promptEstimate);
    return { tokens: promptEstimate, tokenLimit: ports.keyLimiter.tokenLimitOf(identity), spend: this.ask };
  }

  take(taken: ChatTaken | null): MaybePromise<void> {
    if (this.ofProject === null) return this.takeOver(taken, null);
    return andThen(this.ofProject, (ofProject) => this.takeOver(taken, ofProject));
  }

  private takeOver(taken: ChatTaken | null, ofProject: Take | null): void {
    const { exchange, ports } = this;
    if (!exchange) return;
    if (!taken) {
      if (ofProject?.admitted) void ofProject.adjust(-exchange.promptEstimate);
      this.exchange = null;
      return;
    }
    const { identity, promptEstimate } = exchange;
    this.answer = taken.spend;
    if (this.ask && this.isHeld) {
      const hold = ports.spend.takeAs(identity, this.ask, this.answer);
      if (!isPending(hold)) exchange.hold = hold;
    }
    try {
      exchange.reservation = ports.keyLimiter.reserve(identity, promptEstimate, taken.tokens, ofProject);
    } catch (refusal) {
      this.refusal = refusal;
      exchange.hold.release(0n);
    }
  }

  /** What was prepared for this very caller and catalogue, with what it has taken. Whoever gets it has to end what it holds. */
  exchangeOf(identity: Identity): Exchange | null {
    const { exchange, ports } = this;
    if (exchange?.identity === identity && exchange.snapshot === ports.catalogue.current && this.request)
      return exchange;
    this.undo();
    return null;
  }

  /** Gives back what was taken, where nobody goes on with it. */
  undo(): void {
    this.exchange?.reservation.cancel();
    this.exchange?.hold.release(0n);
    this.exchange = null;
  }
}
