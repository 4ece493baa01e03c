/** A territory as far as it is known, and what it means for one to be on a list of ISO 3166 codes. */

export interface Territory {
  /** ISO 3166-1 alpha-2 in upper case; null = not known. */
  readonly country: string | null;
  /** ISO 3166-2 in upper case, such as `UA-43`; null = not known. */
  readonly subdivision: string | null;
}

export const unknownTerritory: Territory = Object.freeze({ country: null, subdivision: null });

/** ISO 3166-1 alpha-2, or ISO 3166-2. */
export const territoryCode = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/** Not assigned by ISO 3166: edges and databases write it where they do not know. */
const unknownCountry = 'XX';

/** The territory of a code in any case; unknown where it is no code, `XX`, or one for something else than a country (`T1`, Tor). */
export function territoryOfCode(text: string): Territory {
  const code = text.toUpperCase();
  if (!territoryCode.test(code)) return unknownTerritory;
  const country = code.slice(0, 2);
  if (country === unknownCountry) return unknownTerritory;
  return { country, subdivision: code.length > 2 ? code : null };
}

/**
 * The code of a list that the territory meets; null where it meets none. A country's code is met by all of its subdivisions,
 * a subdivision's code by itself alone, and nothing is met by what is not known.
 */
export function metCode(codes: ReadonlySet<string>, { country, subdivision }: Territory): string | null {
  if (country === null) return null;
  if (codes.has(country)) return country;
  return subdivision !== null && codes.has(subdivision) ? subdivision : null;
}

// Territories in words that a reader knows: `Cuba (CU)`, `Crimea (UA-43)`.

export class TerritoryNames {
  private countries: Intl.DisplayNames | null = null;

  /** Subdivisions by code; countries are known to the runtime. */
  constructor(private readonly subdivisions: ReadonlyMap<string, string>) {}

  /** `code` is well-formed ISO 3166-1 or -2. A subdivision without a name of its own goes by its country's. */
  of(code: string): string {
    const name = this.subdivisions.get(code) ?? this.countryName(code.slice(0, 2));
    return name === undefined ? code : `${name} (${code})`;
  }

  /** The finest that is known of a territory. */
  ofTerritory({ country, subdivision }: Territory): string {
    const code = subdivision ?? country;
    return code === null ? 'an unknown territory' : this.of(code);
  }

  private countryName(country: string): string | undefined {
    this.countries ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    return this.countries.of(country);
  }
}
