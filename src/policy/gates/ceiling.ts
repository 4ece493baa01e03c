/** Settings of the gates with a ceiling: a number of at least 0, or null for no ceiling. */
import type { JsonSchema } from '../../base/json-schema.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';

export type Ceiling = number | null;

export const ceilingSchema: JsonSchema = { type: ['number', 'null'], minimum: 0 };

export function readCeiling(param: string, value: unknown): number {
  if (typeof value !== 'number') {
    throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected: 'a number or null' });
  }
  if (value >= 0 && Number.isFinite(value)) return value;
  throw gatewayError('field_invalid', { param, reason: `is ${value}, but must be a finite number of at least 0` });
}

/** A ceiling that cannot be read becomes 0, so that it does not let through what its owner wants removed. */
export function readStoredCeiling(value: unknown): Ceiling {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' && value >= 0 ? value : 0;
}

export const isCeilingSet = (ceiling: Ceiling): boolean => ceiling !== null;

/** Raises the ceiling to the route's figure, or switches it off where the route publishes none. */
export function ceilingRelaxation(name: string, figure: number | null) {
  return figure === null
    ? { setting: null, how: `switching ${name} off` }
    : { setting: figure, how: `raising ${name} to ${figure}` };
}
