/** What is Google's whatever the dialect: the addresses of Vertex AI, and the header of a key. */
import { bearerHeader } from '../dialect.js';

const vertexAddress = /^https?:\/\/[^/]*\baiplatform\b/i;

export function isVertex(baseUrl: string): boolean {
  return vertexAddress.test(baseUrl);
}

/** OAuth tokens of Google are sent as bearer tokens, API keys are not. */
const googleToken = /^ya29\./;

/** Never in the query, where proxies would log the key. */
export function googleKeyHeader(key: string): [name: string, value: string] {
  return googleToken.test(key) ? bearerHeader(key) : ['x-goog-api-key', key];
}
