/**
 * A chat that is read before it is admitted, where its body arrived together with its head. In a fleet one round trip to the shared state
 * then admits it, takes its tokens and holds its estimate. Nothing is answered from here: what is wrong with the request is found again
 * after its admission, in the order in which errors are answered.
 */
import { isPending, type MaybePromise } from '../base/turn.js';
import type { ChatAsk, ChatTaken, Take } from '../cluster/ports.js';
import type { SpendAsk } from '../cluster/shared-spend.js';
import type { Identity } from '../domain/account.js';
import type { Door } from '../doors/door.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { isJsonType } from '../wire/json-text.js';
import type { Caller } from './caller.js';
import type { Exchange } from './handover.js';
import type { PipelinePorts } from './ports.js';

type Prepare = (identity: Identity, request: ChatRequest) => Exchange;

interface PreparedChat {
  readonly exchange: Exchange;
  readonly taken: ChatTaken;
  readonly spendAsk: SpendAsk | null;
  /** The tokens of the project; null where it has no limit. */
  readonly ofProject: Take | null;
}

export class EarlyChat {
  private read: ChatRequest | null = null;
  /** A name may have changed during the round trip, and the body was read with it. */
  private namesVersion = 0;
  private exchange: Exchange | null = null;
  private spendAsk: SpendAsk | null = null;
  private taken: ChatTaken | null = null;
  /** The tokens of the project, where it has a limit. */
  private asked: MaybePromise<Take> | null = null;
  private ofProject: Take | null = null;

  constructor(
    private readonly ports: PipelinePorts,
    private readonly caller: Caller,
    private readonly door: Door,
    private readonly open: Prepare,
  ) {}

  /** null where the body was not read. */
  get request(): ChatRequest | null {
    return this.namesVersion === this.ports.names.version ? this.read : null;
  }

  /** What the chat takes besides its admission; null where that is not known yet. */
  prepare(identity: Identity): Omit<ChatAsk, 'keyVersion' | 'accountVersion'> | null {
    const { ports, caller } = this;
    const body = caller.bodyAtHand();
    if (!body || !isJsonType(caller.contentType) || ports.keyLimiter.isUsedUp(identity)) return null;
    this.namesVersion = ports.names.version;
    try {
      const request = ports.validator.validate(this.door, body);
      if (isPending(request)) return null;
      this.read = request;
      const exchange = this.open(identity, request);
      // It takes its tokens and gives them back, in the order of errors.
      if (exchange.refusal) return null;
      this.exchange = exchange;
    } catch {
      return null;
    }
    const { promptEstimate, costEstimatePico, createdAt, holdsBalance } = this.exchange;
    this.spendAsk = ports.spend.askOf(identity, costEstimatePico, createdAt, holdsBalance);
    this.asked = ports.keyLimiter.takeProjectTokens(identity, promptEstimate);
    return { tokens: promptEstimate, tokenLimit: ports.keyLimiter.tokenLimitOf(identity), spend: this.spendAsk };
  }

  /** Wait for what it returns: the tokens of the project are on their way. */
  answered(taken: ChatTaken | null): Promise<void> | null {
    this.taken = taken;
    return this.asked === null ? null : this.join(this.asked);
  }

  /** Where the project refuses, all is given back, and the request is refused later, in the order of errors. */
  private async join(asked: MaybePromise<Take>): Promise<void> {
    this.asked = null;
    const ofProject = await asked;
    if (!ofProject.admitted) this.undo();
    else if (this.taken?.tokens.admitted) this.ofProject = ofProject;
    else void ofProject.adjust(-this.exchange!.promptEstimate);
  }

  /** What was prepared for this very caller and catalogue, if it was also taken. Whoever gets it has to end what it holds. */
  take(identity: Identity): PreparedChat | null {
    const { exchange, taken, spendAsk, ofProject, ports } = this;
    const isCurrent = exchange?.snapshot === ports.catalogue.current && this.request !== null;
    if (!exchange || !taken || exchange.identity !== identity || !isCurrent) {
      this.undo();
      return null;
    }
    this.taken = null;
    return { exchange, taken, spendAsk, ofProject };
  }

  /** Gives back what was taken, where nobody goes on with it. */
  undo(): void {
    const { exchange, taken, spendAsk, ofProject, ports } = this;
    this.taken = null;
    if (!exchange || !taken?.tokens.admitted) return;
    const { identity, promptEstimate } = exchange;
    ports.keyLimiter.reserve(identity, promptEstimate, taken.tokens, ofProject).cancel();
    if (taken.spend?.kind !== 'held') return;
    const hold = ports.spend.takeAs(identity, spendAsk!, taken.spend);
    if (!isPending(hold)) hold.release(0n);
  }
}
