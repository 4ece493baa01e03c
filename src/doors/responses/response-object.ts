/** Writes the parts of a response that is made of a completion. All text is latin1. */
import type { NativeRequest } from '../../wire/chat-request.js';
import { costMembers, sideNames, withCost } from '../../wire/cost.js';
import { withMembers } from '../../wire/splice-members.js';
import type { BilledUsage } from '../door.js';

interface ResponseParts {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  /** Why it is incomplete. */
  readonly reason?: string | undefined;
  /** Items as JSON text. */
  readonly output: readonly string[];
  readonly usage?: string;
  readonly metadata?: string | undefined;
}

/** What the answer repeats where a route leaves it out: the value of a request that does not have it. */
const unasked: Readonly<Record<string, readonly [name: string, text: string]>> = {
  'reasoning.effort': ['reasoning', '{"effort":null,"summary":null}'],
  parallel_tool_calls: ['parallel_tool_calls', 'true'],
  temperature: ['temperature', '1'],
  top_p: ['top_p', '1'],
  user: ['user', 'null'],
};

/** The members that an answer repeats, without what the route has left out. `metadata` is `router_metadata` as JSON text. */
export function echoFor({ echo }: Pick<NativeRequest, 'echo'>, metadata: string | undefined): string {
  if (!metadata?.includes('"omitted":')) return echo;
  const { omitted = [] } = JSON.parse(metadata) as { omitted?: string[] };
  const changed = omitted.flatMap((name) => (unasked[name] ? [unasked[name]] : []));
  return changed.length === 0 ? echo : withMembers(`{${echo}}`, Object.fromEntries(changed)).slice(1, -1);
}

export function responseText({ echo }: Pick<NativeRequest, 'echo'>, parts: ResponseParts): string {
  const { id, created, model, status, reason, output, usage = 'null', metadata } = parts;
  const details = reason === undefined ? 'null' : `{"reason":"${reason}"}`;
  const completedAt = status === 'completed' ? String(Math.floor(Date.now() / 1000)) : 'null';
  const receipt = metadata === undefined ? '' : `,"router_metadata":${metadata}`;
  return (
    `{"id":"${id}","object":"response","created_at":${created},"completed_at":${completedAt},"status":"${status}"` +
    `,"error":null,"incomplete_details":${details},${echo},"model":"${model}","output":[${output.join(',')}]` +
    `,"usage":${usage}${receipt}}`
  );
}

const sides = sideNames('input', 'output');

/** `usage` of a translated response. Its clients require the details. */
export function responseUsage({ usage, cost }: BilledUsage): string {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const figures = {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  };
  return `${JSON.stringify(figures).slice(0, -1)},${costMembers(cost, sides)}}`;
}

/** The provider's own `usage` with the cost; without one, the billed figures. */
export function nativeUsage(text: string | undefined, billed: BilledUsage): string {
  return text?.startsWith('{') ? withCost(text, billed.cost, sides) : responseUsage(billed);
}

/** The end of a response by the finish reason of the completion. */
export function endOf(finishReason: string | null): Pick<ResponseParts, 'status' | 'reason'> {
  if (finishReason === 'length') return { status: 'incomplete', reason: 'max_output_tokens' };
  if (finishReason === 'content_filter') return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed' };
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** `inside` is the inside of a JSON string. */
export function textPart(inside: string): string {
  return `{"type":"output_text","text":"${inside}","annotations":[],"logprobs":[]}`;
}

/** `inside` is the inside of a JSON string. */
export function refusalPart(inside: string): string {
  return `{"type":"refusal","refusal":"${inside}"}`;
}

export function messageItem(id: string, status: ItemStatus, parts: readonly string[]): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts.join(',')}]}`;
}

/** `inside` is the inside of a JSON string. */
export function reasoningPart(inside: string): string {
  return `{"type":"reasoning_text","text":"${inside}"}`;
}

/** `packed` is reasoning for the provider, or null where there is none. */
export function reasoningItem(id: string, status: ItemStatus, inside: string, packed: string | null): string {
  const content = inside === '' ? '' : reasoningPart(inside);
  const encrypted = packed === null ? '' : `,"encrypted_content":"${packed}"`;
  return `{"id":"${id}","type":"reasoning","status":"${status}","summary":[],"content":[${content}]${encrypted}}`;
}

interface CallText {
  readonly id: string;
  /** JSON strings with their quotes. */
  readonly callId: string;
  readonly name: string;
  /** The inside of a JSON string. */
  readonly inside: string;
  readonly status: ItemStatus;
}

export function callItem({ namespaces }: Pick<NativeRequest, 'namespaces'>, call: CallText): string {
  const { id, callId, name, inside, status } = call;
  const namespace = namespaces?.[name.slice(1, -1)];
  const within = namespace === undefined ? '' : `,"namespace":${JSON.stringify(namespace)}`;
  return `{"id":"${id}","type":"function_call","status":"${status}","call_id":${callId},"name":${name}${within},"arguments":"${inside}"}`;
}
