/**
 * Stage 7: writes the outcome of the walk to the caller, and returns what was delivered and what it costs. The end of the answer is left
 * to the settlement, so that the record is in the journal before the last byte leaves.
 */
import { andThen, isPending, type MaybePromise } from '../base/maybe-promise.js';
import type { Route } from '../catalogue/route.js';
import type { StreamEnd } from '../domain/generation.js';
import { gatewayError } from '../errors/gateway-error.js';
import { isNativePass, omittedOn } from '../providers/native-pass.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import { routerMetadataText } from '../wire/router-metadata.js';
import { CallerGone } from './caller.js';
import {
  type Billed,
  type Delivered,
  type Exchange,
  fallbackOccurred,
  type PipelinePorts,
  type WalkOutcome,
} from './handover.js';
import { bill, billTask, provisionalBill, type SentRequest } from './respond/bill.js';
import { StreamRelay } from './respond/stream-relay.js';

export type RespondPorts = Pick<PipelinePorts, 'clock' | 'counter' | 'keyLimiter' | 'meters'>;

/** What a caller that closed its connection before its answer is recorded with, as in the logs of other servers. */
const statusClientClosed = 499;

/** Carries the stream of a request to its caller while the walk goes on. `record` keeps what it owes so far. */
export function openRelay(
  ports: RespondPorts,
  exchange: Exchange,
  record: (delivered: Delivered) => void,
): StreamRelay {
  const { caller, door, generationId: id, createdAt, request, snapshot } = exchange;
  const relay: StreamRelay = new StreamRelay(caller, {
    counter: ports.counter,
    openWriter: (route) => door.openStream!(request, isNativePass(route.provider, request)),
    id,
    requestId: exchange.requestId,
    created: Math.floor(createdAt / 1000),
    includeUsage: request.includeUsage,
    snapshot,
    nowMs: () => ports.clock.monotonicMs(),
    headers: (route) => beginStream(ports, exchange, route),
    metadata: (route) => metadataOf(exchange, route),
    recordSoFar: (route, left) => {
      const billed = provisionalBill(
        exchange,
        sentOn(ports, exchange, route),
        relay.reading,
        relay.deliveredCharacters,
      );
      // A record that is settled as it stands means that the process has died, and the stream with it.
      const streamEnd = left ? 'client_closed' : 'cut';
      record(servedOf(exchange, { route, billed, finishReason: relay.finishReason, streamEnd, send: null }));
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
): MaybePromise<Delivered> {
  if (walked.kind === 'failed') {
    const { error } = walked;
    return { ...nothing, status: error.status, streamEnd: null, errorCode: error.row.code ?? null, error };
  }
  const { route } = walked;
  if (walked.kind === 'gone') {
    return relay?.committed ? billAbandoned(ports, exchange, route, relay) : callerGone(exchange);
  }
  const { outcome } = walked;
  if (outcome.kind === 'answer') return answer(ports, exchange, route, outcome.parts);
  if (outcome.end === 'pricing_fault') return endWithPricingFault(exchange, route, relay!, outcome.reason);
  return endStream(ports, { exchange, route, relay: relay!, end: outcome.end });
}

/** What all requests have in common of which nothing was delivered. */
const nothing = {
  route: null,
  billed: null,
  finishReason: null,
  fallbackOccurred: false,
  send: null,
} as const;

/** A caller that leaves before its answer pays nothing. */
function callerGone({ request }: Exchange): Delivered {
  return {
    ...nothing,
    status: statusClientClosed,
    streamEnd: request.stream ? 'client_closed' : null,
    errorCode: 'client_closed',
    error: new CallerGone(),
  };
}

type ServedFields = Pick<Delivered, 'route' | 'billed' | 'finishReason' | 'streamEnd' | 'send'>;

function servedOf({ trail }: Exchange, { route, billed, finishReason, streamEnd, send }: ServedFields): Delivered {
  return {
    status: 200,
    route,
    billed,
    finishReason,
    streamEnd,
    fallbackOccurred: fallbackOccurred(trail),
    errorCode: streamEnd === 'pricing_fault' ? 'cost_unresolvable' : null,
    error: null,
    send,
  };
}

function answer(
  ports: RespondPorts,
  exchange: Exchange,
  route: Route,
  parts: CompletionParts,
): MaybePromise<Delivered> {
  const { reading, usage: given, delivered: text, task } = parts;
  const sent = sentOn(ports, exchange, route);
  const billing = task
    ? billTask(ports, exchange.request, sent, task)
    : bill(ports, exchange.request, sent, { usage: reading, given, text, whole: true });
  return andThen(billing, (billed) => billedAnswer(ports, exchange, route, parts, billed));
}

function billedAnswer(
  ports: RespondPorts,
  exchange: Exchange,
  route: Route,
  parts: CompletionParts,
  billed: Billed,
): Delivered {
  const { caller, trail, startedAtMs, bodyMs } = exchange;
  if (caller.gone) return callerGone(exchange);
  const text = exchange.door.writeAnswer({
    request: exchange.request,
    id: exchange.generationId,
    created: Math.floor(exchange.createdAt / 1000),
    model: route.id,
    parts,
    usage: billed.usage,
    cost: billed.cost,
    metadata: metadataOf(exchange, route),
  });
  const nowMs = ports.clock.monotonicMs();
  trail.answeredAtMs = nowMs;
  trail.overheadMs = Math.max(0, nowMs - startedAtMs - bodyMs - trail.upstreamMs);
  const { finishReason, encoding } = parts;
  // The headers are made when they are sent: the usage has then corrected what remains of the key's tokens.
  const send = () => caller.answer(answerHeaders(ports, exchange, route), text, encoding);
  return servedOf(exchange, { route, billed, finishReason, streamEnd: null, send });
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
    const frames = relay.takeEnd(end, usage, metadataOf(exchange, route, end));
    const streamEnd = caller.gone ? 'client_closed' : end;
    return servedOf(exchange, { route, billed, finishReason, streamEnd, send: () => caller.endStream(frames) });
  });
}

/** An answer that cannot be priced is not billed. */
function endWithPricingFault(exchange: Exchange, route: Route, relay: StreamRelay, reason: string): Delivered {
  const frames = relay.takeError(gatewayError('cost_unresolvable', { provider: route.provider.id, reason }));
  const { finishReason } = relay;
  const send = () => exchange.caller.endStream(frames);
  return servedOf(exchange, { route, billed: null, finishReason, streamEnd: 'pricing_fault', send });
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
  return andThen(billing, (billed) =>
    servedOf(exchange, { route, billed, finishReason, streamEnd: 'client_closed', send: null }),
  );
}

/** By the time at which the request was sent to the provider, which decides the price. */
function sentOn({ clock }: RespondPorts, { trail }: Exchange, route: Route): SentRequest {
  return { route, sentAtMs: clock.now() - (clock.monotonicMs() - trail.dispatchedAtMs) };
}

/** The headers of the 200 of a stream, at the moment of its first content. */
function beginStream(ports: RespondPorts, exchange: Exchange, route: Route): string[] {
  const { trail, startedAtMs, bodyMs } = exchange;
  trail.answeredAtMs = ports.clock.monotonicMs();
  trail.overheadMs = Math.max(0, trail.dispatchedAtMs - startedAtMs - bodyMs - trail.upstreamMs);
  ports.meters.openStreams++;
  return answerHeaders(ports, exchange, route);
}

/** The headers of a 200, as a flat list. */
function answerHeaders({ keyLimiter }: RespondPorts, exchange: Exchange, route: Route): string[] {
  const headers = keyLimiter.headersOf(exchange.identity);
  headers.push(
    'x-request-id',
    exchange.requestId,
    'x-generation-id',
    exchange.generationId,
    'x-router-provider',
    route.provider.id,
    'x-router-locode',
    route.locode,
    'x-router-overhead-ms',
    exchange.trail.overheadMs.toFixed(3),
  );
  return headers;
}

function metadataOf(
  { request, plan, trail, preferences, generationId }: Exchange,
  route: Route,
  streamEnd?: StreamEnd,
): string {
  const { providersAttempted, breakerSkipped } = trail;
  // The alias of the requested id; where that is none, the one of the chain's entry that serves.
  const alias = plan.alias ?? trail.plan?.alias ?? null;
  return routerMetadataText(
    {
      requestedModel: request.model,
      alias,
      route,
      providersAttempted,
      fallbackOccurred: fallbackOccurred(trail),
      breakerSkipped,
      requestPolicy: preferences !== null,
      ...((request.native || request.task) && { generationId, omitted: omittedOn(route, request) }),
      sticky: trail.stay?.first === route,
    },
    streamEnd,
  );
}
