/** Settings of the gates that are on or off. */
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';

export function readSwitch(param: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected: 'true or false' });
}

/** A switch that cannot be read is on, so that it does not let through what its owner wants removed. */
export function readStoredSwitch(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

export const isSwitchOn = (isOn: boolean): boolean => isOn;

export const switchRelaxation = (name: string) => ({ setting: false, how: `switching ${name} off` });
