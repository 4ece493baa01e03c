/** Removes routes by their region. A `global` route has no region. */
import type { Route } from '../../catalogue/route.js';
import {
  anything,
  areListsSet,
  type Entries,
  listsPermit,
  listsRelaxation,
  listsSchema,
  readLists,
  readStoredLists,
  withoutAllow,
} from './allow-deny.js';
import type { Gate } from './gate.js';

const countryLength = 2;

const entries: Entries = {
  expected: 'locodes such as "defra" and ISO country codes such as "DE" ("global" is no region)',
  pattern: /^([A-Za-z0-9]{5}|[A-Za-z]{2})$/,
  normalise: (entry) => (entry.length === countryLength ? isoCountry(entry) : entry.toLowerCase()),
};

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
  name: 'regions',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of locodes and ISO country codes in any case; an empty `allow` restricts nothing',
  removes:
    'Routes whose locode and country are both not in `allow`, or one of which is in `deny`; a `global` route has no region, so any `allow` list removes it and no `deny` list does.',
  card: { title: 'Regions', description: 'Countries and locodes', control: { kind: 'lists', suggest: 'regions' } },
  schema: listsSchema(entries),
  read: (value, param = 'regions') => readLists(param, value, entries),
  readStored: readStoredLists,
  isSet: areListsSet,
  permits: (route, lists) => listsPermit(namesOf(route), lists),
  relaxationFor(route, lists) {
    const [narrowest, ...wider] = namesOf(route);
    if (narrowest !== undefined) return listsRelaxation([narrowest, ...wider], lists, 'the region');
    return { setting: withoutAllow(lists), how: 'emptying the allow list of regions, since a global route has none,' };
  },
};
