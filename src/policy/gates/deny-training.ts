/** Removes routes of providers that train on requests, or may do so. */
import type { Gate } from './gate.js';
import { isSwitchOn, readStoredSwitch, readSwitch, switchRelaxation } from './switch.js';

const name = 'deny_training';

export const denyTraining: Gate<typeof name> = {
  name,
  defaultSetting: false,
  takes: '`true` or `false`',
  removes: 'Routes that use paid requests for training, and those for which that is not published.',
  card: {
    title: 'Training',
    control: {
      kind: 'switch',
      label: 'Deny training',
      hint: 'Removes routes that train on requests, and those that do not publish whether they do.',
    },
  },
  schema: { type: 'boolean' },
  read: (value, param = name) => readSwitch(param, value),
  readStored: readStoredSwitch,
  isSet: isSwitchOn,
  permits: ({ dataPolicy }, isDenied) => !isDenied || dataPolicy?.trains === false,
  relaxationFor: () => switchRelaxation(name),
};
