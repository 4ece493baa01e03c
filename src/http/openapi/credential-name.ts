/** Describes whose credential a provider was called with. */
import { object, oneOfValues, textOrNull } from './schema.js';
import type { Schema } from './types.js';

export function credentialName(description: string, more: Partial<Schema> = {}): Schema {
  return object(
    {
      id: textOrNull('The id of the customer’s own credential; null for the operator’s.'),
      owner: oneOfValues(['project', 'account', 'operator'], 'Whose credential it is.'),
    },
    { description, ...more },
  );
}
