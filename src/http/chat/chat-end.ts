/** What is seen of a chat request when it is over: counted always, traced and logged where that is asked for. */
import type { IncomingMessage } from 'node:http';
import { keepsDebug, type Logger } from '../../base/logger.js';
import { usdNumber } from '../../base/money.js';
import type { Clock } from '../../base/time.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { type Meters, type Outcome, outcomeOfStatus } from '../../observability/metrics/meters.js';
import type { EndedChat, ServedChat, Tracing } from '../../observability/tracing/ended-chat.js';
import type { CallerGone } from '../../pipeline/caller.js';
import type { ChatNotes } from '../../pipeline/notes.js';
import { rawHeader } from '../server/headers.js';

export interface ChatWatch {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meters: Meters;
  /** null = no traces are wanted: the only thing that they then cost. */
  readonly tracing: Tracing | null;
}

export interface WatchedChat {
  readonly req: IncomingMessage;
  readonly id: string;
  /** As the metrics name it; null where the framework counts the request. */
  readonly endpoint: string | null;
  /** Monotonic milliseconds. */
  readonly startedAtMs: number;
  readonly notes: ChatNotes;
}

interface End {
  readonly outcome: Outcome;
  readonly status: number;
  readonly error: GatewayError | null;
  readonly endedAtMs: number;
}

const statusClientClosed = 499;

/** `error` is what ended the request: null where it was answered. */
export function chatEnded(watch: ChatWatch, chat: WatchedChat, error: GatewayError | CallerGone | null): void {
  const end = howItEnded(chat.notes, error, watch.clock.monotonicMs());
  count(watch.meters, chat, end);
  log(watch.logger, chat, end);
  watch.tracing?.chatEnded(endedChat(watch.clock, chat, end));
}

function howItEnded({ settlement }: ChatNotes, error: GatewayError | CallerGone | null, endedAtMs: number): End {
  if (error instanceof GatewayError)
    return { outcome: outcomeOfStatus(error.status), status: error.status, error, endedAtMs };
  if (error) return { outcome: 'client_closed', status: statusClientClosed, error: null, endedAtMs };
  const end = settlement?.streamEnd ?? 'complete';
  const outcome = end === 'complete' ? 'ok' : end === 'client_closed' ? end : 'broken';
  return { outcome, status: 200, error: null, endedAtMs };
}

function count(meters: Meters, { endpoint, notes }: WatchedChat, { outcome, error, endedAtMs }: End): void {
  const { exchange, settlement, trail, answeredAtMs } = notes;
  if (endpoint !== null) meters.request(endpoint, outcome);
  if (error) meters.error(error);
  meters.body(notes.bodyBytes);
  for (const { route, record, startedAtMs, endedAtMs: overAtMs } of trail.legs) {
    if (record.outcome !== '') meters.attempted(route.id, record.outcome, record.first_byte_ms, overAtMs - startedAtMs);
  }
  if (!exchange) return;
  const { stream } = exchange.request;
  meters.chat(stream, outcome, endedAtMs - exchange.startedAtMs);
  if (answeredAtMs !== null) meters.answering(stream, answeredAtMs - exchange.startedAtMs, notes.overheadMs);
  if (answeredAtMs !== null && stream) meters.openStreams--;
  if (!settlement?.route) return;
  const { route, billed, streamEnd, fallbackOccurred: fallback } = settlement;
  meters.served(route.id, { stream, end: streamEnd ?? 'complete', fallback }, billed);
  if (streamEnd === 'pricing_fault') meters.error({ condition: 'cost_unresolvable', values: null });
}

/** Failures always, in words of ours: a provider's own may quote the prompt. All requests only where `debug` is asked for. */
function log(logger: Logger, chat: WatchedChat, end: End): void {
  const { outcome, status, error } = end;
  if (error?.status === 500) logger.error(lineOf(chat, end), 'a chat failed on our side');
  else if (status >= 500 || outcome === 'broken') logger.warn(lineOf(chat, end), 'a chat failed');
  else if (keepsDebug(logger)) logger.debug(lineOf(chat, end), 'a chat ended');
  const { settlement } = chat.notes;
  if (settlement?.billed?.oddities?.includes('above_context_window')) {
    const { contextWindow } = settlement.route!;
    const line = { ...lineOf(chat, end), context_window: contextWindow };
    logger.warn(line, 'a provider reports more tokens than the context window; compare its invoice');
  }
}

function lineOf({ id, startedAtMs, notes }: WatchedChat, { outcome, status, error, endedAtMs }: End): object {
  const { exchange, settlement, trail, answeredAtMs } = notes;
  return {
    request_id: id,
    outcome,
    status,
    ...(error && { code: error.row.code ?? null, condition: error.condition }),
    ...(exchange && {
      generation_id: exchange.generationId,
      model: exchange.request.model,
      stream: exchange.request.stream,
    }),
    ...(settlement?.route && { route: settlement.route.id }),
    ...(settlement?.streamEnd && { stream_end: settlement.streamEnd }),
    attempts: trail.legs.map(({ route, record }) => ({
      route: route.id,
      outcome: record.outcome,
      status: record.status,
    })),
    duration_ms: Math.round(endedAtMs - startedAtMs),
    ...(answeredAtMs !== null && {
      first_byte_ms: Math.round(answeredAtMs - startedAtMs),
      overhead_ms: Number(notes.overheadMs.toFixed(3)),
    }),
    ...(settlement?.billed && {
      prompt_tokens: settlement.billed.usage.promptTokens,
      completion_tokens: settlement.billed.usage.completionTokens,
      cost_usd: usdNumber(settlement.billed.costPico),
    }),
  };
}

function endedChat(clock: Clock, chat: WatchedChat, { outcome, status, error, endedAtMs }: End): EndedChat {
  const { req, id, startedAtMs, notes } = chat;
  const { exchange, trail, settlement } = notes;
  // Durations are monotonic; the wall clock is read once, so that no step of it can bend them.
  const epochMs = clock.now() - endedAtMs;
  return {
    traceparent: rawHeader(req, 'traceparent'),
    tracestate: rawHeader(req, 'tracestate'),
    requestId: id,
    startedAt: epochMs + startedAtMs,
    endedAt: epochMs + endedAtMs,
    status,
    broken: outcome === 'broken',
    errorCode: error ? (error.row.code ?? error.condition) : (settlement?.errorCode ?? null),
    asked: exchange && {
      model: exchange.request.model,
      stream: exchange.request.stream,
      generationId: exchange.generationId,
      providersAttempted: trail.providersAttempted,
      breakerSkipped: trail.breakerSkipped,
    },
    served: servedChat(chat),
    attempts: trail.legs.map((leg) => ({
      route: leg.route,
      startedAt: epochMs + leg.startedAtMs,
      endedAt: epochMs + leg.endedAtMs,
      outcome: leg.record.outcome,
      status: leg.record.status,
      firstByteSeconds: leg.record.first_byte_ms === null ? null : leg.record.first_byte_ms / 1000,
    })),
  };
}

function servedChat({ startedAtMs, notes }: WatchedChat): ServedChat | null {
  const { settlement, answeredAtMs, overheadMs } = notes;
  if (!settlement?.route || answeredAtMs === null) return null;
  const { route, billed, finishReason, streamEnd, fallbackOccurred } = settlement;
  return {
    route,
    usage: billed?.usage ?? null,
    costUsd: billed ? usdNumber(billed.costPico) : 0,
    finishReason,
    streamEnd,
    fallback: fallbackOccurred,
    firstByteSeconds: (answeredAtMs - startedAtMs) / 1000,
    overheadSeconds: overheadMs / 1000,
  };
}
