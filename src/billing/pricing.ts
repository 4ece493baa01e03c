/** Computes an answer's cost, tokens × the prices that hold for it, exactly in pico-dollars and by class, and finds pricing faults. */
import type { PicoUsd } from '../base/money.js';
import { type ClassPrices, type Price, priceAt, priceClasses, type Rates, ratesFor } from '../catalogue/price.js';
import type { Fee, Route, Snapshot } from '../catalogue/route.js';
import {
  type Cost,
  type CostClass,
  type CostLine,
  costClasses,
  type TokenLine,
  type ToolLine,
  toolLine,
  unpricedTools,
} from '../wire/cost.js';
import type { TokenUsage, UsageParts } from '../wire/usage-types.js';

type PricedUsage = TokenUsage & Partial<UsageParts>;

/** `atMs` is when the request was sent to the provider. */
export function costOf(price: Price, usage: PricedUsage, atMs: number): Cost {
  const tier = usage.tier ? pricedTier(price, atMs, usage.tier) : null;
  const rates = ratesFor(price, atMs, tier, usage.promptTokens);
  const bill = new Bill();
  addPrompt(bill, rates, usage);
  addCompletion(bill, rates, usage);
  if (usage.toolCalls !== undefined && usage.toolCalls.length > 0) addTools(bill, priceAt(price, atMs), usage);
  if (rates.request !== undefined && rates.request > 0n)
    bill.add('request', 'request', usage.requests ?? 1, rates.request);
  return { pico: bill.pico, details: bill.details, lines: bill.lines, tier };
}

/** null where the price of that moment has none for it. */
function pricedTier(price: Price, atMs: number, tier: string): string | null {
  return priceAt(price, atMs).tiers?.has(tier) ? tier : null;
}

type Details = Partial<Record<CostClass, PicoUsd>>;

/** Adds up lines and classes at once. */
class Bill {
  pico: PicoUsd = 0n;
  readonly details: Details = {};
  readonly lines: CostLine[] = [];

  add(name: TokenLine | ToolLine, ofClass: CostClass, count: number, rate: bigint): void {
    const pico = BigInt(count) * rate;
    this.pico += pico;
    this.details[ofClass] = (this.details[ofClass] ?? 0n) + pico;
    this.lines.push({ name, count, rate });
  }
}

function addPrompt(bill: Bill, rates: ClassPrices, usage: PricedUsage): void {
  const { input, cachedInput, cacheWrite, cacheWrite1h, inputAudio, inputImage } = rates;
  let fresh = usage.promptTokens;
  if (cachedInput !== null && usage.cachedTokens > 0) {
    fresh -= usage.cachedTokens;
    bill.add('cached_input', 'cache_read', usage.cachedTokens, cachedInput);
  }
  const hour = usage.cacheWrite1hTokens ?? 0;
  const minutes = (usage.cacheWriteTokens ?? 0) - hour;
  const hourRate = cacheWrite1h ?? cacheWrite;
  if (minutes > 0 && cacheWrite !== undefined) {
    fresh -= minutes;
    bill.add('cache_write', 'cache_write', minutes, cacheWrite);
  }
  if (hour > 0 && hourRate !== undefined) {
    fresh -= hour;
    bill.add('cache_write_1h', 'cache_write', hour, hourRate);
  }
  const audio = usage.promptAudioTokens ?? 0;
  if (audio > 0 && inputAudio !== undefined) {
    fresh -= audio;
    bill.add('input_audio', 'audio', audio, inputAudio);
  }
  const image = usage.promptImageTokens ?? 0;
  if (image > 0 && inputImage !== undefined) {
    fresh -= image;
    bill.add('input_image', 'image', image, inputImage);
  }
  if (fresh > 0) bill.add('input', 'input', fresh, input);
}

