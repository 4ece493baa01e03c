/** Removes routes of providers that are, or may be, subject to the US CLOUD Act. */
import type { Gate } from './gate.js';
import { isSwitchOn, readStoredSwitch, readSwitch, switchRelaxation } from './switch.js';

export const denyCloudAct: Gate<'deny_cloud_act'> = {
  name: 'deny_cloud_act',
  defaultSetting: false,
  takes: '`true` or `false`',
  removes: 'Routes of a provider that is subject to the US CLOUD Act, and of one for which that is unknown.',
  card: {
    title: 'Jurisdiction',
    control: {
      kind: 'switch',
      label: 'Deny CLOUD Act providers',
      hint: 'Removes providers under the US CLOUD Act, and those of which it is not known.',
    },
  },
  schema: { type: 'boolean' },
  read: (value, param = 'deny_cloud_act') => readSwitch(param, value),
  readStored: readStoredSwitch,
  isSet: isSwitchOn,
  permits: ({ provider }, denied) => !denied || provider.cloudAct === false,
  relaxationFor: () => switchRelaxation('deny_cloud_act'),
};
