/** Removes routes that lack one of the required certifications. */
import { type Certification, certificationNames } from '../../base/data-policy.js';
import type { Route } from '../../catalogue/route.js';
import type { Gate } from './gate.js';
import { areNamesSet, namesSchema, noNames, readNames, readStoredNames } from './name-list.js';

const name = 'certifications';

export const certifications: Gate<typeof name> = {
  name,
  defaultSetting: noNames,
  takes: `a list of ${certificationNames.map((one) => `\`${one}\``).join(', ')}; an empty list restricts nothing`,
  removes: 'Routes that do not have all of them; one whose certifications are not published has none.',
  card: {
    title: 'Certifications',
    description: 'A route needs all of them.',
    control: { kind: 'choices', label: 'Required', options: certificationNames },
  },
  schema: namesSchema(certificationNames),
  read: (value, param = name) => readNames(param, value, certificationNames),
  readStored: readStoredNames,
  isSet: areNamesSet,
  permits: (route, required) => missingOf(route, required).length === 0,
  relaxationFor(route, required) {
    const missing = missingOf(route, required);
    const kept = required.filter((one) => !missing.includes(one));
    return { setting: kept, how: `no longer requiring ${missing.join(' and ')}` };
  },
};

function missingOf({ dataPolicy }: Route, required: readonly Certification[]): Certification[] {
  const held = dataPolicy?.certifications ?? noNames;
  return required.filter((one) => !held.includes(one));
}
