/** One attempt of the walk: one call on one route, and what became of it, as a value. */

import type { ProviderKey } from '../../base/provider-key.js';
import { andThen, isPending, type MaybePromise } from '../../base/turn.js';
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Permit } from '../../health/route-health.js';
import { answerBytesMax, type Budgets, Call } from '../../providers/call.js';
import type { CallResult } from '../../providers/call-result.js';
import type { SentRequest } from '../../providers/classify/failure-reader.js';
import type { OutgoingCall } from '../../providers/dialects/dialect.js';
import { dialectOf } from '../../providers/dialects/registry.js';
import type { FrameConsumer } from '../../providers/frame-consumer.js';
import {
  isNativePass,
  nativeApis,
  nativeCall,
  nativeFormat,
  nativeHeaders,
  translationFor,
} from '../../providers/native-pass.js';
import { NativeFrames, TranslatedFrames } from '../../providers/translated-frames.js';
import { targetOf } from '../../providers/translation.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Exchange, Relay } from '../handover.js';
import { ownFailure } from '../own-credentials.js';
import type { PipelinePorts } from '../ports.js';
import {
  type AttemptOutcome,
  answerOutcome,
  beginRecord,
  note,
  outcomeOf,
  type UnreadOutcome,
} from './attempt-record.js';
import { type CallCredentials, waitForCredentials } from './wait-for-credentials.js';

export interface AttemptPorts
  extends Pick<
    PipelinePorts,
    'transportOf' | 'credentials' | 'deadlines' | 'clock' | 'answers' | 'requests' | 'failures' | 'own'
  > {}

export interface Attempt {
  readonly exchange: Exchange;
  readonly route: Route;
  /** One of several keys of the operator; null where the provider has one credential or none. */
  readonly key: ProviderKey | null;
  readonly budgets: Budgets;
  readonly relay: Relay | null;
  readonly permit: Pick<Permit, 'reportContent'>;
}

export function attempt(ports: AttemptPorts, attempt: Attempt): MaybePromise<AttemptOutcome> {
  const { exchange, route, relay, permit } = attempt;
  const record = beginRecord(exchange, route);
  relay?.begin(route, permit);
  const written = outgoingCall(ports, exchange, route);
  if (isPending(written)) return orTooLarge(written).then((outgoing) => sendCall(ports, attempt, record, outgoing));
  return sendCall(ports, attempt, record, written);
}

function sendCall(
  ports: AttemptPorts,
  attempt: Attempt,
  record: AttemptRecord,
  outgoing: OutgoingCall,
): MaybePromise<AttemptOutcome> {
  const headers = headersFor(ports, attempt, outgoing);
  if (!isPending(headers))
    return callUpstream(ports, attempt, record, { outgoing, credentials: { headers, budgets: attempt.budgets } });
  return waitForCredentials(ports, attempt, headers).then((credentials) => {
    if (!('kind' in credentials)) return callUpstream(ports, attempt, record, { outgoing, credentials });
    note(record, credentials, { kind: 'gone' });
    return credentials;
  });
}

function outgoingCall(ports: AttemptPorts, { request, createdAt }: Exchange, route: Route): MaybePromise<OutgoingCall> {
  const { provider } = route;
  const ask = request.stream ? 'stream' : 'whole';
  if (isNativePass(provider, request)) return nativeCall(request, route, ask, createdAt);
  return ports.requests.write(translationFor(request, route), targetOf(route), provider.dialect);
}

function headersFor(
  { credentials }: Pick<AttemptPorts, 'credentials'>,
  { exchange: { request, caller }, route, key }: Attempt,
  { path, body }: OutgoingCall,
): MaybePromise<readonly string[]> {
  const headers = credentials.headersFor(route, path, body, key);
  if (!isNativePass(route.provider, request)) return headers;
  return andThen(headers, (own) => nativeHeaders(own, request.native!.api, (name) => caller.header(name)));
}

/** What the frames of an attempt go through on their way to the relay. */
function framesOf(relay: Relay | null, { provider }: Route, request: ChatRequest): FrameConsumer | null {
  if (relay === null) return null;
  if (isNativePass(provider, request)) {
    return new NativeFrames(relay, nativeApis[request.native!.api]!.createStreamTranslator());
  }
  const { createStreamTranslator } = dialectOf(provider.dialect);
  return createStreamTranslator ? new TranslatedFrames(relay, createStreamTranslator()) : relay;
}

/** A call that is ready to be sent. */
interface ReadyCall {
  readonly outgoing: OutgoingCall;
  readonly credentials: CallCredentials;
}

