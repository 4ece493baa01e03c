/** Removes routes that keep prompts or answers for too long, and those that do not publish for how long. */
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { ceilingRelaxation, isCeilingSet, readCeiling, readStoredCeiling } from './ceiling.js';
import type { Gate } from './gate.js';

const name = 'max_retention_days';

export const maxRetentionDays: Gate<typeof name> = {
  name,
  defaultSetting: null,
  takes: 'days, a whole number of at least 0, or `null` for no ceiling; 0 allows only routes that keep nothing',
  removes: 'Routes that keep prompts or answers for longer, and those for which no retention is published.',
  card: {
    title: 'Retention',
    description:
      'In days; 0 means that nothing is kept. With a ceiling, routes without a published figure are removed.',
    control: { kind: 'ceiling', label: 'Longest retention' },
  },
  figure: { name: 'retention', published: (route) => daysOf(route) !== null },
  schema: { type: ['integer', 'null'], minimum: 0 },
  read(value, param = name) {
    const days = readCeiling(param, value);
    if (Number.isInteger(days)) return days;
    throw gatewayError('field_invalid', { param, reason: `is ${days}, but must be a whole number of days` });
  },
  readStored: readStoredCeiling,
  isSet: isCeilingSet,
  permits(route, ceiling) {
    const days = daysOf(route);
    return ceiling === null || (days !== null && days <= ceiling);
  },
  relaxationFor: (route) => ceilingRelaxation(name, daysOf(route)),
};

function daysOf({ dataPolicy }: Route): number | null {
  return dataPolicy?.retention_days ?? null;
}
