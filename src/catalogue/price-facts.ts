/** A price as flat facts: the name of each figure and its exact decimal in USD, for a million tokens or, for tools and requests, for one. */
import { usdText } from '../base/money.js';
import { dayText } from './dates.js';
import { type Band, type ClassPrices, type Period, type Price, priceClasses, type Rates } from './price.js';
import { clockSpan } from './price-times.js';

const tokensOfPrice = 1_000_000n;
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

type PriceFacts = Record<string, string>;

/**
 * Layers of a price are complete in memory. A layer states only what differs from the prices below it, so that a changed price is one
 * change and not one for each tier and period that follows it.
 */
export function priceFacts(price: Price): PriceFacts {
  const facts: PriceFacts = {};
  addPrice(facts, '', price, null);
  return facts;
}

function addPrice(facts: PriceFacts, prefix: string, price: Price, below: Price | null): void {
  addRates(facts, prefix, price, below);
  addTiers(facts, prefix, price.tiers, price);
  for (const period of price.periods ?? []) {
    const name = `${prefix}periods.${periodName(period)}.`;
    addRates(facts, name, period, price);
    addTiers(facts, name, period.tiers, period, price.tiers);
  }
  for (const [tool, pico] of price.tools ?? []) {
    if (below?.tools?.get(tool) !== pico) facts[`${prefix}tools.${tool}`] = usdText(pico);
  }
  const { published } = price;
  if (published && below === null) {
    facts[`${prefix}published.currency`] = published.currency;
    if (published.input !== null) facts[`${prefix}published.input`] = published.input;
    if (published.output !== null) facts[`${prefix}published.output`] = published.output;
    if (published.cachedInput !== null) facts[`${prefix}published.cached_input`] = published.cachedInput;
  }
  if (price.offer) {
    facts[`${prefix}until_changed`] = 'true';
    if (price.offer.through !== undefined) facts[`${prefix}until`] = price.offer.through;
    if (price.offer.listPrice) addPrice(facts, `${prefix}then.`, price.offer.listPrice, price);
  }
  if (!price.later) return;
  const from = dayText(price.later.fromMs);
  addPrice(facts, `${prefix}from.${from}.`, price.later.price, price);
}

function addTiers(
  facts: PriceFacts,
  prefix: string,
  tiers: ReadonlyMap<string, Rates> | undefined,
  base: Rates,
  below?: ReadonlyMap<string, Rates>,
): void {
  // The bands of the ordinary price say nothing about a tier.
  for (const [name, rates] of tiers ?? [])
    addRates(facts, `${prefix}tiers.${name}.`, rates, below?.get(name) ?? classesOf(base));
}

function addRates(facts: PriceFacts, prefix: string, rates: Rates, below: Rates | null): void {
  addClasses(facts, prefix, rates, below);
  const { bands = [] } = rates;
  bands.forEach((band, at) => {
    const name = `${prefix}from_tokens.${band.fromTokens}.`;
    const same = bandAt(below, band);
    addClasses(facts, name, band, same ?? rates);
    // A class may have its ordinary price again, which only the band before it shows.
    if (!same && at > 0) addClasses(facts, name, band, bands[at - 1]!);
  });
  for (const band of below?.bands ?? [])
    if (!bandAt(rates, band)) facts[`${prefix}from_tokens.${band.fromTokens}`] = 'none';
}

function bandAt(rates: Rates | null, { fromTokens }: Band): Band | undefined {
  return rates?.bands?.find((band) => band.fromTokens === fromTokens);
}

function classesOf({ bands: _, ...classes }: Rates): ClassPrices {
  return classes;
}

function addClasses(facts: PriceFacts, prefix: string, prices: ClassPrices, below: ClassPrices | null): void {
  for (const [key, name] of priceClasses) {
    const pico = prices[key] ?? null;
    if (pico === null || pico === (below?.[key] ?? null)) continue;
    facts[`${prefix}${name}`] = usdText(name === 'request' ? pico : pico * tokensOfPrice);
  }
}

function periodName({ fromMinute, toMinute, days }: Period): string {
  const on = days ? ` ${days.map((day) => weekdays[day]).join(' ')}` : '';
  return `${clockSpan(fromMinute, toMinute)}${on}`;
}
