/** What a request can ask its routes to be ranked by. */
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import type { Preference } from './routing-policy.js';

export const requestSorts = ['price', 'latency', 'throughput', 'carbon'] as const satisfies readonly Preference[];

export function readOneOf(known: readonly string[], value: unknown, param: string): string {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected: `one of ${known.join(', ')}` });
}
