import { describe, expect, it } from 'vitest';
import { envelopeOf, headersOf } from './envelope.js';
import { type Condition, errorTable } from './error-table.js';
import { GatewayError, gatewayError } from './gateway-error.js';

/** The public contract of the API's errors, written down a second time: status, type, code, param. */
const specified: [Condition, number, string, string | undefined, string | undefined][] = [
  ['authorization_missing', 401, 'authentication_error', 'authentication_error', undefined],
  ['api_key_not_registered', 401, 'authentication_error', 'api_key_not_registered', undefined],
  ['api_key_malformed', 401, 'authentication_error', 'api_key_malformed', undefined],
  ['api_key_expired', 401, 'authentication_error', 'api_key_expired', undefined],
  ['api_key_disabled', 401, 'authentication_error', 'api_key_disabled', undefined],
  ['key_limit_exceeded', 402, 'invalid_request_error', 'key_limit_exceeded', undefined],
  ['key_scope', 403, 'permission_error', 'key_scope', 'model'],
  ['key_kind_scope', 403, 'permission_error', 'key_scope', 'model'],
  ['key_address_scope', 403, 'permission_error', 'key_scope', undefined],
  ['management_key_required', 403, 'permission_error', 'management_key_required', undefined],
  ['restricted_key', 403, 'permission_error', 'management_key_required', undefined],
  ['key_field_invalid', 422, 'invalid_request_error', 'invalid_request_error', 'given'],
  ['insufficient_credits', 402, 'invalid_request_error', 'insufficient_credits', undefined],
  ['messages_missing', 400, 'invalid_request_error', 'invalid_request_error', 'messages'],
  ['model_id_shape', 400, 'invalid_request_error', 'invalid_request_error', 'model'],
  ['parameter_out_of_range', 400, 'invalid_request_error', 'invalid_request_error', 'given'],
  ['role_not_allowed', 400, 'invalid_request_error', 'invalid_request_error', 'messages'],
  ['invalid_alias_name', 400, 'invalid_request_error', 'invalid_alias_name', 'given'],
  ['cannot_apply', 400, 'invalid_request_error', undefined, 'given'],
  ['upstream_rejected', 400, 'invalid_request_error', 'invalid_request_error', undefined],
  ['request_too_large', 413, 'invalid_request_error', 'request_too_large', undefined],
  ['model_not_offered', 404, 'not_found', 'not_found', 'model'],
  ['model_retired', 404, 'not_found', 'model_retired', 'model'],
  ['global_not_served', 404, 'not_found', 'not_found', 'model'],
  ['region_not_served', 404, 'not_found', 'not_found', 'model'],
  ['alias_not_found', 404, 'not_found', 'alias_not_found', 'given'],
  ['model_not_found', 404, 'internal_server_error', 'model_not_found', 'model'],
  ['routing_policy_exhausted', 403, 'permission_error', 'routing_policy_exhausted', 'given'],
  ['unavailable_for_legal_reasons', 451, 'permission_error', 'unavailable_for_legal_reasons', 'given'],
  ['model_unavailable', 503, 'provider_unavailable', 'model_unavailable', 'model'],
  ['provider_error', 503, 'provider_error', 'provider_error', undefined],
  ['provider_not_configured', 503, 'provider_unavailable', 'provider_not_configured', undefined],
  ['service_unavailable', 503, 'internal_server_error', 'service_unavailable', 'model'],
  ['billing_not_durable', 503, 'internal_server_error', 'service_unavailable', undefined],
  ['provider_quota_exhausted', 503, 'provider_unavailable', 'provider_quota_exhausted', 'model'],
  ['provider_timeout', 504, 'provider_unavailable', 'provider_timeout', undefined],
  ['ip_rate_limited', 429, 'invalid_request_error', 'rate_limit_exceeded', undefined],
  ['key_rate_limited', 429, 'rate_limit_error', 'rate_limit_exceeded', undefined],
  ['alias_exists', 409, 'invalid_request_error', 'alias_exists', 'name'],
  ['alias_limit_reached', 422, 'invalid_request_error', 'alias_limit_reached', 'name'],
  ['invalid_alias_target', 422, 'invalid_request_error', 'invalid_alias_target', 'target'],
  ['internal_server_error', 500, 'internal_server_error', 'internal_server_error', undefined],
  ['api_error', 500, 'internal_server_error', 'api_error', undefined],
  ['cost_unresolvable', 200, 'provider_error', 'cost_unresolvable', undefined],
  ['previous_response_not_found', 400, 'invalid_request_error', 'previous_response_not_found', 'previous_response_id'],
  ['websocket_connection_limit_reached', 400, 'invalid_request_error', 'websocket_connection_limit_reached', undefined],
  ['too_many_websockets', 429, 'rate_limit_error', 'too_many_websockets', undefined],
  ['invalid_fallback_model', 400, 'invalid_request_error', 'invalid_fallback_model', 'fallback.models'],
];
const types = [
  'authentication_error',
  'invalid_request_error',
  'permission_error',
  'not_found',
  'provider_error',
  'provider_unavailable',
  'rate_limit_error',
  'internal_server_error',
];
const values = new Proxy({}, { get: (_, name) => (name === 'param' ? 'given' : `<${String(name)}>`) });

