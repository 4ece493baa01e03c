/** The price ceilings of one request. Compares integers, so that nothing is rounded. */
import { ratesAt } from '../catalogue/price-moment.js';
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import type { RequestGate } from './request-gate.js';

/** Decimals of each ceiling in pico-dollars: of a token, where the ceiling is for a million tokens, and of a request. */
const decimalsOf = { prompt: 6, completion: 6, request: 12 } as const;
type PriceClass = keyof typeof decimalsOf;

/** Pico-dollars; an absent class has no ceiling. */
type PriceCeilings = Readonly<Partial<Record<PriceClass, bigint>>>;

const expected = 'an object of prompt, completion and request, each a number or a decimal text of at least 0';
/** Longer figures than any price. */
const figure = /^\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/;

export function readPriceCeilings(value: unknown, param: string): PriceCeilings {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected });
  const ceilings: Partial<Record<PriceClass, bigint>> = {};
  for (const [name, ceiling] of Object.entries(value)) {
    if (!Object.hasOwn(decimalsOf, name))
      throw gatewayError('field_invalid', {
        param,
        reason: `has the unknown key ${shown(name, 'utf8')}; it takes ${expected}`,
      });
    if (ceiling === null) continue;
    const text = typeof ceiling === 'number' ? String(ceiling) : ceiling;
    const isFigure =
      typeof text === 'string' && figure.test(text) && (typeof ceiling === 'number' || !text.includes('e'));
    if (!isFigure)
      throw gatewayError('field_invalid', {
        param,
        reason: `has ${shown(ceiling, 'utf8')} as ${name}, but takes ${expected}`,
      });
    ceilings[name as PriceClass] = picoFloor(text, decimalsOf[name as PriceClass]);
  }
  return ceilings;
}

/** Whole pico-dollars of a decimal text. A price is a whole number of them, so what is cut off below decides nothing. */
function picoFloor(text: string, decimals: number): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length + decimals;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** null where there is no ceiling. A route without a price is removed; one without a price for requests charges none. */
export function priceGate(read: unknown): RequestGate['permits'] | null {
  const { prompt, completion, request } = (read ?? {}) as PriceCeilings;
  if (prompt === undefined && completion === undefined && request === undefined) return null;
  return (route, moment) => {
    const rates = ratesAt(route, moment);
    if (rates === null) return false;
    return (
      (prompt === undefined || rates.input <= prompt) &&
      (completion === undefined || rates.output <= completion) &&
      (request === undefined || (rates.request ?? 0n) <= request)
    );
  };
}
