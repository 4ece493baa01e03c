/** What an answer costs: by the provider's usage, or, where there is none, by counting what was delivered. */
import type { MaybePromise } from '../../base/maybe-promise.js';
import { costOf, sumOfCosts, withFee } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Cost } from '../../wire/cost.js';
import type { TaskAnswer } from '../../wire/task.js';
import { extraIterations, type TokenUsage, type UsageParts, type UsageReading } from '../../wire/usage.js';
import type { Billed, PipelinePorts } from '../handover.js';
import type { DeliveredText } from './delivered-text.js';

/** What was delivered, as far as the bill depends on it. */
export interface Billable {
  usage: UsageReading;
  /** The provider's own usage, unread, for what it holds beside the figures of the answer. */
  given?: unknown;
  /** The inside of a JSON string, latin1; of a stream, what is left of it to count. */
  text: string | DeliveredText;
  /** Every frame reached the caller, so the provider's figure is the delivered one. */
  whole: boolean;
}

export interface SentRequest {
  readonly route: Route;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
}

/**
 * What a stream costs so far at the least, without counting: for the provisional record. The exact one replaces it, but where the process
 * dies it stands, and nobody pays for a guess.
 */
export function provisionalBill(
  { route, sentAtMs }: SentRequest,
  reading: UsageReading,
  least: { readonly promptTokens: number; readonly completionTokens: number },
): Billed {
  const usage = usageSoFar(reading, least.promptTokens, least.completionTokens);
  return { usage, source: 'estimated', cost: charged(route, costOf(route.price!, usage, sentAtMs)) };
}

interface BillPorts {
  counter: Pick<PipelinePorts['counter'], 'count'>;
}

export function bill(
  ports: BillPorts,
  request: ChatRequest,
  sent: SentRequest,
  billable: Billable,
): MaybePromise<Billed> {
  const { usage, whole, given } = billable;
  if (usage.kind === 'usage' && whole) {
    const cost = costWithExtras(sent, usage.usage, given);
    return { usage: usage.usage, source: 'provider', cost, oddities: usage.oddities };
  }
  return countedBill(ports, request, sent, billable);
}

/** What vectors or an order of documents cost: by the input alone. */
export async function billTask(
  { counter }: BillPorts,
  { members, encoding, task }: ChatRequest,
  { route, sentAtMs }: SentRequest,
  { tokens, requests }: TaskAnswer,
): Promise<Billed> {
  const sentTokens = task?.kind === 'embedding' ? task.tokens : undefined;
  const promptTokens = tokens ?? sentTokens ?? (await counter.count({ members, encoding, delivered: '' })).promptTokens;
  const usage = { promptTokens, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const cost = charged(route, costOf(route.price!, { ...usage, requests }, sentAtMs));
  return { usage, source: tokens === null ? 'counted' : 'provider', cost };
}

/** Of a stream that broke off only what was delivered is billed; the prompt is the provider's figure where it gave one. */
async function countedBill(
  ports: BillPorts,
  request: ChatRequest,
  sent: SentRequest,
  billable: Billable,
): Promise<Billed> {
  const { members, encoding } = request;
  const { tokens, text, isEstimate } =
    typeof billable.text === 'string'
      ? { tokens: 0, text: billable.text, isEstimate: false }
      : await billable.text.remaining();
  const counted = await ports.counter.count({ members, encoding, delivered: text });
  const reading = billable.usage.kind === 'usage' ? billable.usage : null;
  const usage = usageSoFar(billable.usage, counted.promptTokens, tokens + counted.completionTokens);
  const cost = costWithExtras(sent, usage, billable.given);
  const own = isEstimate || counted.isEstimate ? 'estimated' : 'counted';
  return { usage, source: reading ? 'provider' : own, cost, oddities: reading?.oddities };
}

/** The provider's figures, and counted ones where it gave none, or less than was delivered. */
function usageSoFar(
  reading: UsageReading,
  promptTokens: number,
  completionTokens: number,
): TokenUsage & Partial<UsageParts> {
  if (reading.kind !== 'usage') return { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0 };
  const given = reading.usage;
  return { ...given, completionTokens: Math.max(completionTokens, given.completionTokens) };
}

/** Each extra iteration is a call of its own, so its own prompt decides the price band. */
function costWithExtras({ route, sentAtMs }: SentRequest, usage: TokenUsage, given: unknown): Cost {
  let cost = costOf(route.price!, usage, sentAtMs);
  for (const extra of extraIterations(given, route)) cost = sumOfCosts(cost, costOf(route.price!, extra, sentAtMs));
  return charged(route, cost);
}

/** The list price, or the fee for an answer that the customer's own credential has paid for. */
function charged({ credential }: Route, cost: Cost): Cost {
  return credential === undefined ? cost : withFee(cost, credential.fee);
}
