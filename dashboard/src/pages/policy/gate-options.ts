/** What the lists of the policy may hold, taken from the catalogue. */
import type { Catalogue } from '../../api/types.js';
import type { Suggestion } from '../../components/combobox.js';

interface Options {
  suggestions: Suggestion[];
  show: (value: string) => string;
}

export function gateOptions({
  providers,
  regions,
  data,
}: Catalogue): Record<'providers' | 'creators' | 'regions', Options> {
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
    },
    creators: { suggestions: creators.map((value) => ({ value })), show: (value) => value },
    regions: {
      suggestions: [
        ...countries.map((value) => ({ value, hint: 'country' })),
        ...regions.map(({ locode, city, country }) => ({ value: locode, hint: `${city}, ${country}` })),
      ],
      show: withName(cities),
    },
  };
}

/** Country codes are written in upper case, locodes in lower case. */
export const regionValue = (text: string) => (text.length === 2 ? text.toUpperCase() : text.toLowerCase());
