/** Money is an integer count of pico-dollars (10⁻¹² USD), text at the edges, never a float (contract, ruling 9). */
export type PicoUsd = bigint;

export const picoPerUsd = 1_000_000_000_000n;

const decimal = /^(-)?(\d{1,15})(?:\.(\d{1,12}))?$/;

/** Reads a decimal amount such as `10.00` or `-0.000001`; undefined where the text is no exact amount of pico-dollars. */
export function parseUsd(text: string): PicoUsd | undefined {
  const match = decimal.exec(text);
  if (!match) return undefined;
  const [, minus, whole = '0', fraction = ''] = match;
  const pico = BigInt(whole) * picoPerUsd + BigInt(fraction.padEnd(12, '0'));
  return minus ? -pico : pico;
}

/** Prints an amount exactly, with no more decimals than it needs: `10`, `0.5`, `-0.000000000001`. */
export function usdText(pico: PicoUsd): string {
  const negative = pico < 0n;
  const absolute = negative ? -pico : pico;
  const whole = absolute / picoPerUsd;
  const fraction = (absolute % picoPerUsd).toString().padStart(12, '0').replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

/** The nearest JSON number of an amount, for the fields that the contract gives as numbers. */
export function usdNumber(pico: PicoUsd): number {
  return Number(usdText(pico));
}
