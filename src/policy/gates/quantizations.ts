/** Removes routes that serve weights of another precision than the listed ones. */
import { quantizationNames } from '../../base/data-policy.js';
import type { Gate } from './gate.js';
import { areNamesSet, namesSchema, noNames, readNames, readStoredNames } from './name-list.js';

const name = 'quantizations';

export const quantizations: Gate<typeof name> = {
  name,
  defaultSetting: noNames,
  takes: `a list of ${quantizationNames.map((one) => `\`${one}\``).join(', ')}; an empty list restricts nothing`,
  removes: 'Routes whose quantization is not in the list, and those for which none is published.',
  card: {
    title: 'Quantization',
    description: 'With a list, routes without a published quantization are removed.',
    control: { kind: 'choices', label: 'Only these', options: quantizationNames },
  },
  schema: namesSchema(quantizationNames),
  read: (value, param = name) => readNames(param, value, quantizationNames),
  readStored: readStoredNames,
  isSet: areNamesSet,
  permits: ({ quantization }, allowed) =>
    allowed.length === 0 || (quantization !== undefined && allowed.includes(quantization)),
  relaxationFor: ({ quantization }, allowed) =>
    quantization === undefined
      ? { setting: noNames, how: 'emptying quantizations' }
      : { setting: [...allowed, quantization], how: `allowing the quantization ${quantization}` },
};
