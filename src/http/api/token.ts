/** `POST /v1/token`: exchanges the token of a workload for a key of a project (RFC 8693). It needs no key, and errors are those of RFC 6749. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ExchangeRequest } from '../../accounts/workloads/token-exchange.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { body, json, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { rawBody } from '../server/body.js';

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtType = 'urn:ietf:params:oauth:token-type:jwt';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const formType = 'application/x-www-form-urlencoded';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Errors have the form of RFC 6749 (5.2). */
    oauthErrors?: true;
  }
}

export function registerToken(app: FastifyInstance, { exchange }: HttpDeps): void {
  app.post('/v1/token', { config: { oauthErrors: true } }, async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    const { token, expiresInSeconds } = await exchange.exchange(request.origin.address, () => readExchange(request));
    return {
      ...{ access_token: token, issued_token_type: accessTokenType },
      ...{ token_type: 'Bearer', expires_in: expiresInSeconds },
    };
  });
}

/** The description may have printable ASCII only, without quotation marks and backslashes. */
export function oauthError({ row, status, message }: GatewayError) {
  const description = message
    .replaceAll('"', "'")
    .replaceAll('’', "'")
    .replaceAll('…', '...')
    .replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
  const isOwn = row.operations?.includes('exchangeToken') === true;
  return { error: status === 400 && !isOwn ? 'invalid_request' : row.code, error_description: description };
}

/** Throws exchange_request_invalid and exchange_grant_unsupported. Parameters that are not known are ignored. */
function readExchange(request: FastifyRequest): ExchangeRequest {
  const form = formOf(request);
  const grantType = required(form, 'grant_type');
  if (grantType !== exchangeGrant)
    throw gatewayError('exchange_grant_unsupported', { grantType: grantType.slice(0, 100) });
  const token = required(form, 'subject_token');
  const type = required(form, 'subject_token_type');
  if (type !== jwtType) throw invalid(`subject_token_type is "${type.slice(0, 100)}", but must be ${jwtType}`);
  const wanted = form.get('requested_token_type') || accessTokenType;
  if (wanted !== accessTokenType)
    throw invalid(`requested_token_type is "${wanted.slice(0, 100)}", but must be ${accessTokenType} or left out`);
  if (form.get('actor_token')) throw invalid('actor_token is not supported');
  return { projectId: required(form, 'audience'), token };
}

function formOf(request: FastifyRequest): URLSearchParams {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== formType) throw invalid(`it was not sent as ${formType}`);
  const body = rawBody(request);
  if (!isUtf8(body)) throw invalid('it is not valid UTF-8');
  return new URLSearchParams(body.toString('utf8'));
}

/** A parameter without a value counts as left out. */
function required(form: URLSearchParams, name: string): string {
  const values = form.getAll(name);
  if (values.length > 1) throw invalid(`${name} was sent more than once`);
  if (!values[0]) throw invalid(`${name} is missing`);
  return values[0];
}

const invalid = (reason: string): GatewayError => gatewayError('exchange_request_invalid', { reason });

const exchangeBody = record('TokenExchange', {
  grant_type: { const: exchangeGrant },
  subject_token: s.text('The JWT of the workload.'),
  subject_token_type: { const: jwtType },
  audience: s.text('The id of the project.', { minLength: 1 }),
  requested_token_type: s.optional({ const: accessTokenType }),
});
const exchangedToken = record('ExchangedToken', {
  access_token: s.text('A key of the project, in this answer and never again.', { pattern: '^sk-lr-' }),
  issued_token_type: { const: accessTokenType },
  token_type: { const: 'Bearer' },
  expires_in: s.integer('After how many seconds the key ends.', { minimum: 1, maximum: 3600 }),
});
const tokenError = record('TokenError', {
  error: s.text('As in RFC 6749 (5.2) and RFC 8693.'),
  error_description: s.text('For people, in ASCII.'),
});
const example = {
  ...{ grant_type: exchangeGrant, subject_token_type: jwtType },
  ...{ subject_token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.YQ', audience: 'proj-01jb2m6q7r8s9t0v1w2x3y4z5a' },
};

const about = 'Keys for programs that have no secret, but a token of an issuer that a project trusts.';
export const tokenResource = resource('Tokens of workloads', about, 'open', {
  'POST /v1/token': operation('exchangeToken', 'Exchange a token for a key', {
    description:
      'RFC 8693, as a form. The JWT has to be of an issuer and for a subject that `trust` of the project names. The key ends after an hour, or with the JWT. A JWT is exchanged at most 20 times.',
    body: { ...body(exchangeBody, { github: ['A token of GitHub Actions', example] }), type: formType },
    errors: tokenError,
    answers: json('The key.', exchangedToken),
  }),
});
