/**
 * Stage 7: writes the outcome of the walk to the caller, and returns what was delivered and what it costs. The end of the answer is left
 * to the settlement, so that the record is in the journal before the last byte leaves.
 */

import { andThen, isPending, type MaybePromise } from '../base/turn.js';
import { type Billed, bill, billTask, provisionalBill, type SentRequest } from '../billing/bill.js';
import { leastOfPrompts, leastPromptTokens } from '../billing/count/least-tokens.js';
import type { Route } from '../catalogue/route.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { AnswerHash, bodyHash, hashOfAnswer } from '../proof/proof-facts.js';
import { isNativePass } from '../providers/native-pass.js';
import { bytesWithPieces, type CompletionParts } from '../wire/completion-parts.js';
import { type AnswerBody, AnswerBytes, CallerGone } from './caller.js';
import type { Delivered, Exchange, WalkOutcome } from './handover.js';
import type { PipelinePorts } from './ports.js';
import { answerHeaders, fallbackOccurred, metadataOf } from './respond/answer-head.js';
import { StreamRelay } from './respond/stream-relay.js';

type RespondPorts = Pick<PipelinePorts, 'clock' | 'counter' | 'keyLimiter' | 'meters' | 'proof'>;

/** The leaf hash of a receipt, where it can be known before the answer is sent. */
type LeafOf = (delivered: Delivered) => string | null;

/** What a caller that closed its connection before its answer is recorded with, as in the logs of other servers. */
const statusClientClosed = 499;

/** The prompt is parsed for a long stream only: most end before, and a process that dies is rare. */
const promptReadFrom = 4 * 1024;

/** Carries the stream of a request to its caller while the walk goes on. `record` keeps what it owes so far. */
export function openRelay(
  ports: RespondPorts,
  exchange: Exchange,
  record: (delivered: Delivered) => void,
): StreamRelay {
  const { caller, door, generationId: id, createdAt, request, snapshot } = exchange;
  exchange.trail.answer = ports.proof?.hashBodies ? new AnswerHash(caller) : null;
  let promptTokens: number | null = null;
  const relay: StreamRelay = new StreamRelay(caller, {
    counter: ports.counter,
    answer: exchange.trail.answer,
    openWriter: (route) => door.openStream!(request, isNativePass(route.provider, request)),
    id,
    requestId: exchange.requestId,
    created: Math.floor(createdAt / 1000),
    includeUsage: request.includeUsage,
    choices: request.choices ?? 1,
    snapshot,
    nowMs: () => ports.clock.monotonicMs(),
    headers: (route) => beginStream(ports, exchange, route),
    metadata: (route) => metadataOf(ports, exchange, route),
    recordSoFar: (route, left) => {
      const { reading, delivered } = relay;
      if (promptTokens === null && delivered.characters >= promptReadFrom && reading.kind !== 'usage')
        promptTokens = leastPromptTokens(request);
      const billed = provisionalBill(sentOn(ports, exchange, route), reading, {
        promptTokens: promptTokens ?? leastOfPrompts,
        completionTokens: delivered.leastTokens,
      });
      // A record that is settled as it stands means that the process has died, and the stream with it.
      const streamEnd = left ? 'client_closed' : 'cut';
      // Nobody knows which of the bytes arrived, so there is no hash of them.
      const { finishReason } = relay;
      record(servedOf(exchange, route, billed, { finishReason, streamEnd, answerHash: null, send: null }));
    },
  });
  return relay;
}

/** `relay` is there where the request asked for a stream. */
export function respond(
  ports: RespondPorts,
  exchange: Exchange,
  walked: WalkOutcome,
  relay: StreamRelay | null,
  leafOf: LeafOf | null,
): MaybePromise<Delivered> {
  if (walked.kind === 'failed') {
    const { error } = walked;
    const answerHash = errorHash(ports, exchange, error);
    return { ...nothing, status: error.status, streamEnd: null, errorCode: error.row.code ?? null, error, answerHash };
  }
  const { route } = walked;
  if (walked.kind === 'gone') {
    return relay?.committed ? billAbandoned(ports, exchange, route, relay) : callerGone(exchange, route);
  }
  const { outcome } = walked;
  if (outcome.kind === 'answer') return answer(ports, { exchange, route, parts: outcome.parts, leafOf });
  if (outcome.end === 'pricing_fault') return endWithPricingFault(exchange, route, relay!, outcome.reason);
  return endStream(ports, { exchange, route, relay: relay!, end: outcome.end });
}

