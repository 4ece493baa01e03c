/** Reports a request that is over: always to the metrics, to traces and the log where that is configured. */
import type { Logger } from '../../base/logger.js';
import { usdNumber } from '../../base/money.js';
import type { Clock } from '../../base/time.js';
import { retirementSoon } from '../../catalogue/retirement.js';
import type { Door } from '../../doors/door.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { type Meters, type Outcome, outcomeOfStatus } from '../../observability/metrics/meters.js';
import type { EndedChat, ServedChat, Tracing } from '../../observability/tracing/ended-chat.js';
import type { CallerGone } from '../../pipeline/caller.js';
import type { ChatNotes } from '../../pipeline/handover.js';
import { isPriced } from '../../wire/priced-classes.js';
import type { ChatCaller } from '../server/chat-caller.js';
import type { HourlyCounts } from './hourly-counts.js';

export interface ChatWatch {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether all requests are logged. */
  readonly debug: boolean;
  readonly meters: Meters;
  readonly hourly: HourlyCounts;
  /** null = no traces are wanted. */
  readonly tracing: Tracing | null;
}

export interface WatchedChat {
  readonly caller: Pick<ChatCaller, 'header'>;
  readonly requestId: string;
  readonly door: Pick<Door, 'name' | 'path' | 'kind'>;
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
/** The creator of the sandbox's models. */
const sandboxModel = /^[^/]+\/lodestone\//;

/** OpenTelemetry's names. */
const operations = { chat: 'chat', embedding: 'embeddings', rerank: 'rerank' } as const;

/** `error` is what ended the request: null where it was answered. */
export function chatEnded(watch: ChatWatch, chat: WatchedChat, error: GatewayError | CallerGone | null): void {
  const end = howItEnded(chat.notes, error, watch.clock.monotonicMs());
  count(watch.meters, chat, end);
  log(watch, chat, end);
  warnOfCosts(watch, chat, end);
  watch.tracing?.chatEnded(endedChat(watch.clock, chat, end));
}

function howItEnded({ delivered }: ChatNotes, error: GatewayError | CallerGone | null, endedAtMs: number): End {
  if (error instanceof GatewayError)
    return { outcome: outcomeOfStatus(error.status), status: error.status, error, endedAtMs };
  if (error) return { outcome: 'client_closed', status: statusClientClosed, error: null, endedAtMs };
  const end = delivered?.streamEnd ?? 'complete';
  const outcome = end === 'complete' ? 'ok' : end === 'client_closed' ? end : 'broken';
  return { outcome, status: 200, error: null, endedAtMs };
}

function count(meters: Meters, { endpoint, notes }: WatchedChat, { outcome, error, endedAtMs }: End): void {
  const { exchange, delivered, trail } = notes;
  const { answeredAtMs } = trail;
  if (endpoint !== null) meters.modelRequest(endpoint, outcome, isOfSandbox(notes));
  if (error) meters.error(error);
  meters.body(notes.bodyBytes);
  for (const { route, record, startedAtMs, endedAtMs: overAtMs } of trail.timedAttempts) {
    if (record.outcome !== '') meters.attempted(route.id, record.outcome, record.first_byte_ms, overAtMs - startedAtMs);
  }
  if (!exchange) return;
  const { stream } = exchange.request;
  meters.chat(exchange.door.name, stream, outcome, endedAtMs - exchange.startedAtMs);
  if (answeredAtMs !== null) meters.answering(stream, answeredAtMs - exchange.startedAtMs, trail.overheadMs);
  if (answeredAtMs !== null && stream) meters.openStreams--;
  if (delivered?.leftRoute) meters.countLeft(exchange.identity.account.id);
  if (!delivered?.route) return;
  const { route, billed, streamEnd, fallbackOccurred: fallback } = delivered;
  meters.countServed(route.id, { stream, end: streamEnd ?? 'complete', fallback }, billed);
  if (route.life !== undefined && retirementSoon(route, exchange.createdAt))
    meters.countRetiring(route.id, exchange.identity.account.id);
  if (streamEnd === 'pricing_fault') meters.error({ condition: 'cost_unresolvable', values: null });
}

/** Whether only the sandbox was asked. Where nothing was tried, the model that was asked for decides. */
function isOfSandbox({ exchange, trail: { timedAttempts } }: ChatNotes): boolean {
  if (timedAttempts.length > 0) return timedAttempts.every(({ route }) => route.provider.dialect === 'sandbox');
  return exchange != null && sandboxModel.test(exchange.request.model);
}

/** Logs failures, without the provider's text, which may quote the prompt; all requests only at level `debug`. */
function log({ logger, debug, hourly }: ChatWatch, chat: WatchedChat, end: End): void {
  const { outcome, status, error } = end;
  if (error?.status === 500) logger.error(lineOf(chat, end), 'a request failed on our side');
  else if ((status >= 500 || outcome === 'broken') && isNews(hourly, chat))
    logger.warn(lineOf(chat, end), 'a request failed');
  else if (debug) logger.debug(lineOf(chat, end), 'a request ended');
}

/** False for a customer's credential that was refused within the hour: its owner knows of it, and only its owner can mend it. */
function isNews(hourly: HourlyCounts, { notes: { trail } }: WatchedChat): boolean {
  const last = trail.timedAttempts.at(-1);
  const credential = last?.route.credential;
  if (credential === undefined || !refusals.has(last!.record.outcome)) return true;
  return hourly.add(`refused ${credential.id}`) === 1;
}

const refusals: ReadonlySet<string> = new Set(['auth', 'billing']);

/** So many requests of an account in an hour are more than clients that change their mind. */
const leftRequestsMax = 100;
/** A provider writes these names. */
const nameCharactersMax = 100;
const toolsShownMax = 10;

/** Warns of what the operator may pay for and nobody is billed for. What many requests have in common is one line an hour. */
function warnOfCosts({ logger, hourly }: ChatWatch, chat: WatchedChat, end: End): void {
  const { delivered, exchange } = chat.notes;
  if (delivered?.leftRoute) {
    const account = exchange!.identity.account.id;
    const requests = hourly.add(`left ${account}`);
    if (requests !== leftRequestsMax) return;
    const line = { account, requests, route: delivered.leftRoute.id };
    logger.warn(line, 'an account leaves many requests before the first content, for which providers may charge');
    return;
  }
  const { oddities = [], usage } = delivered?.billed ?? {};
  for (const oddity of oddities) {
    const route = delivered!.route!;
    const isFirst = () => hourly.add(`${oddity} ${route.id}`) === 1;
    if (oddity === 'above_context_window') {
      const line = { ...lineOf(chat, end), context_window: route.contextWindow };
      logger.warn(line, 'a provider reports more tokens than the context window; compare its invoice');
    } else if (oddity === 'tier_without_price' && isFirst()) {
      const line = { ...lineOf(chat, end), tier: usage!.unpricedTier?.slice(0, nameCharactersMax) };
      logger.warn(line, 'a provider answered in a tier without a price; add the tier to the price of the route');
    } else if (oddity === 'tool_without_price' && isFirst()) {
      const names = usage!.toolCalls?.map(({ name }) => name) ?? [];
      const unpriced = names.filter((name) => !isPriced(route.price, ({ tools }) => tools?.has(name) === true));
      const tools = unpriced.slice(0, toolsShownMax).map((name) => name.slice(0, nameCharactersMax));
      const line = { ...lineOf(chat, end), tools };
      logger.warn(line, 'a provider called a tool without a price; add the tool to the price of the route');
    }
  }
}

function lineOf({ requestId, startedAtMs, notes }: WatchedChat, { outcome, status, error, endedAtMs }: End): object {
  const { exchange, delivered, trail } = notes;
  const { answeredAtMs } = trail;
  return {
    request_id: requestId,
    outcome,
    status,
    ...(error && { code: error.row.code ?? null, condition: error.condition }),
    ...(exchange && {
      generation_id: exchange.generationId,
      model: exchange.request.model,
      stream: exchange.request.stream,
    }),
    ...(delivered?.route && { route: delivered.route.id }),
    ...(delivered?.streamEnd && { stream_end: delivered.streamEnd }),
    attempts: trail.timedAttempts.map(({ route, record }) => ({
      route: route.id,
      ...(route.credential && { credential: route.credential.id }),
      outcome: record.outcome,
      status: record.status,
    })),
    duration_ms: Math.round(endedAtMs - startedAtMs),
    ...(answeredAtMs !== null && {
      first_byte_ms: Math.round(answeredAtMs - startedAtMs),
      overhead_ms: Number(trail.overheadMs.toFixed(3)),
    }),
    ...(delivered?.billed && {
      prompt_tokens: delivered.billed.usage.promptTokens,
      completion_tokens: delivered.billed.usage.completionTokens,
      cost_usd: usdNumber(delivered.billed.cost.pico),
    }),
  };
}

function endedChat(clock: Clock, chat: WatchedChat, { outcome, status, error, endedAtMs }: End): EndedChat {
  const { caller, requestId, startedAtMs, notes, door } = chat;
  const { exchange, trail, delivered } = notes;
  // Durations are monotonic. The wall clock is read once, so that a step of it cannot change them.
  const epochMs = clock.now() - endedAtMs;
  return {
    traceparent: caller.header('traceparent'),
    tracestate: caller.header('tracestate'),
    requestId,
    door: { name: door.name, path: door.path, operation: operations[door.kind] },
    startedAt: epochMs + startedAtMs,
    endedAt: epochMs + endedAtMs,
    status,
    broken: outcome === 'broken',
    errorCode: error ? (error.row.code ?? error.condition) : (delivered?.errorCode ?? null),
    asked: exchange && {
      model: exchange.request.model,
      stream: exchange.request.stream,
      generationId: exchange.generationId,
      providersAttempted: trail.providersAttempted,
      breakerSkipped: trail.breakerSkipped,
    },
    served: servedChat(chat),
    attempts: trail.timedAttempts.map((timed) => ({
      route: timed.route,
      startedAt: epochMs + timed.startedAtMs,
      endedAt: epochMs + timed.endedAtMs,
      outcome: timed.record.outcome,
      status: timed.record.status,
      firstByteSeconds: timed.record.first_byte_ms === null ? null : timed.record.first_byte_ms / 1000,
    })),
  };
}

function servedChat({ startedAtMs, notes }: WatchedChat): ServedChat | null {
  const { delivered } = notes;
  const { answeredAtMs, overheadMs } = notes.trail;
  if (!delivered?.route || answeredAtMs === null) return null;
  const { route, billed, finishReason, streamEnd, fallbackOccurred } = delivered;
  return {
    route,
    usage: billed?.usage ?? null,
    costUsd: billed ? usdNumber(billed.cost.pico) : 0,
    finishReason,
    streamEnd,
    fallback: fallbackOccurred,
    firstByteSeconds: (answeredAtMs - startedAtMs) / 1000,
    overheadSeconds: overheadMs / 1000,
  };
}
