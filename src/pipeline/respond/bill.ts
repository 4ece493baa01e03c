/** What an answer costs: by the provider's usage, or, where there is none, by counting what was delivered. */
import type { MaybePromise } from '../../base/maybe-promise.js';
import type { PicoUsd } from '../../base/money.js';
import { costOf } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { extraIterations, type TokenUsage, type UsageReading } from '../../wire/usage.js';
import type { Billed, Exchange, PipelinePorts } from '../handover.js';
import type { DeliveredText } from './delivered-text.js';

export interface Delivered {
  usage: UsageReading;
  /** The provider's own usage, unread, for what it holds beside the figures of the answer. */
  given?: unknown;
  /** The inside of a JSON string, latin1; of a stream, what is left of it to count. */
  text: string | DeliveredText;
  /** Every frame reached the caller, so the provider's figure is the delivered one. */
  whole: boolean;
}

/** English averages four characters a token. */
const charactersPerToken = 4;

/** What a stream costs so far, without counting: for the provisional record, which the exact one replaces. */
export function provisionalBill(
  { promptEstimate }: Pick<Exchange, 'promptEstimate'>,
  route: Route,
  reading: UsageReading,
  deliveredCharacters: number,
): Billed {
  const given = reading.kind === 'usage' ? reading.usage : null;
  const usage = {
    promptTokens: given?.promptTokens ?? promptEstimate,
    completionTokens: Math.max(Math.ceil(deliveredCharacters / charactersPerToken), given?.completionTokens ?? 0),
    cachedTokens: given?.cachedTokens ?? 0,
    reasoningTokens: given?.reasoningTokens ?? 0,
  };
  return { usage, source: 'counted', costPico: costOf(route.price!, usage) };
}

interface BillPorts {
  counter: Pick<PipelinePorts['counter'], 'count'>;
}

export function bill(ports: BillPorts, request: ChatRequest, route: Route, delivered: Delivered): MaybePromise<Billed> {
  const { usage, whole, given } = delivered;
  if (usage.kind === 'usage' && whole) {
    const costPico = costWithExtras(route, usage.usage, given);
    return { usage: usage.usage, source: 'provider', costPico, oddities: usage.oddities };
  }
  return countedBill(ports, request, route, delivered);
}

/** Of a stream that broke off only what was delivered is billed; the prompt is the provider's figure where it gave one. */
async function countedBill(
  ports: BillPorts,
  request: ChatRequest,
  route: Route,
  delivered: Delivered,
): Promise<Billed> {
  const { members, encoding } = request;
  const { tokens, text } =
    typeof delivered.text === 'string' ? { tokens: 0, text: delivered.text } : await delivered.text.remaining();
  const counted = await ports.counter.count({ members, encoding, delivered: text });
  const reading = delivered.usage.kind === 'usage' ? delivered.usage : null;
  const given = reading?.usage;
  const usage = {
    promptTokens: given?.promptTokens ?? counted.promptTokens,
    completionTokens: Math.max(tokens + counted.completionTokens, given?.completionTokens ?? 0),
    cachedTokens: given?.cachedTokens ?? 0,
    reasoningTokens: given?.reasoningTokens ?? 0,
  };
  const costPico = costWithExtras(route, usage, delivered.given);
  return { usage, source: given ? 'provider' : 'counted', costPico, oddities: reading?.oddities };
}

/** Each extra iteration is a call of its own, so its own prompt decides the price band. */
function costWithExtras(route: Route, usage: TokenUsage, given: unknown): PicoUsd {
  let costPico = costOf(route.price!, usage);
  for (const extra of extraIterations(given, route)) costPico += costOf(route.price!, extra);
  return costPico;
}
