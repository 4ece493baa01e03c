/** What requests cost on a route, exactly: whole pico-dollars, no floats. */
import type { CatalogueRoute } from '../../api/types.js';

export interface Load {
  inputTokens: number;
  /** Of these from the provider's cache. */
  cachedTokens: number;
  outputTokens: number;
  requests: number;
}

const picoDigits = 12;
/** A price of a million tokens has six digits less than one of a token. */
const millionDigits = 6;

/** USD as decimal text; null where the route has no price. */
export function costOf({ price }: Pick<CatalogueRoute, 'price'>, load: Load): { each: string; all: string } | null {
  if (!price) return null;
  const band = bandOf(price, load.inputTokens);
  const rate = (name: string, ordinary: string | null) => perToken(band[name] ?? ordinary ?? '0');
  const cached = BigInt(Math.min(load.cachedTokens, load.inputTokens));
  const input = rate('input', price.input);
  const each =
    (BigInt(load.inputTokens) - cached) * input +
    cached * (price.cached_input === null && !band.cached_input ? input : rate('cached_input', price.cached_input)) +
    BigInt(load.outputTokens) * rate('output', price.output) +
    pico(always(price).request ?? '0', picoDigits);
  return { each: usdText(each), all: usdText(each * BigInt(load.requests)) };
}

type Price = NonNullable<CatalogueRoute['price']>;

const always = ({ others }: Price): Record<string, string> =>
  others.find(({ when }) => Object.keys(when).length === 0)?.prices ?? {};

/** The prices of a long prompt; empty where the ordinary ones hold. Tiers, hours and later dates are left out. */
function bandOf({ others }: Price, inputTokens: number): Record<string, string> {
  const bands = others.filter(({ when }) => Object.keys(when).join() === 'from_tokens');
  const reached = bands.filter(({ when }) => (when.from_tokens ?? 0) <= inputTokens);
  return reached.sort((a, b) => (b.when.from_tokens ?? 0) - (a.when.from_tokens ?? 0))[0]?.prices ?? {};
}

const perToken = (perMillion: string) => pico(perMillion, picoDigits - millionDigits);

function pico(text: string, digits: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0').slice(0, digits));
}

function usdText(amount: bigint): string {
  const text = String(amount).padStart(picoDigits + 1, '0');
  return `${text.slice(0, -picoDigits)}.${text.slice(-picoDigits)}`;
}
