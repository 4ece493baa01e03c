/** Recognises a body that was sent to the wrong door by a field that only another API has. */
import { gatewayError } from '../errors/gateway-error.js';
import type { Fields } from './body.js';

/** Fields that begin a request of an API, and the paths where they belong. */
const fieldsOf: readonly (readonly [field: string, paths: string])[] = [
  ['input', '/v1/responses and /v1/embeddings'],
  ['messages', '/v1/chat/completions and /v1/messages'],
  ['documents', '/v1/rerank'],
];

/** Throws where the request has the beginning of another API in place of its own field, which is what it lacks and `param` names. */
export function checkDoor(fields: Fields, own: string): void {
  if (fields[own] !== undefined) return;
  for (const [field, paths] of fieldsOf) {
    if (field !== own && fields[field] !== undefined) throw gatewayError('wrong_door', { param: own, field, paths });
  }
}
