/** Reads what clients of OpenRouter send to make or change a key, in the words of `/v1/keys`. */

type Fields = Record<string, unknown>;
const resetOf = (value: unknown) => value ?? 'never';

/** A field that stands beside its own name here stays, and is refused by it. */
export function keyBody(
  { limit, expires_at: expiresAt, include_byok_in_limit: byok, ...rest }: Fields,
  countsOwn: boolean,
): Fields {
  const isIn = (field: string) => Object.hasOwn(rest, field);
  return {
    ...rest,
    ...(isIn('limit_reset') && { limit_reset: resetOf(rest.limit_reset) }),
    ...(limit !== undefined && (isIn('limit_usd') ? { limit } : { limit_usd: usdTextOf(limit) })),
    ...(expiresAt !== undefined && (isIn('expires') ? { expires_at: expiresAt } : { expires: resetOf(expiresAt) })),
    // Whether requests with the customer's own credential count is the account's to say. `false` is OpenRouter's default.
    ...(byok !== undefined && byok !== false && byok !== null && byok !== countsOwn && { include_byok_in_limit: byok }),
  };
}

/** The shortest decimal text of a number. */
function usdTextOf(limit: unknown): unknown {
  if (typeof limit !== 'number' || !/e/.test(String(limit))) return typeof limit === 'number' ? String(limit) : limit;
  return limit < 1 ? limit.toFixed(12).replace(/0+$/, '') : limit.toString();
}
