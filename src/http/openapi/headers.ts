/** The response headers of the API, as components of the document. */
import { exposedHeaders } from '../server/headers.js';
import { idPattern, text } from './schema.js';
import type { Header, Ref } from './types.js';

const duration = { pattern: '^(\\d+(\\.\\d+)?(ms|s|m|h))+$' };
const wholeNumber = { type: 'string', pattern: '^\\d+$' };

const budget = (what: 'requests' | 'tokens') => ({
  [`x-ratelimit-limit-${what}`]: header(`The ${what} a minute that the key may use.`, wholeNumber),
  [`x-ratelimit-remaining-${what}`]: header(`The ${what} left in this minute.`, wholeNumber),
  [`x-ratelimit-reset-${what}`]: header(
    `Time until the limit on ${what} resets: \`12ms\`, \`6s\`.`,
    text('', duration),
  ),
});

function header(description: string, { description: _, ...schema }: Header['schema'], required?: true): Header {
  return { description, ...(required && { required }), schema };
}

export const headers: Readonly<Record<string, Header>> = {
  'x-request-id': header(
    'The id of this request, on every answer and every error. Give it to the operator when you report a problem.',
    { type: 'string', ...idPattern('req') },
    true,
  ),
  'x-generation-id': header('The `id` of the answer, for `GET /v1/generation/{id}`.', {
    type: 'string',
    ...idPattern('gen'),
  }),
  'x-router-provider': header('The provider that served.', { type: 'string' }),
  'x-router-locode': header('The locode of the route that served.', { type: 'string' }),
  'x-router-overhead-ms': header('Milliseconds spent in Lodestone itself.', {
    type: 'string',
    pattern: '^\\d+\\.\\d+$',
  }),
  ...budget('requests'),
  ...budget('tokens'),
  'retry-after': header('Whole seconds to wait before the next try.', wholeNumber),
  allow: header('The methods that the path takes.', { type: 'string' }),
  etag: header('Changes with the content; send it back as `if-none-match`.', { type: 'string' }),
};

export const rateLimitHeaders = exposedHeaders.filter((name) => name.startsWith('x-ratelimit-'));

/** On a successful chat answer. */
export const routerHeaders = exposedHeaders.filter(
  (name) => name.startsWith('x-router-') || name === 'x-generation-id',
);

export function headerRefs(names: readonly string[]): Record<string, Ref> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
