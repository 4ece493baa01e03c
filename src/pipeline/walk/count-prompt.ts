/** Counts the tokens of a prompt: a route that speaks the client's API is asked, which is free; any other prompt is counted here. */
import type { Route } from '../../catalogue/route.js';
import { Call, type CallResult } from '../../providers/call.js';
import { isNativePass, nativeCall, nativeHeaders } from '../../providers/native-pass.js';
import { targetOf } from '../../providers/translation.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Caller } from '../caller.js';
import type { PipelinePorts } from '../handover.js';

export type CountPorts = Pick<
  PipelinePorts,
  'transportOf' | 'credentials' | 'deadlines' | 'clock' | 'timeouts' | 'counter' | 'holds'
>;

/** An answer is one figure. */
const countBytesMax = 4 * 1024;

export interface CountedPrompt {
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
  const counted = route && (await askProvider(ports, caller, request, route).catch(() => null));
  if (typeof counted === 'number') return { tokens: counted, isLocal: false };
  const { members, encoding } = request;
  const { promptTokens } = await ports.counter.count({ members, encoding, delivered: '' });
  return { tokens: promptTokens, isLocal: true };
}

/** null where the provider does not give a count. */
async function askProvider(
  ports: CountPorts,
  caller: Caller,
  request: ChatRequest,
  route: Route,
): Promise<number | null> {
  const { native } = request;
  const { path, body } = nativeCall(request, route, targetOf(route), 'count');
  const own = await ports.credentials.headersFor(route, path, body);
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
  if (result.kind !== 'answer') return null;
  const { input_tokens: tokens } = JSON.parse(result.body.toString('utf8')) as { input_tokens?: unknown };
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : null;
}