describe('the error table', () => {
  it.each(specified)('%s is %i %s %s with param %s', (condition, status, type, code, param) => {
    const withParam = new GatewayError(condition, param === 'given' ? { param: 'given' } : {});
    const { error } = envelopeOf(withParam);
    expect([withParam.status, error.type, error.code, error.param]).toEqual([status, type, code, param]);
  });

  it.each(Object.entries(errorTable))(
    '%s says what happened in a sentence, of a known type, with no hole in it',
    (condition, row) => {
      const error = new GatewayError(condition as Condition, values);
      expect(types).toContain(row.type);
      expect(error.message).not.toMatch(/undefined|\[object|NaN/);
      expect(error.message.length).toBeGreaterThan(10);
      expect(row.when).toMatch(/\.$/);
      expect(row.remedy).toMatch(/\.$/);
    },
  );

  it('sends Retry-After on the rows that list it, and on no other', () => {
    const withIt = Object.entries(errorTable).filter(
      ([condition]) => 'retry-after' in headersOf(new GatewayError(condition as Condition, values)),
    );
    expect(withIt.map(([condition]) => condition)).toEqual([
      'provider_quota_exhausted',
      'ip_rate_limited',
      'key_rate_limited',
      'admin_rate_limited',
      'too_many_attempts',
      'exchange_issuer_away',
      'exchange_rate_limited',
    ]);
  });
});

describe('an envelope', () => {
  it('has neither code nor param where there is none', () => {
    expect(
      Object.keys(envelopeOf(gatewayError('cannot_apply', { param: 'n', provider: 'acme', reason: 'cannot' })).error),
    ).toEqual(['type', 'message', 'param']);
    expect(Object.keys(envelopeOf(gatewayError('authorization_missing')).error)).toEqual(['type', 'message', 'code']);
  });

  it('carries the receipt inside the error, and its headers', () => {
    const receipt = { providers_attempted: ['a'], breaker_skipped: [], candidates_remaining: 0, last_error: 'x' };
    const error = gatewayError(
      'provider_quota_exhausted',
      { id: 'x', provider: 'a' },
      { receipt, retryAfterSeconds: 86_400, headers: { allow: 'GET' } },
    );
    expect(envelopeOf(error).error).toMatchObject({ ...receipt, code: 'provider_quota_exhausted' });
    expect(headersOf(error)).toEqual({ allow: 'GET', 'retry-after': '86400' });
  });

  it('can be made again from condition and values, as after a thread', () => {
    const error = gatewayError('parameter_out_of_range', { param: 'n', value: '0', range: '1 or greater' });
    const again = new GatewayError(error.condition, structuredClone(error.values));
    expect(envelopeOf(again)).toEqual(envelopeOf(error));
    expect(error.message).toContain('`n` is 0');
  });
});

describe('what a provider said', () => {
  it.each([
    ['busy', 'busy.'],
    ['It broke.', 'It broke.'],
    ['cut…', 'cut…'],
  ])('"%s" is quoted as a sentence, and what to do follows', (said, quoted) => {
    expect(gatewayError('provider_error', { provider: 'acme', failure: said }).message).toBe(
      `The provider acme failed: ${quoted} Retry with backoff, or use another route.`,
    );
    expect(gatewayError('upstream_rejected', { provider: 'acme', quote: said }).message).toBe(
      `The provider acme rejected the request: ${quoted} Change the request; a retry does not help.`,
    );
  });
});