/** What all requests have in common of which nothing was delivered. */
const nothing = {
  route: null,
  leftRoute: null,
  billed: null,
  finishReason: null,
  fallbackOccurred: false,
  answerHash: null,
  send: null,
} as const;

/** The body of an error is the answer that its caller gets. */
function errorHash({ proof }: RespondPorts, { door, requestId, caller }: Exchange, error: GatewayError): string | null {
  if (!proof?.hashBodies || caller.gone) return null;
  return bodyHash(Buffer.from(door.writeError(error, requestId)));
}

/** A caller that leaves before its answer pays nothing. */
function callerGone({ request, trail }: Exchange, route: Route): Delivered {
  return {
    ...nothing,
    leftRoute: trail.dispatchedAtMs === null ? null : route,
    status: statusClientClosed,
    streamEnd: request.stream ? 'client_closed' : null,
    errorCode: 'client_closed',
    error: new CallerGone(),
  };
}

/** A 200. */
function servedOf(
  { trail }: Exchange,
  route: Route,
  billed: Billed | null,
  { finishReason, streamEnd, answerHash, send }: ServedEnd,
): Delivered {
  return {
    status: 200,
    route,
    leftRoute: null,
    billed,
    finishReason,
    streamEnd,
    fallbackOccurred: fallbackOccurred(trail),
    errorCode: streamEnd === 'pricing_fault' ? 'cost_unresolvable' : null,
    error: null,
    answerHash,
    send,
  };
}

type ServedEnd = Pick<Delivered, 'finishReason' | 'streamEnd' | 'answerHash' | 'send'>;

interface WholeAnswer {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly parts: CompletionParts;
  readonly leafOf: LeafOf | null;
}

function answer(ports: RespondPorts, whole: WholeAnswer): MaybePromise<Delivered> {
  const { exchange, route, parts } = whole;
  const { reading, usage: given, delivered: text, task } = parts;
  const sent = sentOn(ports, exchange, route);
  const billed = task
    ? billTask(ports, exchange.request, sent, task)
    : bill(ports, exchange.request, sent, { usage: reading, given, text, whole: true });
  return isPending(billed)
    ? billed.then((known) => billedAnswer(ports, whole, known))
    : billedAnswer(ports, whole, billed);
}

function billedAnswer(ports: RespondPorts, whole: WholeAnswer, billed: Billed): MaybePromise<Delivered> {
  const { exchange, route, parts, leafOf } = whole;
  if (exchange.caller.gone) return callerGone(exchange, route);
  const { finishReason, encoding } = parts;
  const leaf =
    leafOf === null
      ? null
      : leafOf(servedOf(exchange, route, billed, { finishReason, streamEnd: null, answerHash: null, send: null }));
  const text = exchange.door.writeAnswer({
    request: exchange.request,
    id: exchange.generationId,
    created: Math.floor(exchange.createdAt / 1000),
    model: route.id,
    parts,
    usage: billed.usage,
    cost: billed.cost,
    metadata: metadataOf(ports, exchange, route, { leaf }),
  });
  const body =
    parts.pieces === undefined ? new AnswerBytes(text, encoding) : bytesWithPieces(text, parts.pieces, encoding);
  const answerHash = ports.proof?.hashBodies ? hashOfAnswer(body instanceof AnswerBytes ? body.body : body) : null;
  return isPending(answerHash)
    ? answerHash.then((known) => hashedAnswer(ports, whole, billed, { body, answerHash: known }))
    : hashedAnswer(ports, whole, billed, { body, answerHash });
}

interface HashedBody {
  readonly body: AnswerBody;
  readonly answerHash: string | null;
}

