/** Removes routes by their region. A `global` route has no region. */
import type { Route } from '../../catalogue/route.js';
import { listsGate } from './allow-deny.js';
import type { Gate } from './gate.js';

const countryLength = 2;

/** Maps common codes to the ISO code: a deny list with `UK` must remove `GB`. */
function isoCountry(code: string): string {
  return new Intl.Locale(`und-${code}`).region ?? code.toUpperCase();
}

/** The narrower name first. */
function namesOf({ locode, country }: Route): string[] {
  if (locode === 'global') return [];
  return country === null ? [locode] : [locode, country];
}

export const regions: Gate<'regions'> = {
  ...listsGate('regions', {
    entries: {
      expected: 'locodes such as "defra" and ISO country codes such as "DE" ("global" is no region)',
      pattern: /^([A-Za-z0-9]{5}|[A-Za-z]{2})$/,
      normalise: (entry) => (entry.length === countryLength ? isoCountry(entry) : entry.toLowerCase()),
    },
    namesOf,
    what: 'the region',
    nameless: 'emptying the allow list of regions, since a global route has none,',
  }),
  takes: '`allow` and `deny`, lists of locodes and ISO country codes in any case; an empty `allow` restricts nothing',
  removes:
    'Routes whose locode and country are both not in `allow`, or one of which is in `deny`; a `global` route has no region, so any `allow` list removes it and no `deny` list does.',
  card: { title: 'Regions', description: 'Countries or cities', control: { kind: 'lists', suggest: 'regions' } },
};
