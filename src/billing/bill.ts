/** What a request may cost at most before it is sent, and what its answer costs: by the provider's usage, or by counting what was delivered. */

import type { PicoUsd } from '../base/money.js';
import type { MaybePromise } from '../base/turn.js';
import { ratesFor } from '../catalogue/price.js';
import { varies } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { Cost } from '../wire/cost.js';
import type { TaskAnswer } from '../wire/task.js';
import { extraIterations, isEmptyUsage } from '../wire/usage.js';
import type { TokenUsage, UsageOddity, UsageParts, UsageReading } from '../wire/usage-types.js';
import type { TokenCounter } from './count/counter.js';
import { costOf, sumOfCosts, withFee } from './pricing.js';

/** For a model without a published limit, or a higher one, where the request names no bound itself. */
const outputTokensMax = 16_384;

interface EstimatedRequest {
  readonly request: Pick<ChatRequest, 'outputMax' | 'choices' | 'extras' | 'task'>;
  readonly promptTokens: number;
  readonly atMs: number;
}

/**
 * What a request may cost at most, by the dearest of the routes that may serve it. This much of the balance is held while the request is in
 * flight.
 */
export function estimateCost(routes: readonly Route[], asked: EstimatedRequest): PicoUsd {
  let dearest = 0n;
  for (const route of asked.request.extras === undefined ? dearestOf(routes) : routes) {
    const cost = costOn(route, asked);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}

/** Lists are made once for a policy and a catalogue, except those that a request's own gates leave. */
const dearestByList = new WeakMap<readonly Route[], readonly Route[]>();

/** Without the routes that are never dearer than another one of the list. */
function dearestOf(routes: readonly Route[]): readonly Route[] {
  if (routes.length < 2) return routes;
  let dearest = dearestByList.get(routes);
  if (!dearest) {
    const kept: Route[] = [];
    for (const route of routes) if (!kept.some((other) => isDearer(other, route))) kept.push(route);
    dearest = kept;
    dearestByList.set(routes, dearest);
  }
  return dearest;
}

/** Whether a route costs at least as much as another for every request. Prices that vary are not compared. */
function isDearer(route: Route, other: Route): boolean {
  const [price, lower] = [route.price, other.price];
  if (!price || !lower || varies(price) || varies(lower)) return false;
  const isLonger =
    route.maxOutputTokens === null ||
    (other.maxOutputTokens !== null && route.maxOutputTokens >= other.maxOutputTokens);
  return (
    isLonger &&
    price.input >= lower.input &&
    price.output >= lower.output &&
    (price.request ?? 0n) >= (lower.request ?? 0n)
  );
}

function costOn({ price, maxOutputTokens }: Route, { request, promptTokens, atMs }: EstimatedRequest): PicoUsd {
  if (!price) return 0n;
  const { input, output, request: perRequest = 0n } = ratesFor(price, atMs, request.extras?.tier ?? null, promptTokens);
  // Embeddings and rerank have no output.
  const outputTokens = request.task === undefined ? outputBound(request.outputMax, maxOutputTokens) : 0;
  const once = BigInt(promptTokens) * input + BigInt(outputTokens) * output + perRequest;
  return request.choices === undefined ? once : once * BigInt(request.choices);
}

function outputBound(asked: number | undefined, modelMax: number | null): number {
  if (asked === undefined) return Math.min(modelMax ?? outputTokensMax, outputTokensMax);
  return modelMax === null ? asked : Math.min(asked, modelMax);
}

export interface Billed {
  usage: TokenUsage & Partial<Pick<UsageParts, 'cacheWriteTokens' | 'toolCalls' | 'unpricedTier'>>;
  /** The provider, an exact count, or a lower bound where nothing could be counted. */
  source: 'provider' | 'counted' | 'estimated';
  cost: Cost;
  /** What was odd about the provider's usage; absent where nothing was read of it. */
  oddities?: readonly UsageOddity[];
}

/** What is left to count, and the tokens of all that came before it. */
export interface Remaining {
  tokens: number;
  /** The inside of a JSON string, in latin1. */
  text: string;
  /** Some of it could not be counted. */
  isEstimate: boolean;
}

/** What was delivered, as far as the bill depends on it. */
export interface Billable {
  usage: UsageReading;
  /** The provider's own usage, unread, for what it holds beside the figures of the answer. */
  given?: unknown;
  /** The inside of a JSON string, latin1; of a stream, what is left of it to count. */
  text: string | { readonly characters: number; remaining(): Promise<Remaining> };
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
  readonly counter: Pick<TokenCounter, 'count'>;
}

export function bill(
  ports: BillPorts,
  request: ChatRequest,
  sent: SentRequest,
  billable: Billable,
): MaybePromise<Billed> {
  const { usage, whole, given } = billable;
  if (usage.kind === 'usage' && whole && !(isEmptyUsage(usage) && isOwed(sent, billable))) {
    const cost = costWithExtras(sent, usage.usage, given);
    return { usage: usage.usage, source: 'provider', cost, oddities: usage.oddities };
  }
  return countedBill(ports, request, sent, billable);
}

/**
 * Delivered text is never free, so a usage of zeros beside it is none. Anthropic alone means its zeros: it takes nothing for the calls of tools
 * that code makes which runs there.
 */
function isOwed({ route }: SentRequest, { text }: Billable): boolean {
  return route.provider.dialect !== 'anthropic' && (typeof text === 'string' ? text.length : text.characters) > 0;
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
  const reading = billable.usage;
  const usage = usageSoFar(reading, counted.promptTokens, tokens + counted.completionTokens);
  const cost = costWithExtras(sent, usage, billable.given);
  const own = isEstimate || counted.isEstimate ? 'estimated' : 'counted';
  return { usage, source: isEmptyUsage(reading) ? own : 'provider', cost, oddities: odditiesOf(reading) };
}

function odditiesOf(reading: UsageReading): readonly UsageOddity[] | undefined {
  if (reading.kind === 'usage') return reading.oddities;
  return reading.kind === 'absent' && reading.unpricedTier !== undefined ? ['tier_without_price'] : undefined;
}

/** The provider's figures, and counted ones where it gave none, or less than was delivered. */
function usageSoFar(
  reading: UsageReading,
  promptTokens: number,
  completionTokens: number,
): TokenUsage & Partial<UsageParts> {
  if (reading.kind !== 'usage') {
    const { kind: _, ...named } = reading;
    return { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0, ...named };
  }
  const given = reading.usage;
  // No prompt is empty, so a 0 is none of its figures: some servers begin with zeros and give the usage at the end.
  return {
    ...given,
    promptTokens: given.promptTokens || promptTokens,
    completionTokens: Math.max(completionTokens, given.completionTokens),
  };
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