function addCompletion(bill: Bill, rates: ClassPrices, usage: PricedUsage): void {
  const { output, reasoning, outputAudio, outputImage } = rates;
  let rest = usage.completionTokens;
  if (reasoning !== undefined && usage.reasoningTokens > 0) {
    rest -= usage.reasoningTokens;
    bill.add('reasoning', 'reasoning', usage.reasoningTokens, reasoning);
  }
  const audio = usage.completionAudioTokens ?? 0;
  if (audio > 0 && outputAudio !== undefined) {
    rest -= audio;
    bill.add('output_audio', 'audio', audio, outputAudio);
  }
  const image = usage.completionImageTokens ?? 0;
  if (image > 0 && outputImage !== undefined) {
    rest -= image;
    bill.add('output_image', 'image', image, outputImage);
  }
  if (rest > 0) bill.add('output', 'output', rest, output);
}

/** A call of a tool without a price is not billed. The request was refused if it asked for one, so the provider called it by itself. */
function addTools(bill: Bill, { tools }: Price, { toolCalls = [] }: PricedUsage): void {
  let unpriced = 0;
  for (const { name, calls } of toolCalls) {
    const rate = tools?.get(name);
    if (rate === undefined) unpriced += calls;
    else bill.add(toolLine(name), 'tools', calls, rate);
  }
  if (unpriced > 0) bill.lines.push({ name: unpricedTools, count: unpriced, rate: 0n });
}

/** Percent in the units of a fee. */
const feeUnits = 100n * 1_000_000_000_000n;

/**
 * What an answer costs the account that had it with a credential of its own: the operator's fee, and nothing else. Rounded half up to a
 * pico-dollar. The lines stay those of the list price.
 */
export function withFee({ pico, details, lines, tier }: Cost, fee: Fee): Cost {
  return { pico: feeOf(pico, fee), details: noDetails, lines, tier, notional: { pico, details } };
}

const noDetails: Details = Object.freeze({});

function feeOf(listPico: PicoUsd, { percent, perRequestPico }: Fee): PicoUsd {
  if (percent === 0n) return perRequestPico;
  return perRequestPico + (listPico * percent * 2n + feeUnits) / (feeUnits * 2n);
}

/** Adds the cost of a further call that is part of the same answer. */
export function sumOfCosts(a: Cost, b: Cost): Cost {
  const details: Details = { ...a.details };
  for (const name of costClasses) {
    const more = b.details[name];
    if (more !== undefined) details[name] = (details[name] ?? 0n) + more;
  }
  return { pico: a.pico + b.pico, details, lines: sumOfLines(a.lines, b.lines), tier: a.tier };
}

/** A class that was billed at two prices has two lines. */
function sumOfLines(lines: readonly CostLine[], more: readonly CostLine[]): readonly CostLine[] {
  const sum = [...lines];
  for (const line of more) {
    const at = sum.findIndex(({ name, rate }) => name === line.name && rate === line.rate);
    if (at < 0) sum.push(line);
    else sum[at] = { ...line, count: sum[at]!.count + line.count };
  }
  return sum;
}

/** Every request asks, and a price does not change. */
const freePrices = new WeakMap<Price, boolean>();

/** Whether no answer at this price can cost anything. */
export function isFree(price: Price): boolean {
  let free = freePrices.get(price);
  if (free === undefined) {
    free = hasNoCost(price);
    freePrices.set(price, free);
  }
  return free;
}

function hasNoCost(price: Price): boolean {
  const layers: Rates[] = [price, ...(price.tiers?.values() ?? []), ...(price.periods ?? [])];
  const isFreeLayer = ({ bands = [], ...rates }: Rates) => isFreeRate(rates) && bands.every(isFreeRate);
  const noTools = [...(price.tools?.values() ?? [])].every((rate) => rate === 0n);
  return layers.every(isFreeLayer) && noTools && (!price.later || hasNoCost(price.later.price));
}

function isFreeRate(rates: ClassPrices): boolean {
  return priceClasses.every(([key]) => (rates[key] ?? 0n) === 0n);
}

/** Reports a fault where the upstream names a model that the catalogue knows as another model. */
export function answeredModelFault(snapshot: Snapshot, route: Route, answered: unknown): string | undefined {
  if (typeof answered !== 'string' || answered === route.upstreamModel) return undefined;
  const known = snapshot.upstreamModels.get(`${route.provider.id} ${answered}`);
  if (!known || known.has(route.model.canonicalId)) return undefined;
  return `it answered with the model "${answered}", which is another one than "${route.upstreamModel}"`;
}
