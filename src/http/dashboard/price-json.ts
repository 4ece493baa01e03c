/** The prices of a route for the Models page: the ordinary ones, and every other price that it has, with when it holds. */
import { usdText } from '../../base/money.js';
import { isOld } from '../../catalogue/dates.js';
import { type ClassPrices, type Period, type Price, priceAt, priceClasses, type Rates } from '../../catalogue/price.js';
import { clockSpan } from '../../catalogue/price-times.js';
import { noProvenance, type Provenance } from '../../catalogue/provenance.js';

/** When a price holds. Everything that is set must be true; nothing is set for the ordinary price. */
interface When {
  readonly tier?: string;
  readonly from_tokens?: number;
  /** `00:30-08:30`, UTC. */
  readonly utc?: string;
  /** 0 is Sunday. */
  readonly days?: readonly number[];
  /** A date. */
  readonly from?: string;
  /** After an offer whose end is not known. */
  readonly after_offer?: true;
}

interface OtherPrices {
  readonly when: When;
  /** USD per million tokens; `request` and `tools.<name>` USD each. Only those that differ from the ordinary price. */
  readonly prices: Readonly<Record<string, string>>;
}

/** A figure is old after 90 days: it is to be looked at again. */
export function priceJson(price: Price, atMs: number, { asOf }: Provenance = noProvenance) {
  const current = priceAt(price, atMs);
  const { input, output, cachedInput } = current;
  return {
    input: perMillion(input),
    output: perMillion(output),
    cached_input: cachedInput === null ? null : perMillion(cachedInput),
    others: otherPrices(current),
    as_of: asOf,
    old: isOld(asOf, atMs),
    until_changed: current.offer !== undefined,
  };
}

function otherPrices(price: Price): OtherPrices[] {
  const own = {
    ...differing(price, { input: price.input, output: price.output, cachedInput: null }),
    ...toolPrices(price),
  };
  const others = [{ when: {}, prices: own }, ...bandsOf(price, price, {}), ...tiersOf(price, price, {})];
  for (const period of price.periods ?? []) {
    const when = whenOf(period);
    others.push({ when, prices: differing(period, price) });
    if (period.bands !== price.bands) others.push(...bandsOf(period, price, when));
  }
  if (price.offer?.listPrice) {
    others.push({ when: { after_offer: true }, prices: differing(price.offer.listPrice, price) });
  }
  if (price.later) {
    const from = new Date(price.later.fromMs).toISOString().slice(0, 10);
    others.push({ when: { from }, prices: differing(price.later.price, price) });
  }
  return others.filter(({ prices }) => Object.keys(prices).length > 0);
}

function tiersOf({ tiers }: Price, base: ClassPrices, when: When): OtherPrices[] {
  return [...(tiers ?? [])].flatMap(([tier, rates]) => [
    { when: { ...when, tier }, prices: differing(rates, base) },
    ...bandsOf(rates, base, { ...when, tier }),
  ]);
}

function bandsOf({ bands = [] }: Rates, base: ClassPrices, when: When): OtherPrices[] {
  return bands.map((band) => ({ when: { ...when, from_tokens: band.fromTokens }, prices: differing(band, base) }));
}

function differing(rates: ClassPrices, base: ClassPrices): Record<string, string> {
  const prices: Record<string, string> = {};
  for (const [key, name] of priceClasses) {
    const rate = rates[key];
    if (rate === undefined || rate === null || rate === base[key]) continue;
    prices[name] = key === 'request' ? usdText(rate) : perMillion(rate);
  }
  return prices;
}

function toolPrices({ tools }: Price): Record<string, string> {
  return Object.fromEntries([...(tools ?? [])].map(([name, rate]) => [`tools.${name}`, usdText(rate)]));
}

function whenOf({ fromMinute, toMinute, days }: Period): When {
  return { utc: clockSpan(fromMinute, toMinute), ...(days && { days }) };
}

/** Pico-dollars a token, as USD per million tokens. */
function perMillion(pico: bigint): string {
  return usdText(pico * 1_000_000n);
}
