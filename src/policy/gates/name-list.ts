/** Settings of the gates with one list of known names; an empty list restricts nothing. */
import type { JsonSchema } from '../../base/json-schema.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';

export const noNames: readonly never[] = Object.freeze([]);

export function namesSchema(known: readonly string[]): JsonSchema {
  return { type: 'array', items: { type: 'string', enum: [...known] } };
}

/** Each name once, in the order in which they were sent. */
export function readNames<Name extends string>(param: string, value: unknown, known: readonly Name[]): readonly Name[] {
  const expected = `an array of ${known.join(', ')}`;
  if (!Array.isArray(value)) throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected });
  const names = new Set<Name>();
  value.forEach((entry: unknown, index) => {
    const name = known.find((one) => one === entry);
    if (name === undefined) {
      const found = `an array whose entry ${index} is ${shown(entry, 'utf8')}`;
      throw gatewayError('field_type', { param, found, expected });
    }
    names.add(name);
  });
  return names.size === 0 ? noNames : Object.freeze([...names]);
}

/** Stored names stay, also those that nothing has. A list that cannot be read holds only a name that no route has. */
export function readStoredNames<Name extends string>(value: unknown): readonly Name[] {
  if (value === undefined || value === null) return noNames;
  const isRead = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  const names = isRead ? (value as Name[]) : (['unreadable'] as unknown as Name[]);
  return names.length === 0 ? noNames : Object.freeze([...names]);
}

export const areNamesSet = (names: readonly string[]): boolean => names.length > 0;
