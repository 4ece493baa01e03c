/** The errors of the exchange of tokens, whose codes RFC 6749 (5.2) and RFC 8693 fix. */
import { errorRows, row } from './row.js';

const operations = ['exchangeToken'];

export const workloadErrors = errorRows({
  exchange_request_invalid: row<{ reason: string }>({
    status: 400,
    code: 'invalid_request',
    when: 'A request to `/v1/token` lacks a parameter, sends one twice or in another form, or its `subject_token` is no JWT.',
    remedy: 'Correct the request as the message says.',
    operations,
    message: ({ reason }) => `The request cannot be read: ${reason}.`,
  }),
  exchange_grant_unsupported: row<{ grantType: string }>({
    status: 400,
    code: 'unsupported_grant_type',
    when: 'The `grant_type` at `/v1/token` is not that of a token exchange.',
    remedy: 'Send `urn:ietf:params:oauth:grant-type:token-exchange`.',
    operations,
    message: ({ grantType }) =>
      `The grant_type is "${grantType}", and only urn:ietf:params:oauth:grant-type:token-exchange is supported.`,
  }),
  exchange_grant_invalid: row<{ reason: string }>({
    status: 400,
    code: 'invalid_grant',
    when: 'The signature or the times of the `subject_token` do not hold, no entry of the project’s `trust` admits it, or it was exchanged 20 times.',
    remedy: 'Get a new token for the audience that the message names, or correct `trust`.',
    operations,
    message: ({ reason }) => `The subject_token ${reason}.`,
  }),
  exchange_target_invalid: row({
    status: 400,
    code: 'invalid_target',
    when: 'The `audience` at `/v1/token` is no project that trusts an issuer.',
    remedy: 'Send the id of a project (`proj-…`) whose `trust` has an entry.',
    operations,
    message: () => 'The audience is not the id of a project that trusts an issuer.',
  }),
  exchange_issuer_away: row({
    status: 503,
    type: 'provider_unavailable',
    code: 'temporarily_unavailable',
    retryAfter: true,
    when: 'The keys of the issuer of the `subject_token` cannot be read.',
    remedy: 'Try again after the time in `Retry-After`.',
    operations,
    message: () => 'The keys of the issuer of the subject_token cannot be read now. Try again later.',
  }),
  exchange_rate_limited: row<{ what: string; limit: number; seconds: number }>({
    status: 429,
    type: 'invalid_request_error',
    code: 'rate_limit_exceeded',
    retryAfter: true,
    when: 'A project has exchanged 30 tokens within a minute, or 60 exchanges of an address have failed.',
    remedy: 'Wait for the time in `Retry-After`; use a key until it ends.',
    operations,
    message: ({ what, limit, seconds }) =>
      `The ${what} are limited to ${limit} a minute. Try again in ${seconds} seconds.`,
  }),
});
