/** Removes routes of providers that are not, or may not be, owned in the EU. */
import type { Gate } from './gate.js';
import { isSwitchOn, readStoredSwitch, readSwitch, switchRelaxation } from './switch.js';

const name = 'require_eu_owned';

export const requireEuOwned: Gate<typeof name> = {
  name,
  defaultSetting: false,
  takes: '`true` or `false`',
  removes:
    'Routes of a provider whose headquarters or ultimate parent is not in the EU, and of one for which that is unknown.',
  card: {
    title: 'Ownership',
    control: {
      kind: 'switch',
      label: 'Only providers owned in the EU',
      hint: 'Removes providers with headquarters or parent outside the EU, and those of which it is not known.',
    },
  },
  schema: { type: 'boolean' },
  read: (value, param = name) => readSwitch(param, value),
  readStored: readStoredSwitch,
  isSet: isSwitchOn,
  permits: ({ dataPolicy }, isRequired) => !isRequired || dataPolicy?.eu_owned === true,
  relaxationFor: () => switchRelaxation(name),
};
