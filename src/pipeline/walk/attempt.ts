/** One attempt of the walk: one call on one route, and what became of it, as a value. */
import { answeredModelFault } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Permit } from '../../health/route-health.js';
import { type Budgets, Call, type CallResult } from '../../providers/call.js';
import { failureOf, innerError, noAnswer, type UnreadFailure } from '../../providers/call-failure.js';
import type { Failure } from '../../providers/classify/failure.js';
import type { OutgoingCall, Target } from '../../providers/dialects/dialect.js';
import { dialectOf } from '../../providers/dialects/registry.js';
import { TranslatedFrames } from '../../providers/translated-frames.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { CompletionParts } from '../../wire/completion-parts.js';
import type { UsageReading } from '../../wire/usage.js';
import type { Exchange, PipelinePorts, Relay, Trail } from '../handover.js';
import { credentialed } from './credentialed.js';

export type AttemptOutcome =
  | { kind: 'answer'; parts: CompletionParts; usage: UsageReading }
  /** The stream was committed; `end` says how the upstream's part of it ended. */
  | { kind: 'stream'; end: 'complete' | 'stalled' | 'cut' | 'pricing_fault'; reason: string }
  | { kind: 'failure'; failure: Failure }
  | { kind: 'gone' };

/** An outcome before what the upstream said has been read. */
type UnreadOutcome =
  | Exclude<AttemptOutcome, { kind: 'failure' }>
  | { kind: 'failure'; failure: Failure | UnreadFailure };

export interface AttemptPorts
  extends Pick<
    PipelinePorts,
    'transportOf' | 'credentials' | 'deadlines' | 'clock' | 'answers' | 'requests' | 'failures'
  > {}

export async function attempt(
  ports: AttemptPorts,
  exchange: Exchange,
  trail: Trail,
  route: Route,
  budgets: Budgets,
  relay: Relay | null,
  permit: Pick<Permit, 'reportContent'>,
): Promise<AttemptOutcome> {
  const { request, caller } = exchange;
  const record: AttemptRecord = {
    provider: route.provider.id,
    locode: route.locode,
    outcome: '',
    status: null,
    first_byte_ms: null,
    error: null,
  };
  trail.attempts.push(record);
  trail.providersAttempted.push(route.provider.id);
  relay?.begin(route, permit);
  const dialect = dialectOf(route.provider.dialect);
  const written = ports.requests.write(request, targetOf(route), route.provider.dialect);
  const { path, body } = written instanceof Promise ? await orTooLarge(written) : written;
  const given = ports.credentials.headersFor(route, path, body);
  const shown =
    given instanceof Promise ? await credentialed(ports, caller, route, given, budgets) : { headers: given, budgets };
  if ('kind' in shown) {
    note(record, shown, { kind: 'gone' });
    return shown;
  }
  const call = new Call(
    { transport: ports.transportOf(route), deadlines: ports.deadlines, clock: ports.clock },
    { route, path, body, stream: request.stream, headers: shown.headers },
    shown.budgets,
    relay && dialect.createStreamTranslator ? new TranslatedFrames(relay, dialect.createStreamTranslator()) : relay,
  );
  trail.dispatchedAtMs = call.startedAtMs;
  caller.onGone = () => {
    relay?.callerLeft();
    call.abandon();
  };
  if (caller.gone) call.abandon();
  const result = await call.result;
  caller.onGone = null;
  trail.upstreamMs += ports.clock.monotonicMs() - call.startedAtMs;
  if (call.firstByteAtMs !== null) record.first_byte_ms = Math.round(call.firstByteAtMs - call.startedAtMs);
  const reading = result.kind === 'answer' ? ports.answers.read(result.body, route.provider.dialect, route) : null;
  const answer = reading instanceof Promise ? await reading : reading;
  const failures = answer
    ? answered(exchange, route, result as Answer, answer)
    : outcomeOf(route, result as NotAnswer, relay, ports.clock.now());
  const outcome = failures.kind === 'failure' ? await read(ports, failures.failure, request, route, body) : failures;
  note(record, outcome, result);
  return outcome;
}

