/** Removes routes of providers that are, or may be, subject to the US CLOUD Act. */
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';
import type { Gate } from './gate.js';

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
  read(value) {
    if (typeof value === 'boolean') return value;
    throw gatewayError('field_type', {
      param: 'deny_cloud_act',
      found: shown(value, 'utf8'),
      expected: 'true or false',
    });
  },
  readStored: (value) => value !== undefined && value !== null && value !== false,
  isSet: (denied) => denied,
  permits: ({ provider }, denied) => !denied || provider.cloudAct === false,
  relaxationFor: () => ({ setting: false, how: 'switching deny_cloud_act off' }),
};
