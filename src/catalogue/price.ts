/** Prices without floats: USD per million tokens as text, pico-dollars a token as an integer (contract 3, ruling 9). */
const decimal = /^(\d{1,9})(?:\.(\d+))?$/;
const decimalsMax = 6;

export const priceExpected = 'USD per million tokens as a decimal such as 0.60, not negative, with at most 6 decimals';

/** One USD per million tokens is 10⁶ pico-dollars a token, so six decimals are exact; undefined where the text is no such price. */
export function picoPerToken(text: string): bigint | undefined {
  const match = decimal.exec(text);
  if (!match) return undefined;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimalsMax) return undefined;
  return BigInt(match[1]!) * 1_000_000n + BigInt(fraction.padEnd(decimalsMax, '0'));
}
