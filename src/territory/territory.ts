/** A caller's territory, how it matches lists of ISO 3166 codes, and the routes that providers' terms leave it. */
import type { Provider, Route } from '../catalogue/route.js';

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

/**
 * The first code of a list that applies to the territory; null where none does. A country's code applies to all of its
 * subdivisions, a subdivision's code only to itself, and no code applies to an unknown territory.
 */
export function metCode(codes: ReadonlySet<string>, { country, subdivision }: Territory): string | null {
  if (country === null) return null;
  if (codes.has(country)) return country;
  return subdivision !== null && codes.has(subdivision) ? subdivision : null;
}

/** Names territories for readers: `Cuba (CU)`, `Crimea (UA-43)`. */
export class TerritoryNames {
  private countries: Intl.DisplayNames | null = null;

  /** The names of subdivisions by code; the runtime knows the names of countries. */
  constructor(private readonly subdivisions: ReadonlyMap<string, string>) {}

  /** `code` is well-formed ISO 3166-1 or -2. A subdivision without a name gets its country's. */
  of(code: string): string {
    const name = this.subdivisions.get(code) ?? this.countryName(code.slice(0, 2));
    return name === undefined ? code : `${name} (${code})`;
  }

  /** The name of the smallest known part of a territory. */
  ofTerritory({ country, subdivision }: Territory): string {
    const code = subdivision ?? country;
    return code === null ? 'an unknown territory' : this.of(code);
  }

  private countryName(country: string): string | undefined {
    this.countries ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    return this.countries.of(country);
  }
}

interface FilteredRoutes {
  /** The same array as given, where nothing is excluded. */
  readonly permitted: readonly Route[];
  readonly excluded: readonly Route[];
}

const none: readonly Route[] = Object.freeze([]);
/** Providers live as long as their snapshot. */
const excludedCodes = new WeakMap<Provider, ReadonlySet<string>>();

/** A caller whose territory is unknown is permitted, as it is not sanctioned either. */
export function termsPermit(provider: Provider, territory: Territory): boolean {
  if (territory.country === null || provider.excludedTerritories.length === 0) return true;
  let codes = excludedCodes.get(provider);
  if (!codes) {
    codes = new Set(provider.excludedTerritories);
    excludedCodes.set(provider, codes);
  }
  return metCode(codes, territory) === null;
}

/** The filtered lists by territory. The same arrays are returned each time, so that rankings of them can be cached. */
const filteredLists = new WeakMap<readonly Route[], Map<string, FilteredRoutes>>();
const territoriesMax = 1000;

/** Removes the routes of providers whose terms exclude the territory. */
export function territoryFilter(routes: readonly Route[], territory: Territory): FilteredRoutes {
  const first = routes.findIndex(({ provider }) => !termsPermit(provider, territory));
  if (first < 0) return { permitted: routes, excluded: none };
  const code = territory.subdivision ?? territory.country ?? '';
  const known = filteredLists.get(routes) ?? new Map<string, FilteredRoutes>();
  const filtered = known.get(code) ?? filteredFrom(first, routes, territory);
  if (known.size < territoriesMax) filteredLists.set(routes, known.set(code, filtered));
  return filtered;
}

function filteredFrom(first: number, routes: readonly Route[], territory: Territory): FilteredRoutes {
  const permitted = routes.slice(0, first);
  const excluded: Route[] = [];
  for (const route of routes.slice(first)) (termsPermit(route.provider, territory) ? permitted : excluded).push(route);
  return { permitted, excluded };
}
