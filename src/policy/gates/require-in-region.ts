/** Removes routes whose provider does not promise that processing stays in their region. */
import type { Gate } from './gate.js';
import { isSwitchOn, readStoredSwitch, readSwitch, switchRelaxation } from './switch.js';

const name = 'require_in_region';

export const requireInRegion: Gate<typeof name> = {
  name,
  defaultSetting: false,
  takes: '`true` or `false`',
  removes:
    'Routes without the promise that processing stays in their region, and those for which none is published; a `global` route has no region, so it is removed.',
  card: {
    title: 'Processing',
    control: {
      kind: 'switch',
      label: 'Only in the region',
      hint: 'Removes routes whose provider does not promise that processing stays in their region.',
    },
  },
  schema: { type: 'boolean' },
  read: (value, param = name) => readSwitch(param, value),
  readStored: readStoredSwitch,
  isSet: isSwitchOn,
  permits: ({ locode, dataPolicy }, isRequired) =>
    !isRequired || (locode !== 'global' && dataPolicy?.in_region === true),
  relaxationFor: () => switchRelaxation(name),
};
