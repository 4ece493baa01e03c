/** Removes routes above a carbon intensity, and those that publish none. */
import { ceilingSchema, isCeilingSet, raised, readCeiling, storedCeiling } from './ceiling.js';
import type { Gate } from './gate.js';

const name = 'max_carbon';

export const maxCarbon: Gate<typeof name> = {
  name,
  defaultSetting: null,
  takes: 'gCO2e/kWh, a number of at least 0, or `null` for no ceiling',
  removes:
    'Routes whose carbon intensity is above the ceiling, and those with no published figure; a `global` route has only a figure of its own.',
  figure: { name: 'carbon figure', published: ({ carbon }) => carbon !== null },
  schema: ceilingSchema,
  read: (value) => readCeiling(name, value),
  stored: storedCeiling,
  isSet: isCeilingSet,
  permits: ({ carbon }, ceiling) => ceiling === null || (carbon !== null && carbon <= ceiling),
  relaxed: ({ carbon }) => raised(name, carbon),
};
