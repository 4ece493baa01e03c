/** Removes routes above a carbon intensity and routes without a published figure. */
import { ceilingRelaxation, ceilingSchema, isCeilingSet, readCeiling, readStoredCeiling } from './ceiling.js';
import type { Gate } from './gate.js';

const name = 'max_carbon';

export const maxCarbon: Gate<typeof name> = {
  name,
  defaultSetting: null,
  takes: 'gCO2e/kWh, a number of at least 0, or `null` for no ceiling',
  removes:
    'Routes whose carbon intensity is above the ceiling, and those with no published figure; a `global` route has only a figure of its own.',
  card: {
    title: 'Carbon',
    description: 'In gCO₂e/kWh. With a ceiling, routes without a published figure are removed.',
    control: { kind: 'ceiling', label: 'Highest grid intensity' },
  },
  figure: { name: 'carbon figure', published: ({ carbon }) => carbon !== null },
  schema: ceilingSchema,
  read: (value, param = name) => readCeiling(param, value),
  readStored: readStoredCeiling,
  isSet: isCeilingSet,
  permits: ({ carbon }, ceiling) => ceiling === null || (carbon !== null && carbon <= ceiling),
  relaxationFor: ({ carbon }) => ceilingRelaxation(name, carbon),
};