/** What an error repeats of the request is not the upstream's word, so it is read beside what was sent. */
async function read(
  { failures }: Pick<AttemptPorts, 'failures'>,
  failure: Failure | UnreadFailure,
  request: ChatRequest,
  { provider: { dialect }, upstreamModel }: Route,
  body: OutgoingCall['body'],
): Promise<Extract<AttemptOutcome, { kind: 'failure' }>> {
  if (failure.meaning !== null) return { kind: 'failure', failure };
  return { kind: 'failure', failure: await failures.read(failure, { request, body, dialect, upstreamModel }) };
}

async function orTooLarge<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch {
    throw gatewayError('body_not_json', { reason: 'holds more values than can be translated for the provider' });
  }
}

type Answer = Extract<CallResult, { kind: 'answer' }>;
type NotAnswer = Exclude<CallResult, Answer>;

function outcomeOf(route: Route, result: NotAnswer, relay: Relay | null, nowMs: number): UnreadOutcome {
  switch (result.kind) {
    case 'gone':
      return { kind: 'gone' };
    case 'stream':
    case 'frame_failed':
      return streamed(route, result, relay!);
    case 'timeout':
      // A `finish_reason` says that the answer is whole, even if the upstream then forgets to close.
      if (relay && relay.finishReason !== null) return { kind: 'stream', end: 'complete', reason: '' };
      if (relay?.committed) return { kind: 'stream', end: 'stalled', reason: '' };
      return { kind: 'failure', failure: failureOf(result, route, nowMs) };
    default:
      return { kind: 'failure', failure: failureOf(result, route, nowMs) };
  }
}

function answered(
  exchange: Exchange,
  route: Route,
  { status, body }: Answer,
  reading: Awaited<ReturnType<PipelinePorts['answers']['read']>>,
): UnreadOutcome {
  if (reading.kind === 'error') return { kind: 'failure', failure: innerError(status, reading.error, route) };
  if (reading.kind === 'malformed') {
    return { kind: 'failure', failure: noAnswer(status, reading.reason, body, route) };
  }
  const { parts } = reading;
  const usage = parts.reading;
  const fault =
    usage.kind === 'fault' ? usage.reason : answeredModelFault(exchange.snapshot, route, parts.answeredModel);
  if (fault) return { kind: 'failure', failure: pricingFault(status, fault) };
  return { kind: 'answer', parts, usage };
}

function streamed(
  route: Route,
  result: Extract<CallResult, { kind: 'stream' | 'frame_failed' }>,
  relay: Relay,
): UnreadOutcome {
  const { fault, committed, finishReason, sawDone } = relay;
  const { status } = result;
  if (fault?.kind === 'pricing') {
    if (committed) return { kind: 'stream', end: 'pricing_fault', reason: fault.reason };
    return { kind: 'failure', failure: pricingFault(status, fault.reason) };
  }
  if (finishReason !== null && !fault) return { kind: 'stream', end: 'complete', reason: '' };
  if (committed) return { kind: 'stream', end: sawDone && !fault ? 'complete' : 'cut', reason: '' };
  if (fault?.kind === 'error_frame') return { kind: 'failure', failure: innerError(status, fault.error, route) };
  const why = fault ? 'its stream began with a frame that is not JSON' : 'its stream ended before any content';
  return { kind: 'failure', failure: { meaning: 'malformed', status, quote: `${why} (HTTP ${status})` } };
}

function pricingFault(status: number, reason: string): Failure {
  return { meaning: 'pricing_fault', status, quote: `the answer cannot be priced: ${reason}` };
}

function note(record: AttemptRecord, outcome: AttemptOutcome, result: CallResult): void {
  record.status = 'status' in result ? result.status : null;
  if (outcome.kind === 'failure') {
    record.outcome = outcome.failure.meaning;
    record.error = outcome.failure.quote;
  } else if (outcome.kind === 'gone') {
    record.outcome = 'client_closed';
  } else {
    record.outcome = outcome.kind === 'stream' && outcome.end !== 'complete' ? outcome.end : 'served';
  }
}

const targets = new WeakMap<Route, Target>();

function targetOf(route: Route): Target {
  const known = targets.get(route);
  if (known) return known;
  const { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters } = route;
  const target = { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters };
  targets.set(route, target);
  return target;
}