/** The wait for the upstream is the only one of a usual request, so it has the only promise of the attempt. */
function callUpstream(
  ports: AttemptPorts,
  attempt: Attempt,
  record: AttemptRecord,
  { outgoing: { path, body }, credentials }: ReadyCall,
): Promise<AttemptOutcome> {
  const { exchange, route, relay } = attempt;
  const { request, caller, trail } = exchange;
  return new Promise((resolve, reject) => {
    const call = new Call(
      { transport: ports.transportOf(route), deadlines: ports.deadlines, clock: ports.clock },
      {
        route,
        path,
        body,
        stream: request.stream,
        headers: credentials.headers,
        answerBytes: answerBytesFor(route, request),
      },
      credentials.budgets,
      framesOf(relay, route, request),
      (result, ended) => {
        caller.onGone = null;
        trail.upstreamMs += ports.clock.monotonicMs() - ended.startedAtMs;
        if (ended.firstByteAtMs !== null) record.first_byte_ms = Math.round(ended.firstByteAtMs - ended.startedAtMs);
        try {
          resolve(readResult(ports, attempt, record, { result, body }));
        } catch (error) {
          reject(error);
        }
      },
    );
    trail.dispatchedAtMs = call.startedAtMs;
    caller.onGone = leaveCall(relay, call);
    if (caller.gone) call.abandon();
  });
}

/** A whole answer that is written anew for the client's API is a text and calls, and passes through memory several times. */
const rewrittenBytesMax = 8 * 1024 * 1024;

function answerBytesFor({ provider }: Route, request: ChatRequest): number {
  return request.native === undefined || isNativePass(provider, request) ? answerBytesMax : rewrittenBytesMax;
}

/** Outside of the call, because a closure in there would keep everything of the request alive, and through it the one before. */
function leaveCall(relay: Relay | null, call: Call): () => void {
  return () => {
    relay?.callerLeft();
    call.abandon();
  };
}

interface EndedCall {
  readonly result: CallResult;
  /** What was sent. */
  readonly body: OutgoingCall['body'];
}

function readResult(
  ports: AttemptPorts,
  attempt: Attempt,
  record: AttemptRecord,
  ended: EndedCall,
): MaybePromise<AttemptOutcome> {
  const { exchange, route, relay } = attempt;
  const { result } = ended;
  if (result.kind !== 'answer') {
    const outcome = outcomeOf(exchange, route, result, relay, ports.clock.now());
    return noteOutcome(ports, attempt, record, ended, outcome);
  }
  const reading = readAnswer(ports, exchange.request, route, result.body);
  if (!isPending(reading))
    return noteOutcome(ports, attempt, record, ended, answerOutcome(exchange, route, result, reading));
  return reading.then((read) =>
    noteOutcome(ports, attempt, record, ended, answerOutcome(exchange, route, result, read)),
  );
}

function noteOutcome(
  ports: AttemptPorts,
  { exchange: { request }, route }: Attempt,
  record: AttemptRecord,
  { result, body }: EndedCall,
  outcome: UnreadOutcome,
): MaybePromise<AttemptOutcome> {
  if (outcome.kind !== 'failure') {
    note(record, outcome, result);
    return outcome;
  }
  return andThen(readFailure(ports, outcome, { request, body }, route), (read) => {
    note(record, read, result);
    return read;
  });
}

function readAnswer({ answers }: AttemptPorts, request: ChatRequest, route: Route, body: Buffer) {
  const { provider } = route;
  if (isNativePass(provider, request)) return answers.read(body, nativeFormat(request.native!.api), route);
  return answers.read(body, provider.dialect, route, request.native !== undefined);
}

/** An upstream's error may quote the request, so it is read beside what was sent. */
export function readFailure(
  ports: Pick<AttemptPorts, 'failures' | 'own'>,
  outcome: UnreadOutcome,
  sent: Pick<SentRequest, 'request' | 'body'>,
  route: Route,
): MaybePromise<AttemptOutcome> {
  if (outcome.kind !== 'failure') return outcome;
  const { provider, upstreamModel } = route;
  const reading =
    outcome.failure.meaning !== null
      ? outcome.failure
      : ports.failures.read(outcome.failure, { ...sent, dialect: provider.dialect, upstreamModel });
  return andThen(reading, (failure) => ({ kind: 'failure', failure: ownFailure(ports, route, failure) }));
}

async function orTooLarge<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch {
    throw gatewayError('body_not_json', { reason: 'holds more values than can be translated for the provider' });
  }
}
