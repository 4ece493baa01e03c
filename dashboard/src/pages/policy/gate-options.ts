/** Suggestions for the lists of a policy, from the catalogue. */
import type { Catalogue } from '../../api/types.js';
import type { Suggestion } from '../../components/combobox.js';

export interface Options {
  suggestions: Suggestion[];
  /** How a value is shown. */
  show: (value: string) => string;
  /** From what was typed to a value. */
  read: (text: string) => string;
}

const same = (text: string) => text;

/** For a list that the catalogue has no suggestions for. */
export const noOptions: Options = { suggestions: [], show: same, read: same };

/** By the name that a gate's description gives for its suggestions. */
export function gateOptions({ providers, regions, data }: Catalogue): Record<string, Options> {
  const providerNames = new Map(providers.map(({ id, name }) => [id, name]));
  const cities = new Map(regions.map(({ locode, city }) => [locode, city]));
  const countries = [...new Set(regions.map(({ country }) => country))].sort();
  const creators = [...new Set(data.map(({ creator }) => creator))].sort();
  const withName = (names: Map<string, string>) => (value: string) => {
    const name = names.get(value);
    return name === undefined || name === value ? value : `${name} (${value})`;
  };
  return {
    providers: {
      suggestions: providers.map(({ id, name }) => ({ value: id, hint: name })),
      show: withName(providerNames),
      read: same,
    },
    creators: { suggestions: creators.map((value) => ({ value })), show: same, read: same },
    regions: {
      suggestions: [
        ...countries.map((value) => ({ value, hint: 'country' })),
        ...regions.map(({ locode, city, country }) => ({ value: locode, hint: `${city}, ${country}` })),
      ],
      show: withName(cities),
      read: regionValue,
    },
  };
}

/** Country codes are written in upper case, locodes in lower case. */
const regionValue = (text: string) => (text.length === 2 ? text.toUpperCase() : text.toLowerCase());
