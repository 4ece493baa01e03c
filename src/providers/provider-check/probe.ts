/**
 * Checks a provider with the smallest call: a completion of one token on its cheapest route. Listing models would be free but would
 * prove little: several providers list them without a key, and no list shows missing credit, a missing deployment or a model
 * that the account may not use.
 */
import type { ProviderKey } from '../../base/provider-key.js';
import type { Clock } from '../../base/time.js';
import type { Provider, Route, Snapshot } from '../../catalogue/route.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { Call } from '../call.js';
import { failureOf, innerError, noAnswer, readFailureNow } from '../call-failure.js';
import type { CallResult } from '../call-result.js';
import type { Failure } from '../classify/failure.js';
import { CredentialFault, type Credentials } from '../credentials/credentials.js';
import { dialectOf } from '../dialects/registry.js';
import { readAnswer } from '../translation.js';
import type { Deadlines } from '../transport/deadlines.js';
import type { Transport } from '../transport/transport.js';

export interface ProbePorts {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export type ProbeOutcome =
  | { kind: 'answered'; latencyMs: number; status: number }
  | { kind: 'no_credential'; reason: string }
  /** `code` is the system's error code where there was no connection. */
  | { kind: 'failed'; failure: Failure; code: string };

/** The cheapest callable route of a chat model; one without a price only where there is no other. */
export function cheapestRoute(
  { routes }: Pick<Snapshot, 'routes'>,
  provider: Pick<Provider, 'id'>,
  key?: ProviderKey,
): Route | undefined {
  const own = [...routes.values()].filter(
    (route) =>
      route.provider.id === provider.id &&
      route.provider.configured &&
      (key === undefined || route.provider.keys?.includes(key)) &&
      (route.model.kind ?? 'chat') === 'chat' &&
      !route.responsesOnly,
  );
  const cost = ({ price }: Route) => (price ? Number(price.input + price.output) : Number.POSITIVE_INFINITY);
  return own.sort((a, b) => cost(a) - cost(b))[0];
}

/** OpenAI's reasoning models accept only the second name and need more than one token; many others accept only the first. */
const limits = ['"max_tokens":1', '"max_completion_tokens":256'];

/** One call with a route's credential, or with one of its keys. */
export interface Probed {
  readonly route: Route;
  readonly key?: ProviderKey;
}

export async function probe(ports: ProbePorts, probed: Probed): Promise<ProbeOutcome> {
  let outcome = await callOnce(ports, probed, limits[0]!);
  if (outcome.kind === 'failed' && outcome.failure.meaning === 'rejected') {
    outcome = await callOnce(ports, probed, limits[1]!);
  }
  return outcome;
}

async function callOnce(ports: ProbePorts, { route, key }: Probed, limit: string): Promise<ProbeOutcome> {
  const { path, body } = dialectOf(route.provider.dialect).callOf(requestOf(route, limit), route);
  let headers: readonly string[];
  try {
    headers = await ports.credentials.headersFor(route, path, body, key);
  } catch (error) {
    if (error instanceof CredentialFault) return { kind: 'no_credential', reason: error.message };
    throw error;
  }
  const { timeoutMs } = ports;
  const budgets = { firstByteMs: timeoutMs, idleMs: timeoutMs, overallMs: timeoutMs, overallNamedMs: timeoutMs };
  const request = { route, path, body, stream: false, headers };
  const startedAtMs = ports.clock.monotonicMs();
  const result = await new Promise<CallResult>((done) => new Call(ports, request, budgets, null, done));
  return outcomeOf(result, route, Math.round(ports.clock.monotonicMs() - startedAtMs));
}

function requestOf(route: Route, limit: string): ChatRequest {
  return {
    model: route.id,
    stream: false,
    includeUsage: false,
    needs: [],
    responseFormat: null,
    fallback: null,
    members: `"messages":[{"role":"user","content":"Hi"}],${limit}`,
    streamOptionMembers: '',
    encoding: 'latin1',
  };
}

function outcomeOf(result: CallResult, route: Route, latencyMs: number): ProbeOutcome {
  switch (result.kind) {
    case 'answer': {
      const { status, body } = result;
      const reading = readAnswer(body, route.provider.dialect, route);
      if (reading.kind === 'completion') return { kind: 'answered', latencyMs, status };
      const failure =
        reading.kind === 'error'
          ? innerError(status, reading.error, route)
          : noAnswer(status, reading.reason, body, route);
      return { kind: 'failed', failure: readFailureNow(failure), code: '' };
    }
    case 'refused':
    case 'malformed':
    case 'timeout':
      return { kind: 'failed', failure: readFailureNow(failureOf(result, route)), code: '' };
    case 'connection':
      return { kind: 'failed', failure: readFailureNow(failureOf(result, route)), code: result.code };
    default:
      throw new Error(`a call that was not streamed ended as ${result.kind}`);
  }
}