function hashedAnswer(
  ports: RespondPorts,
  { exchange, route, parts: { finishReason } }: WholeAnswer,
  billed: Billed,
  { body, answerHash }: HashedBody,
): Delivered {
  const { caller, trail, startedAtMs, bodyMs } = exchange;
  // A large answer is hashed in several turns, in which the caller may leave.
  if (caller.gone) return callerGone(exchange, route);
  const nowMs = ports.clock.monotonicMs();
  trail.answeredAtMs = nowMs;
  trail.overheadMs = Math.max(0, nowMs - startedAtMs - bodyMs - trail.upstreamMs);
  // The headers are made when they are sent: the usage has then corrected what remains of the key's tokens.
  const send = () => caller.answer(answerHeaders(ports, exchange, route), body);
  return servedOf(exchange, route, billed, { finishReason, streamEnd: null, answerHash, send });
}

interface EndedStream {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly relay: StreamRelay;
  readonly end: 'complete' | 'stalled' | 'cut';
}

/** Bills what was delivered; the closing frames carry the bill. */
function endStream(ports: RespondPorts, { exchange, route, relay, end }: EndedStream): MaybePromise<Delivered> {
  const { caller, request } = exchange;
  relay.commitEmpty();
  relay.finish();
  const { reading, usage: given, delivered: text, finishReason } = relay;
  const billing = bill(ports, request, sentOn(ports, exchange, route), {
    usage: reading,
    given,
    text,
    whole: end === 'complete',
  });
  // Counting takes a while, in which the process may die.
  if (isPending(billing)) relay.recordSoFar(caller.gone);
  return andThen(billing, (billed) => {
    const usage = { given, usage: billed.usage, cost: billed.cost };
    const frames = relay.takeEnd(end, usage, metadataOf(ports, exchange, route, { streamEnd: end }));
    const send = () => caller.endStream(frames);
    return andThen(exchange.trail.answer?.end(frames) ?? null, (answerHash) => {
      const streamEnd = caller.gone ? 'client_closed' : end;
      return servedOf(exchange, route, billed, { finishReason, streamEnd, answerHash, send });
    });
  });
}

/** An answer that cannot be priced is not billed. */
function endWithPricingFault(
  exchange: Exchange,
  route: Route,
  relay: StreamRelay,
  reason: string,
): MaybePromise<Delivered> {
  const frames = relay.takeError(gatewayError('cost_unresolvable', { provider: route.provider.id, reason }));
  const { finishReason } = relay;
  const send = () => exchange.caller.endStream(frames);
  return andThen(exchange.trail.answer?.end(frames) ?? null, (answerHash) =>
    servedOf(exchange, route, null, { finishReason, streamEnd: 'pricing_fault', answerHash, send }),
  );
}

/** A caller that leaves during its stream pays for the prompt and for what it was sent. */
function billAbandoned(
  ports: RespondPorts,
  exchange: Exchange,
  route: Route,
  relay: StreamRelay,
): MaybePromise<Delivered> {
  const { reading, usage: given, delivered: text, finishReason } = relay;
  const billing = bill(ports, exchange.request, sentOn(ports, exchange, route), {
    usage: reading,
    given,
    text,
    whole: false,
  });
  const hashed = exchange.trail.answer?.end(null) ?? null;
  return andThen(billing, (billed) =>
    andThen(hashed, (answerHash) =>
      servedOf(exchange, route, billed, { finishReason, streamEnd: 'client_closed', answerHash, send: null }),
    ),
  );
}

/** By the time at which the request was sent to the provider, which decides the price. */
function sentOn({ clock }: RespondPorts, { trail }: Exchange, route: Route): SentRequest {
  return { route, sentAtMs: clock.now() - (clock.monotonicMs() - trail.dispatchedAtMs!) };
}

/** The headers of the 200 of a stream, at the moment of its first content. */
function beginStream(ports: RespondPorts, exchange: Exchange, route: Route): string[] {
  const { trail, startedAtMs, bodyMs } = exchange;
  trail.answeredAtMs = ports.clock.monotonicMs();
  trail.overheadMs = Math.max(0, trail.dispatchedAtMs! - startedAtMs - bodyMs - trail.upstreamMs);
  ports.meters.openStreams++;
  return answerHeaders(ports, exchange, route);
}
