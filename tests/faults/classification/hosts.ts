/** The hosts of open models: OpenAI's dialect, each in its own way. */
import { type Case, failure, said } from './case.js';

const none = '(not documented)';

export const hosts: readonly Case[] = [
  failure('mistral: a rate limit, flat', 'rate_limit', 429, {
    object: 'error',
    message: 'Rate limit exceeded',
    type: 'rate_limited',
    param: null,
    code: '1300',
  }),
  failure('mistral: the capacity of a tier', 'capacity', 429, {
    object: 'error',
    message: 'Service tier capacity exceeded for this model.',
    type: 'invalid_request_error',
    code: '3505',
  }),
  failure('mistral: fields that it does not take', 'rejected', 422, {
    detail: [
      {
        type: 'extra_forbidden',
        loc: ['body', 'daily_quota_exceeded'],
        msg: 'Extra inputs are not permitted',
        input: 'daily quota exceeded',
      },
    ],
  }),
  failure('mistral: the same, nested', 'rejected', 422, {
    object: 'error',
    message: {
      detail: [
        { type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs are not permitted', input: false },
      ],
    },
    type: 'invalid_request_error',
  }),
  failure('mistral: a model that it does not know, as a 400', 'unknown_model', 400, {
    object: 'error',
    message: 'Invalid model: mistral-99',
    type: 'invalid_model',
    code: '1500',
  }),
  failure(
    'groq: tokens per minute as a 413',
    'rate_limit',
    413,
    said(
      'Request too large for model `llama` in organization `org_abcdefg` on tokens per minute (TPM): Limit 6000, Requested 14368, reduce your message size.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
  ),
  failure('groq: its own 498 is a capacity', 'capacity', 498, said(none, { type: none, code: 'capacity_exceeded' })),
  failure('groq: its own 498, silent', 'capacity', 498, '', { provider: 'groq' }),
  failure(
    'groq: the spend limit of a month as a 400',
    'billing',
    400,
    said(none, { type: none, code: 'blocked_api_access' }),
  ),
  failure(
    'groq: requests per day',
    'quota',
    429,
    said(
      'Rate limit reached for model `x` in organization `org_abcdefg` service tier `on_demand` on requests per day (RPD): Limit 1000, Used 1000, Requested 1.',
    ),
  ),
  failure(
    'groq: tokens per day',
    'quota',
    429,
    said(
      'Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99336, Requested 1500. Try again in 12m2s.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
  ),
  failure(
    'groq: a call that could not be made',
    'server_error',
    400,
    said("Failed to call a function. Adjust your prompt. See 'failed_generation'.", {
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: 'daily limit reached',
    }),
  ),
  failure(
    'groq: a model that is gone',
    'unknown_model',
    400,
    said('The model `x` has been decommissioned and is no longer supported.', { code: 'model_decommissioned' }),
  ),
  failure(
    'groq: terms that we did not accept',
    'auth',
    400,
    said('The model `x` requires terms acceptance. Have the org admin accept the terms.', {
      code: 'model_terms_required',
    }),
  ),
  failure(
    'groq: a restricted organisation',
    'auth',
    400,
    said('Organization has been restricted. Reach out to support.', { code: 'organization_restricted' }),
  ),
  failure('groq: over capacity', 'capacity', 503, said('x is currently over capacity. Back off exponentially.')),
  failure(
    'together: queries per minute',
    'rate_limit',
    429,
    said('You have reached the rate limit specific to this model: 9.0 queries per minute.'),
  ),
  failure(
    'together: more than the context, as a 403',
    'rejected',
    403,
    said('Input token count + `max_tokens` must be less than the context length of the model being queried.'),
  ),
  failure(
    'together: a model that needs an endpoint',
    'unknown_model',
    400,
    said('Unable to access non-serverless model x. Create and start a new dedicated endpoint.', {
      code: 'model_not_available',
    }),
  ),
  failure('together: no credit', 'billing', 402, said('Credit limit exceeded', { type: 'credit_limit' })),
  failure(
    'together: not ready',
    'capacity',
    503,
    said('The server is overloaded or not ready yet.', { type: 'service_unavailable' }),
  ),
  failure(
    'fireworks: a model that is not deployed',
    'unknown_model',
    404,
    said('Model not found, inaccessible, and/or not deployed', { param: 'model', code: 'NOT_FOUND', type: 'error' }),
  ),
  failure(
    'fireworks: a suspended account as a 412',
    'billing',
    412,
    said(
      'Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
      { code: 'PRECONDITION_FAILED' },
    ),
  ),
  failure('fireworks: its own 412, silent', 'billing', 412, '', { provider: 'fireworks-ai' }),
  failure(
    'fireworks: a field that it does not take',
    'rejected',
    400,
    said("Extra inputs are not permitted, field: 'stream_options'", { type: 'invalid_request_error' }),
  ),
  failure(
    'fireworks: a deployment that scales up',
    'capacity',
    503,
    said('The deployment is scaling up', { code: 'DEPLOYMENT_SCALING_UP' }),
  ),
  failure(
    'deepseek: reasoning must come back',
    'rejected',
    400,
    said('The `reasoning_content` in the thinking mode must be passed back to the API.', {
      type: 'invalid_request_error',
      code: 'invalid_request_error',
    }),
  ),
  failure('deepseek: its 503 is an overload', 'capacity', 503, '', { provider: 'deepseek' }),
  failure(
    'deepseek: no balance',
    'billing',
    402,
    said('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }),
  ),
  failure(
    'deepseek: a risk in the content',
    'rejected',
    400,
    said('Content Exists Risk', { type: 'invalid_request_error' }),
  ),
  failure(
    'deepseek: a model that it does not know',
    'unknown_model',
    400,
    said('Model Not Exist', { type: 'invalid_request_error' }),
  ),
  failure(
    'deepseek: a role that it does not know',
    'rejected',
    422,
    'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`',
  ),
  failure('cerebras: requests per second', 'rate_limit', 429, {
    message: 'Requests per second limit exceeded - too many requests sent.',
    type: 'too_many_requests_error',
    param: 'quota',
    code: 'request_quota_exceeded',
  }),
  failure('cerebras: tokens per minute', 'rate_limit', 429, {
    message: 'Tokens per minute limit exceeded - too many tokens processed.',
    type: 'too_many_requests_error',
    param: 'quota',
    code: 'token_quota_exceeded',
  }),
  failure('cerebras: tokens per day', 'quota', 429, {
    message: 'Tokens per day limit exceeded - too many tokens processed.',
    type: 'too_many_tokens_error',
    param: 'quota',
    code: 'token_quota_exceeded',
  }),
  failure('cerebras: a full queue', 'capacity', 429, {
    message: "We're experiencing high traffic! Try again soon.",
    type: 'too_many_requests_error',
    param: 'queue',
    code: 'queue_exceeded',
  }),
  failure('cerebras: a 400 that says nothing', 'rejected', 400, ''),
  failure(
    'sambanova: a value out of range',
    'rejected',
    400,
    said('Decimal above maximum value. Expected a value between 0 and 1, but got 100 instead.', {
      type: 'invalid_request_error',
      param: 'top_p',
      code: 'decimal_above_max_value',
    }),
  ),
  failure('sambanova: its 504 is a full queue', 'capacity', 504, said(none, { type: none }), { provider: 'sambanova' }),
  failure('sambanova: a model that is gone', 'unknown_model', 410, said(none, { type: none })),
  failure('scaleway: too high a limit as a 416', 'rejected', 416, ''),
  failure('ovh: requests per minute, silent', 'rate_limit', 429, ''),
  failure('featherless: its 400 is a model that is not loaded', 'capacity', 400, '', { provider: 'featherless' }),
  failure('featherless: a 400 that speaks of the request', 'rejected', 400, said('Unknown parameter: foo'), {
    provider: 'featherless',
  }),
];
