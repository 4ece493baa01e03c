/** Shows amounts in a second currency beside USD. Nothing is booked in it. */
import type { PicoUsd } from '../base/money.js';

/** As in the configuration: `rate` is the USD that one unit costs. */
export interface DisplayCurrency {
  readonly code: string;
  readonly rate: string;
  readonly source: string;
  readonly as_of: string;
}

const rateDecimals = 6;
/** Pico-dollars to hundredths of a unit, beside the rate's own decimals. */
const scale = 10n ** 10n;

/** To the hundredth, a half away from zero. */
export function displayText(pico: PicoUsd, { rate }: DisplayCurrency): string {
  const [whole = '0', fraction = ''] = rate.split('.');
  const micros = BigInt(whole + fraction.padEnd(rateDecimals, '0'));
  const absolute = pico < 0n ? -pico : pico;
  const divisor = micros * scale;
  const hundredths = (absolute * 10n ** BigInt(rateDecimals) * 2n + divisor) / (divisor * 2n);
  const text = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
  return pico < 0n && hundredths > 0n ? `-${text}` : text;
}
