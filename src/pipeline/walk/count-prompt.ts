/** Counts the tokens of a prompt: a route that speaks the client's API is asked, which is free; any other prompt is counted here. */
import type { ProviderKey } from '../../base/provider-key.js';
import type { Route } from '../../catalogue/route.js';
import { Call } from '../../providers/call.js';
import { failureOf } from '../../providers/call-failure.js';
import type { CallResult } from '../../providers/call-result.js';
import type { Failure } from '../../providers/classify/failure.js';
import { type TakenKey, usesKeys } from '../../providers/credentials/key-pool.js';
import { isNativePass, nativeCall, nativeHeaders } from '../../providers/native-pass.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { OutgoingBody } from '../../wire/outgoing-body.js';
import type { Caller } from '../caller.js';
import type { PipelinePorts } from '../ports.js';
import { readFailure } from './attempt.js';

type CountPorts = Pick<
  PipelinePorts,
  'transportOf' | 'credentials' | 'deadlines' | 'clock' | 'timeouts' | 'counter' | 'failures' | 'holds' | 'providerKeys'
>;

/** An answer is one figure. */
const countBytesMax = 4 * 1024;

interface CountedPrompt {
  readonly tokens: number;
  /** The provider did not count it. */
  readonly isLocal: boolean;
}

export async function countPrompt(
  ports: CountPorts,
  caller: Caller,
  request: ChatRequest,
  candidates: readonly Route[],
): Promise<CountedPrompt> {
  const route = candidates.find(
    (each) =>
      each.provider.configured &&
      !(each.credential === undefined && ports.holds.isHeld(each.id)) &&
      isNativePass(each.provider, request),
  );
  const counted = route && (await askRoute(ports, caller, request, route).catch(() => null));
  if (typeof counted === 'number') return { tokens: counted, isLocal: false };
  const { members, encoding } = request;
  const { promptTokens } = await ports.counter.count({ members, encoding, delivered: '' });
  return { tokens: promptTokens, isLocal: true };
}

/** null where the provider does not give a count. Of several keys of the operator the next one is tried, as for an answer. */
async function askRoute(ports: CountPorts, caller: Caller, request: ChatRequest, route: Route): Promise<number | null> {
  if (!usesKeys(route)) return countOf((await askProvider(ports, { caller, request, route, key: null })).result);
  const tried: ProviderKey[] = [];
  for (let taken = ports.providerKeys.take(route.provider); taken !== null; ) {
    let outcome: Parameters<TakenKey['end']>[0] = 'neither';
    let isKeys = false;
    let result: CallResult;
    try {
      const asked = await askProvider(ports, { caller, request, route, key: taken.key });
      result = asked.result;
      outcome = (await failureIn(ports, asked, request, route)) ?? 'neither';
    } finally {
      isKeys = taken.end(outcome);
    }
    if (!isKeys) return countOf(result);
    tried.push(taken.key);
    taken = caller.gone ? null : ports.providerKeys.take(route.provider, tried);
  }
  return null;
}

/** What the provider's error means; null where it sent none. */
async function failureIn(
  ports: CountPorts,
  { result, body }: AskedProvider,
  request: ChatRequest,
  route: Route,
): Promise<Failure | null> {
  if (result.kind !== 'refused') return null;
  const unread = failureOf(result, route, ports.clock.now(), request);
  const read = await readFailure(ports, { kind: 'failure', failure: unread }, { request, body }, route);
  return read.kind === 'failure' ? read.failure : null;
}

interface AskedProvider {
  readonly result: CallResult;
  readonly body: OutgoingBody;
}

interface Question {
  readonly caller: Caller;
  readonly request: ChatRequest;
  readonly route: Route;
  readonly key: ProviderKey | null;
}

async function askProvider(ports: CountPorts, { caller, request, route, key }: Question): Promise<AskedProvider> {
  const { native } = request;
  const { path, body } = nativeCall(request, route, 'count', ports.clock.now());
  const own = await ports.credentials.headersFor(route, path, body, key);
  const headers = nativeHeaders(own, native!.api, (name) => caller.header(name));
  const { firstByteNonStreamingMs, streamIdleMs } = ports.timeouts;
  const budgets = {
    firstByteMs: firstByteNonStreamingMs,
    idleMs: streamIdleMs,
    overallMs: firstByteNonStreamingMs,
    overallNamedMs: firstByteNonStreamingMs,
  };
  const result = await new Promise<CallResult>((resolve) => {
    const call = new Call(
      { transport: ports.transportOf(route), deadlines: ports.deadlines, clock: ports.clock },
      { route, path, body, stream: false, headers, answerBytes: countBytesMax },
      budgets,
      null,
      resolve,
    );
    caller.onGone = () => call.abandon();
  });
  caller.onGone = null;
  return { result, body };
}

function countOf(result: CallResult): number | null {
  if (result.kind !== 'answer') return null;
  const { input_tokens: tokens } = JSON.parse(result.body.toString('utf8')) as { input_tokens?: unknown };
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : null;
}
