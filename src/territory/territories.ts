/** Finds out where a caller is, whether it may be served there, and by which providers. */

import { RecentMap } from '../base/collections.js';
import { peerAddress } from '../base/ip-address.js';
import type { Logger } from '../base/logger.js';
import { joinedHeader } from '../base/raw-header.js';
import type { Provider, Route } from '../catalogue/route.js';
import type { Config } from '../config/config.js';
import type { Account } from '../domain/account.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { forwardedAddress, ProxyTrust } from './caller-address.js';
import { type CountryDatabase, openCountryDatabase } from './country-database.js';
import { loadSanctioned, type Sanctioned } from './sanctioned.js';
import { type Territory, territoryOfCode, unknownTerritory } from './territory.js';

/** A lookup takes 3 µs. Up to twice this many addresses are cached. */
const originsMax = 8192;
const providersShown = 8;
const nothingHelps = 'No change to the request helps; if the territory is wrong, tell the operator the x-request-id.';

export interface Origin {
  /** The caller's address in canonical form; empty where the connection is already closed. */
  readonly address: string;
  readonly territory: Territory;
}

export interface TerritoryParts {
  readonly trust: ProxyTrust;
  /** In lower case. */
  readonly countryHeader: string | null;
  readonly database: (Pick<CountryDatabase, 'territoryOf'> & { readonly builtMs?: number | null }) | null;
  readonly sanctioned: Sanctioned;
}

/** A model that cannot be served, and to whom. */
interface ExcludedModel {
  /** As the caller wrote it. */
  readonly id: string;
  readonly kind: 'pin' | 'auto';
  readonly excluded: readonly Route[];
  readonly territory: Territory;
}

export class Territories {
  private readonly names: TerritoryNames;
  /** By the socket's text of an address and by its canonical form, which lead to the same origin. */
  private readonly origins = new RecentMap<Origin>(originsMax);

  constructor(private readonly parts: TerritoryParts) {
    this.names = new TerritoryNames(parts.sanctioned.names);
  }

  /** Loads the database and the list. Throws a ConfigFault where the operator's own file cannot be used. */
  static async open({ server, territories }: Pick<Config, 'server' | 'territories'>, logger: Logger) {
    const [database, sanctioned] = await Promise.all([
      openCountryDatabase(server.countryDatabase, logger),
      loadSanctioned(territories.sanctioned),
    ]);
    const trust = new ProxyTrust(server.trustedProxies, server.clientIpHeader);
    return new Territories({ trust, countryHeader: server.countryHeader, database, sanctioned });
  }

  /** When the country data in use was made; null where there is none, or where it does not say. */
  get countryDataBuiltMs(): number | null {
    return this.parts.database?.builtMs ?? null;
  }

  /**
   * The origin of a request, from its socket's peer and its flat list of header names and values. The list is read only where a
   * trusted proxy sent it, because making it costs something.
   */
  originOf(socketAddress: string | undefined, request: { readonly rawHeaders: readonly string[] }): Origin {
    const { trust } = this.parts;
    if (!trust.any) return this.originAt(socketAddress);
    const peer = peerAddress(socketAddress);
    if (!trust.trusts(peer)) return this.originAt(peer);
    const { rawHeaders } = request;
    const address = forwardedAddress(peer, rawHeaders, trust);
    const stated = this.statedTerritory(rawHeaders);
    return stated === null ? this.originAt(address) : { address, territory: stated };
  }

  /** `trustedHeaders` are the headers of a request from a trusted proxy; null for any other request. */
  territoryOf(address: string, trustedHeaders: readonly string[] | null): Territory {
    const stated = trustedHeaders === null ? null : this.statedTerritory(trustedHeaders);
    return stated ?? this.originAt(address).territory;
  }

  /** Runs on every endpoint. Throws 451. */
  checkCaller(territory: Territory): void {
    const code = metCode(this.parts.sanctioned.codes, territory);
    if (code === null) return;
    const reason = `This request comes from ${this.names.of(code)}, a sanctioned territory, where this service may not be provided. ${nothingHelps}`;
    throw gatewayError('unavailable_for_legal_reasons', { reason });
  }

  /** Runs on every request of the account. Throws 451. The country is in upper case, as the store keeps it. */
  checkBillingCountry({ billingCountry }: Pick<Account, 'billingCountry'>): void {
    if (billingCountry === null || !this.parts.sanctioned.codes.has(billingCountry)) return;
    const reason = `This account is suspended: its billing country is ${this.names.of(billingCountry)}, a sanctioned territory. No change to the request helps; if the country is wrong, ask the operator to correct it.`;
    throw gatewayError('unavailable_for_legal_reasons', { reason });
  }

  /** The error where no route is left because the terms of every provider exclude the caller's territory. */
  modelExcluded({ id, kind, excluded, territory }: ExcludedModel): GatewayError {
    const providers = [...new Set(excluded.map(({ provider }) => provider.id))];
    const callers = `callers in ${this.names.ofTerritory(territory)}`;
    const what = `"${id}" is not available to ${callers}: the terms of ${enumeration(providers)} exclude them.`;
    const canonicalId = excluded[0]?.model.canonicalId;
    const remedy =
      kind === 'pin' && canonicalId !== undefined
        ? `"auto/${canonicalId}" lets another provider serve the request where one may.`
        : 'Choose a model that another provider serves.';
    return gatewayError('unavailable_for_legal_reasons', { reason: `${what} ${remedy}`, param: 'model' });
  }

  /** null where the header is absent, so that the address decides. */
  private statedTerritory(trustedHeaders: readonly string[]): Territory | null {
    const { countryHeader } = this.parts;
    const header = countryHeader === null ? undefined : joinedHeader(trustedHeaders, countryHeader);
    if (header === undefined) return null;
    // A proxy may append its value to the caller's instead of replacing it: the last value is the proxy's.
    const value = header.slice(header.lastIndexOf(',') + 1).trim();
    return value === '' ? null : territoryOfCode(value);
  }

  private originAt(text: string | undefined): Origin {
    const key = text ?? '';
    const known = this.origins.get(key);
    if (known) return known;
    const address = peerAddress(key);
    const territory = address === '' ? unknownTerritory : this.parts.database?.territoryOf(address);
    const origin = { address, territory: territory ?? unknownTerritory };
    this.origins.set(key, origin);
    return origin;
  }
}

function enumeration(ids: readonly string[]): string {
  const shown = ids.slice(0, providersShown);
  if (ids.length > shown.length) return `${shown.join(', ')} and ${ids.length - shown.length} more`;
  return shown.length < 2 ? (shown[0] ?? 'its provider') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
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
