/**
 * A chat request's way through the eight stages: admit, validate, resolve, gate, rank, walk, respond, settle. What a caller
 * may see as an error is thrown as one row of the error table and caught by the HTTP layer.
 */
import { generationId } from '../base/ids.js';
import type { Route } from '../catalogue/route.js';
import type { StreamEnd } from '../domain/generation.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { estimatePromptTokens } from '../limits/estimate-prompt.js';
import { routerMetadataText } from '../wire/router-metadata.js';
import { bodyBytesMax } from './admit/checks.js';
import { admit } from './admit.js';
import { type Caller, CallerGone } from './caller.js';
import { alongChain } from './chain.js';
import { gate } from './gate.js';
import type { Billed, Exchange, PipelinePorts, Plan, Trail } from './handover.js';
import { ChatNotes } from './notes.js';
import { rank } from './rank.js';
import { resolve, resolveSavedChain, resolveSentChain } from './resolve.js';
import { answerHeaders } from './respond/answer-headers.js';
import { answerText } from './respond/answer-text.js';
import { bill, provisionalBill } from './respond/bill.js';
import { billAbandoned, endStream, endWithPricingFault } from './respond/end-stream.js';
import { StreamRelay } from './respond/stream-relay.js';
import { type Settlement, settle, settleProvisionally } from './settle.js';
import { checkContentType } from './validate.js';
import { type Served, type WalkOutcome, walk } from './walk.js';

type Answer = Extract<Served, { kind: 'answer' }>;
type Stream = Extract<Served, { kind: 'stream' }>;

/** A larger body counts as held until its request is over: the walk keeps it, and few of them fill the memory. */
const countedWhileServedBytes = 1024 * 1024;

/** A caller that closed its connection before its answer, in the words of the logs of other servers. */
const statusClientClosed = 499;

/** `notes` are filled on the way, for whoever watches how it ends. */
export async function serveChat(
  ports: PipelinePorts,
  caller: Caller,
  requestId: string,
  notes: ChatNotes = new ChatNotes(),
): Promise<void> {
  const startedAtMs = ports.clock.monotonicMs();
  const admitted = admit(ports, caller);
  const identity = admitted instanceof Promise ? await admitted : admitted;
  checkContentType(caller.contentType);
  const waitingFromMs = ports.clock.monotonicMs();
  const body = await caller.readBody(bodyBytesMax, ports.bodyMemory.open(identity.account.id));
  const bodyMs = ports.clock.monotonicMs() - waitingFromMs;
  notes.bodyBytes = body.length;
  const validated = ports.validator.validate(body);
  const request = validated instanceof Promise ? await validated : validated;
  if (notes.bodyBytes <= countedWhileServedBytes) caller.releaseBody();

  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const { account } = identity;
  const plan = resolve(snapshot, account, request.model);
  const sentChain = request.fallback && resolveSentChain(ports, snapshot, account, request.fallback);

  const promptEstimate = estimatePromptTokens(request);
  const taken = ports.keyLimiter.takeTokens(identity, promptEstimate);
  const reservation = taken instanceof Promise ? await taken : taken;
  const createdAt = ports.clock.now();
  const exchange = {
    caller,
    requestId,
    generationId: generationId(createdAt),
    createdAt,
    startedAtMs,
    bodyMs,
    identity,
    request,
    snapshot,
    promptEstimate,
    reservation,
  };
  notes.exchange = exchange;
  try {
    await new Chat(ports, exchange, notes).serve(plan, () => sentChain ?? resolveSavedChain(snapshot, account));
  } finally {
    // Nothing was delivered, or the usage has corrected it already.
    reservation.cancel();
    ports.journal.release(notes.trail.reservedBytes);
  }
}

/** The second half of the way: gate, rank and walk for the primary id and each entry of its chain, then respond and settle. */
class Chat {
  private readonly trail: Trail;
  private readonly relay: StreamRelay | null;
  private primary!: Plan;
  /** The plan that is being walked, and its place in the chain; 0 is the primary id. */
  private plan!: Plan;
  private place = 0;
  private walked = false;
  /** What the provisional record of a stream that was left has taken off the balance. */
  private chargedPico = 0n;

  constructor(
    private readonly ports: PipelinePorts,
    private readonly exchange: Exchange,
    private readonly notes: ChatNotes,
  ) {
    this.trail = notes.trail;
    this.relay = exchange.request.stream ? this.createRelay() : null;
  }

  async serve(primary: Plan, chainOf: () => readonly Plan[]): Promise<void> {
    const { ports, exchange } = this;
    this.primary = primary;
    const walked = await alongChain<WalkOutcome>(primary, chainOf, (plan, place) => this.enter(plan, place));
    if (walked.kind === 'failed') {
      // While the journal has no room for bills, it has none for refusals.
      if (this.walked && walked.error.condition !== 'billing_not_durable') this.settleFailure(walked.error);
      throw walked.error;
    }
    if (walked.kind === 'gone') return this.abandoned(walked.route);
    const { route, outcome } = walked;
    if (outcome.kind === 'stream') return this.closeStream(route, outcome);
    const billing = bill(ports, exchange.request, route, {
      usage: outcome.usage,
      given: outcome.parts.usage,
      text: outcome.parts.delivered,
      whole: true,
    });
    this.answer(route, outcome, billing instanceof Promise ? await billing : billing);
  }

  private async enter(plan: Plan, place: number): Promise<WalkOutcome> {
    const { ports, exchange, trail, relay } = this;
    const { policy } = exchange.identity.account;
    const { eligible, error } = gate(ports, plan, policy, exchange.caller.origin.territory);
    if (error) return { kind: 'failed', error };
    this.plan = plan;
    this.place = place;
    this.walked = true;
    const candidates = rank(ports, eligible, policy.prefer, exchange.request.stream);
    return walk(ports, exchange, plan, candidates, trail, relay);
  }

