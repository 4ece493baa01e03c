/** Computes an answer's cost, tokens × the prices that hold for it, exactly in pico-dollars and by class, and finds pricing faults. */
import type { PicoUsd } from '../base/money.js';
import { type ClassPrices, type Price, priceAt, type Rates, ratesFor } from '../catalogue/price.js';
import type { Route, Snapshot } from '../catalogue/route.js';
import { type Cost, type CostClass, costClasses } from '../wire/cost.js';
import type { TokenUsage, UsageParts } from '../wire/usage.js';

type PricedUsage = TokenUsage & Partial<UsageParts>;

/** `atMs` is when the request was sent to the provider. */
export function costOf(price: Price, usage: PricedUsage, atMs: number): Cost {
  const rates = ratesFor(price, atMs, usage.tier ?? null, usage.promptTokens);
  const details: Partial<Record<CostClass, PicoUsd>> = {};
  let pico = addPrompt(details, rates, usage);
  pico += addCompletion(details, rates, usage);
  if (usage.toolCalls !== undefined && usage.toolCalls.length > 0)
    pico += addTools(details, priceAt(price, atMs), usage);
  if (rates.request !== undefined && rates.request > 0n) {
    details.request = rates.request;
    pico += rates.request;
  }
  return { pico, details, tier: usage.tier ?? null };
}

type Details = Partial<Record<CostClass, PicoUsd>>;

function addPrompt(details: Details, rates: ClassPrices, usage: PricedUsage): PicoUsd {
  const { input, cachedInput, cacheWrite, cacheWrite1h, inputAudio, inputImage } = rates;
  let fresh = usage.promptTokens;
  let pico = 0n;
  if (cachedInput !== null && usage.cachedTokens > 0) {
    fresh -= usage.cachedTokens;
    pico += add(details, 'cache_read', usage.cachedTokens, cachedInput);
  }
  const hour = usage.cacheWrite1hTokens ?? 0;
  const minutes = (usage.cacheWriteTokens ?? 0) - hour;
  const hourRate = cacheWrite1h ?? cacheWrite;
  if (minutes > 0 && cacheWrite !== undefined) {
    fresh -= minutes;
    pico += add(details, 'cache_write', minutes, cacheWrite);
  }
  if (hour > 0 && hourRate !== undefined) {
    fresh -= hour;
    pico += add(details, 'cache_write', hour, hourRate);
  }
  const audio = usage.promptAudioTokens ?? 0;
  if (audio > 0 && inputAudio !== undefined) {
    fresh -= audio;
    pico += add(details, 'audio', audio, inputAudio);
  }
  const image = usage.promptImageTokens ?? 0;
  if (image > 0 && inputImage !== undefined) {
    fresh -= image;
    pico += add(details, 'image', image, inputImage);
  }
  return fresh > 0 ? pico + add(details, 'input', fresh, input) : pico;
}

function addCompletion(details: Details, rates: ClassPrices, usage: PricedUsage): PicoUsd {
  const { output, reasoning, outputAudio, outputImage } = rates;
  let rest = usage.completionTokens;
  let pico = 0n;
  if (reasoning !== undefined && usage.reasoningTokens > 0) {
    rest -= usage.reasoningTokens;
    pico += add(details, 'reasoning', usage.reasoningTokens, reasoning);
  }
  const audio = usage.completionAudioTokens ?? 0;
  if (audio > 0 && outputAudio !== undefined) {
    rest -= audio;
    pico += add(details, 'audio', audio, outputAudio);
  }
  const image = usage.completionImageTokens ?? 0;
  if (image > 0 && outputImage !== undefined) {
    rest -= image;
    pico += add(details, 'image', image, outputImage);
  }
  return rest > 0 ? pico + add(details, 'output', rest, output) : pico;
}

/** A call of a tool without a price is not billed. The request was refused if it asked for one, so the provider called it by itself. */
function addTools(details: Details, { tools }: Price, { toolCalls = [] }: PricedUsage): PicoUsd {
  let pico = 0n;
  for (const { name, calls } of toolCalls) {
    const rate = tools?.get(name);
    if (rate !== undefined) pico += add(details, 'tools', calls, rate);
  }
  return pico;
}

function add(details: Details, name: CostClass, count: number, rate: bigint): PicoUsd {
  const pico = BigInt(count) * rate;
  details[name] = (details[name] ?? 0n) + pico;
  return pico;
}

/** Adds the cost of a further call that is part of the same answer. */
export function sumOfCosts(a: Cost, b: Cost): Cost {
  const details: Details = { ...a.details };
  for (const name of costClasses) {
    const more = b.details[name];
    if (more !== undefined) details[name] = (details[name] ?? 0n) + more;
  }
  return { pico: a.pico + b.pico, details, tier: a.tier };
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
  const { input, output, cachedInput, cacheWrite, cacheWrite1h, reasoning, request } = rates;
  const { inputAudio, outputAudio, inputImage, outputImage } = rates;
  const all = [input, output, cachedInput, cacheWrite, cacheWrite1h, reasoning, request];
  return [...all, inputAudio, outputAudio, inputImage, outputImage].every((rate) => (rate ?? 0n) === 0n);
}

/** Reports a fault where the upstream names a model that the catalogue knows as another model. */
export function answeredModelFault(snapshot: Snapshot, route: Route, answered: unknown): string | undefined {
  if (typeof answered !== 'string' || answered === route.upstreamModel) return undefined;
  const known = snapshot.upstreamModels.get(`${route.provider.id} ${answered}`);
  if (!known || known.has(route.model.canonicalId)) return undefined;
  return `it answered with the model "${answered}", which is another one than "${route.upstreamModel}"`;
}
