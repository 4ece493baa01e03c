/** The headers of a call that shows a key, each dialect's own way. Only our own headers go to a provider (failure case H6). */
import type { Dialect, Provider } from '../../catalogue/route.js';

/** What every call has. */
export function plainHeaders(dialect: Dialect): string[] {
  return [
    'content-type',
    'application/json',
    'accept',
    // Converse frames its streams in its own way.
    dialect === 'bedrock' ? '*/*' : 'application/json, text/event-stream',
    'accept-encoding',
    'identity',
    'user-agent',
    'lodestone',
    ...(dialect === 'anthropic' ? ['anthropic-version', '2023-06-01'] : []),
  ];
}

export function keyHeaders({ dialect, apiKey }: Pick<Provider, 'dialect' | 'apiKey'>): string[] {
  return apiKey === null ? plainHeaders(dialect) : [...plainHeaders(dialect), ...keyHeader(dialect, apiKey)];
}

/** Tokens of Entra and of Google, which are shown as bearers where a key is not. */
const entraToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const googleToken = /^ya29\./;

function keyHeader(dialect: Dialect, key: string): [name: string, value: string] {
  switch (dialect) {
    case 'anthropic':
      return ['x-api-key', key];
    case 'azure':
      return entraToken.test(key) ? bearer(key) : ['api-key', key];
    case 'gemini':
      // Never in the query, where it would end up in logs (wire 4).
      return googleToken.test(key) ? bearer(key) : ['x-goog-api-key', key];
    default:
      return bearer(key);
  }
}

function bearer(token: string): [name: string, value: string] {
  return ['authorization', `Bearer ${token}`];
}
