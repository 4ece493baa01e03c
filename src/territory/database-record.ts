/** The territory in a record of a country database, whichever of the usual shapes the record has. */
import { type Territory, territoryOfCode, unknownTerritory } from './territory.js';

/**
 * `{country_code}` (ip-location-db), `{country: {iso_code}, subdivisions: [{iso_code}]}` (MaxMind, DB-IP), `{country}` with a
 * code (IPinfo). Of several subdivisions the first is the largest, and it is the one that ISO 3166-2 codes.
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
