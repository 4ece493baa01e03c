/**
 * Looks up the country of an address in a MaxMind DB file: the bundled one, or the operator's own
 * (`server.country_database`).
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Reader, type Response } from 'mmdb-lib';
import { embeddedIpv4, isPlaceless } from '../base/ip-address.js';
import type { Logger } from '../base/logger.js';
import { ConfigFault } from '../config/config-fault.js';
import { type Territory, territoryOfCode, unknownTerritory } from './territory.js';

const bundledFile = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';
/** The separator between the search tree and the data. */
const separatorBytes = 16;

export class CountryDatabase {
  private readonly reader: Reader<Response>;
  private failed = false;

  /** Throws where the bytes are not a MaxMind DB. */
  constructor(
    bytes: Buffer,
    private readonly logger: Logger,
  ) {
    this.reader = new Reader(bytes);
    const { nodeCount, ipVersion, searchTreeSize } = this.reader.metadata;
    const sound = nodeCount > 0 && (ipVersion === 4 || ipVersion === 6);
    if (!sound || !(searchTreeSize + separatorBytes < bytes.length)) throw new Error('the file is damaged');
  }

  /** When the file was made; null where it does not say. */
  get builtMs(): number | null {
    const ms = Number(this.reader.metadata.buildEpoch);
    return ms > 0 ? ms : null;
  }

  /** `address` in its canonical form. */
  territoryOf(address: string): Territory {
    const key = embeddedIpv4(address) ?? address;
    if (isPlaceless(key)) return unknownTerritory;
    // In a tree of IPv4 addresses, the first bits of an IPv6 address would find an unrelated network.
    if (key.includes(':') && this.reader.metadata.ipVersion === 4) return unknownTerritory;
    try {
      return recordTerritory(this.reader.get(key));
    } catch (error) {
      if (!this.failed) this.logger.error({ error: String(error) }, 'the country database is damaged');
      this.failed = true;
      return unknownTerritory;
    }
  }
}

/** Opens the operator's own file, which must be readable, or else the bundled one. */
export async function openCountryDatabase(path: string | null, logger: Logger): Promise<CountryDatabase | null> {
  return path === null ? openBundled(logger) : openOwn(path, logger);
}

async function openOwn(path: string, logger: Logger): Promise<CountryDatabase> {
  const fault = (what: string) => new ConfigFault([`server.country_database: found ${JSON.stringify(path)}, ${what}`]);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw fault(`which cannot be read (${error.code ?? error.message})`);
  });
  try {
    return new CountryDatabase(bytes, logger);
  } catch (error) {
    throw fault(`expected a MaxMind DB file (.mmdb): ${(error as Error).message}`);
  }
}

/** The service runs without the database, but the operator must know that addresses then have no country. */
export async function openBundled(logger: Logger, file = bundledFile): Promise<CountryDatabase | null> {
  try {
    return new CountryDatabase(await readFile(createRequire(import.meta.url).resolve(file)), logger);
  } catch (error) {
    logger.warn(
      { error: String(error) },
      'the bundled country database cannot be read: no address has a country; set server.country_database',
    );
    return null;
  }
}

/**
 * Reads the territory from a record of any of the usual shapes: `{country_code}` (ip-location-db), `{country: {iso_code},
 * subdivisions: [{iso_code}]}` (MaxMind, DB-IP), `{country}` with a code (IPinfo). The first of several subdivisions is the
 * largest and the one that ISO 3166-2 codes.
 */
export function recordTerritory(record: unknown): Territory {
  const country = countryCode(record);
  if (country === null) return unknownTerritory;
  const subdivisions = member(record, 'subdivisions');
  const subdivision = Array.isArray(subdivisions) ? member(subdivisions[0], 'iso_code') : undefined;
  if (typeof subdivision !== 'string') return territoryOfCode(country);
  const finer = territoryOfCode(subdivision.includes('-') ? subdivision : `${country}-${subdivision}`);
  return finer.country === country.toUpperCase() ? finer : territoryOfCode(country);
}

function countryCode(record: unknown): string | null {
  const country = member(record, 'country');
  for (const code of [member(country, 'iso_code'), member(record, 'country_code'), country]) {
    if (typeof code === 'string' && code.length === 2) return code;
  }
  return null;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
