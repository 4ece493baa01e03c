/** A territory, and how it is read from a code of ISO 3166. */

export interface Territory {
  /** ISO 3166-1 alpha-2 in upper case; null where it is unknown. */
  readonly country: string | null;
  /** ISO 3166-2 in upper case, such as `UA-43`; null where it is unknown. */
  readonly subdivision: string | null;
}

export const unknownTerritory: Territory = Object.freeze({ country: null, subdivision: null });

/** ISO 3166-1 alpha-2, or ISO 3166-2. */
export const territoryCode = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/** Not assigned by ISO 3166. Proxies and databases write it for an unknown country. */
const unknownCountry = 'XX';

/**
 * The territory of a code in any case; unknown where the text is not a code, is `XX`, or is a code for no country (`T1`,
 * Tor).
 */
export function territoryOfCode(text: string): Territory {
  const code = text.toUpperCase();
  if (!territoryCode.test(code)) return unknownTerritory;
  const country = code.slice(0, 2);
  if (country === unknownCountry) return unknownTerritory;
  return { country, subdivision: code.length > 2 ? code : null };
}
