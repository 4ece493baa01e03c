/** Describes the exchange of tokens of workloads for keys. */
import { accessTokenType, exchangeGrant, formType, jwtType } from '../../api/token.js';
import { json, type Resource } from '../operations.js';
import { integer, object, ref, text } from '../schema.js';
import type { Schema } from '../types.js';

const tag = {
  name: 'Tokens of workloads',
  description: 'Keys for programs that have no secret, but a token of an issuer that a project trusts.',
};

export const token: Resource = {
  tag,
  schemas: {
    TokenExchange: object(
      {
        grant_type: { const: exchangeGrant },
        subject_token: text('The JWT of the workload.'),
        subject_token_type: { const: jwtType },
        audience: text('The id of the project.', { minLength: 1 }),
        requested_token_type: { const: accessTokenType },
      },
      { optional: ['requested_token_type'] },
    ),
    ExchangedToken: object({
      access_token: text('A key of the project, in this answer and never again.', { pattern: '^sk-lr-' }),
      issued_token_type: { const: accessTokenType },
      token_type: { const: 'Bearer' },
      expires_in: integer('After how many seconds the key ends.', { minimum: 1, maximum: 3600 }),
    }),
    TokenError: object({
      error: text('As in RFC 6749 (5.2) and RFC 8693.'),
      error_description: text('For people, in ASCII.'),
    }),
  },
  access: 'open',
  operations: {
    'POST /v1/token': {
      id: 'exchangeToken',
      summary: 'Exchange a token for a key',
      description:
        'RFC 8693, as a form. The JWT has to be of an issuer and for a subject that `trust` of the project names. The key ends after an hour, or with the JWT. A JWT is exchanged at most 20 times.',
      body: {
        ...{ type: formType, schema: ref('TokenExchange') },
        examples: {
          github: {
            summary: 'A token of GitHub Actions',
            value: {
              ...{ grant_type: exchangeGrant, subject_token_type: jwtType },
              ...{
                subject_token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.YQ',
                audience: 'proj-01jb2m6q7r8s9t0v1w2x3y4z5a',
              },
            },
          },
        },
      },
      errors: ref('TokenError') as unknown as Schema,
      answers: { '200': json('The key.', ref('ExchangedToken')) },
    },
  },
};