  private answer(route: Route, { parts }: Answer, billed: Billed): void {
    const { exchange } = this;
    const { caller } = exchange;
    if (caller.gone) this.settleGone();
    const text = answerText(exchange, route, parts, billed, this.metadata(route));
    const overheadMs = this.overheadMs();
    // Made after settling: what remains of the key's tokens is told by the usage, not by the estimate.
    this.notes.answering(this.ports.clock.monotonicMs(), overheadMs);
    this.settleServed(route, billed, parts.finishReason, null, () =>
      caller.answer(answerHeaders(this.ports, exchange, route, overheadMs), text, parts.encoding),
    );
  }

  private async closeStream(route: Route, { end, reason }: Stream): Promise<void> {
    const relay = this.relay!;
    const close = {
      exchange: this.exchange,
      route,
      relay,
      settle: (billed: Billed | null, streamEnd: StreamEnd, thenSend?: () => void) =>
        this.settleServed(route, billed, relay.finishReason, streamEnd, thenSend),
    };
    if (end === 'pricing_fault') endWithPricingFault(close, reason);
    else await endStream(this.ports, { ...close, end, metadata: (streamEnd) => this.metadata(route, streamEnd) });
  }

  private async abandoned(route: Route): Promise<void> {
    const { exchange, relay } = this;
    if (!relay?.committed) this.settleGone();
    await billAbandoned(this.ports, {
      exchange,
      route,
      relay,
      settle: (billed, streamEnd) => this.settleServed(route, billed, relay.finishReason, streamEnd),
    });
  }

  private settleServed(
    route: Route,
    billed: Billed | null,
    finishReason: string | null,
    streamEnd: StreamEnd | null,
    thenSend?: () => void,
  ): void {
    const errorCode = streamEnd === 'pricing_fault' ? 'cost_unresolvable' : undefined;
    const fallbackOccurred = this.fallbackOccurred();
    const settlement = {
      status: 200,
      route,
      billed,
      finishReason,
      streamEnd,
      fallbackOccurred,
      error: null,
      errorCode,
      chargedPico: this.chargedPico,
    };
    this.settle(settlement, thenSend);
  }

  /** Nothing arrived, so nothing is billed; the record says why. */
  private settleGone(): never {
    const streamEnd = this.exchange.request.stream ? 'client_closed' : null;
    const common = { billed: null, finishReason: null, streamEnd, fallbackOccurred: false, error: null } as const;
    this.settle({
      ...common,
      status: statusClientClosed,
      route: null,
      errorCode: 'client_closed',
    });
    throw new CallerGone();
  }

  private settleFailure(error: GatewayError): void {
    const common = { billed: null, finishReason: null, streamEnd: null, fallbackOccurred: false } as const;
    this.settle({ ...common, status: error.status, route: null, error });
  }

  private settle(settlement: Settlement, thenSend?: () => void): void {
    this.notes.settlement = settlement;
    settle(this.ports, this.exchange, this.trail, settlement, thenSend);
  }

  private createRelay(): StreamRelay {
    const { exchange } = this;
    return new StreamRelay(exchange.caller, {
      counter: this.ports.counter,
      id: exchange.generationId,
      created: Math.floor(exchange.createdAt / 1000),
      includeUsage: exchange.request.includeUsage,
      snapshot: exchange.snapshot,
      headers: (route) => this.streamBegins(route),
      metadata: (route) => this.metadata(route),
      recordSoFar: (route, left) => this.recordSoFar(route, left),
    });
  }

  private recordSoFar(route: Route, left: boolean): void {
    const { ports, exchange, trail, chargedPico } = this;
    const relay = this.relay!;
    const billed = provisionalBill(exchange, route, relay.reading, relay.deliveredCharacters);
    if (billed.costPico === 0n) return;
    const common = { status: 200, route, billed, finishReason: relay.finishReason, error: null, chargedPico };
    const fallbackOccurred = this.fallbackOccurred();
    // Where it comes to be settled, the process has died and the stream with it.
    const streamEnd = left ? 'client_closed' : 'cut';
    settleProvisionally(ports, exchange, trail, { ...common, streamEnd, fallbackOccurred });
    if (left) this.chargedPico = billed.costPico;
  }

  private streamBegins(route: Route): string[] {
    const { ports, exchange, trail } = this;
    const overheadMs = trail.dispatchedAtMs - exchange.startedAtMs - exchange.bodyMs - trail.upstreamMs;
    this.notes.answering(ports.clock.monotonicMs(), overheadMs);
    ports.meters.openStreams++;
    return answerHeaders(ports, exchange, route, overheadMs);
  }

  private metadata(route: Route, streamEnd?: StreamEnd): string {
    const { providersAttempted, breakerSkipped } = this.trail;
    // The alias that was asked for; where none was, the one of the chain's entry that serves.
    const alias = this.primary.alias ?? this.plan.alias;
    const requestedModel = this.exchange.request.model;
    return routerMetadataText(
      { requestedModel, alias, route, providersAttempted, fallbackOccurred: this.fallbackOccurred(), breakerSkipped },
      streamEnd,
    );
  }

  private fallbackOccurred(): boolean {
    return this.trail.attempts.length > 1 || this.place > 0;
  }

  private overheadMs(): number {
    const { startedAtMs, bodyMs } = this.exchange;
    return Math.max(0, this.ports.clock.monotonicMs() - startedAtMs - bodyMs - this.trail.upstreamMs);
  }
}
