/** OpenAI's failures. */
import { type Case, failure, said } from './case.js';

const invalid = { type: 'invalid_request_error' };

export const openai: readonly Case[] = [
  failure(
    'openai: the credit is spent',
    'billing',
    429,
    said('Your current quota is exceeded, look at your plan.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
  ),
  failure(
    'openai: a billing cap as a 400',
    'billing',
    400,
    said('The hard limit of billing was reached', { ...invalid, code: 'billing_hard_limit_reached' }),
  ),
  failure(
    'openai: an account that is not active',
    'billing',
    429,
    said('This account is not active, check its billing details.', {
      type: 'billing_not_active',
      code: 'billing_not_active',
    }),
  ),
  failure(
    'openai: tokens per minute',
    'rate_limit',
    429,
    said(
      'Request too large for gpt-x in organization org-abcdefgh on tokens per min (TPM): Limit 30000, Requested 31000. Reduce the input or output tokens.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
  ),
  failure(
    'openai: requests per day',
    'quota',
    429,
    said(
      'Rate limit reached for gpt-x on requests per day (RPD): Limit 50, Used 50. Try again in 28m48s. Add a payment method at https://platform.example/account/billing for more.',
    ),
  ),
  failure(
    'openai: requests per day, older words',
    'quota',
    429,
    said('Rate limit reached for default-gpt-x on requests per day. Limit: 200 / day.', { type: 'requests' }),
  ),
  failure(
    'openai: tokens per day',
    'quota',
    429,
    said('Rate limit reached on tokens per day (TPD): Limit 2000000', { code: 'rate_limit_exceeded' }),
  ),
  failure(
    'openai: requests per minute, older words',
    'rate_limit',
    429,
    said('Rate limit reached for default-gpt-x on requests per min. Limit: 3 / min. Try again in 20s.'),
  ),
  failure(
    'openai: the region of our address',
    'auth',
    403,
    said('Country, region, or territory not supported', {
      type: 'request_forbidden',
      code: 'unsupported_country_region_territory',
    }),
  ),
  failure(
    'openai: our organisation is not verified, told as a bad parameter',
    'auth',
    400,
    said('Your organization must be verified to stream this model. Follow the link and click on Verify Organization.', {
      ...invalid,
      param: 'stream',
      code: 'unsupported_value',
    }),
  ),
  failure(
    'openai: a wrong key',
    'auth',
    401,
    said('Incorrect API key provided: sk-abc***xyz.', { ...invalid, code: 'invalid_api_key' }),
  ),
  failure(
    'openai: a scope is missing',
    'auth',
    401,
    said('Insufficient permissions for this operation. Missing scopes: model.request', invalid),
  ),
  failure(
    'openai: a deactivated account',
    'auth',
    403,
    said('The account behind this key has been deactivated.', { code: 'account_deactivated' }),
  ),
  failure(
    'openai: access terminated for what others did',
    'auth',
    403,
    said('Your access was terminated due to violation of our policies.', { ...invalid, code: 'access_terminated' }),
  ),
  failure(
    'openai: the context is too short',
    'rejected',
    400,
    said("This model's maximum context length is 4097 tokens, but 4120 were asked for.", {
      ...invalid,
      param: 'messages',
      code: 'context_length_exceeded',
    }),
  ),
  failure(
    'openai: a parameter that the model does not take',
    'rejected',
    400,
    said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
      ...invalid,
      param: 'max_tokens',
      code: 'unsupported_parameter',
    }),
  ),
  failure(
    'openai: a value that the model does not take',
    'rejected',
    400,
    said("Unsupported value: 'temperature' does not support 0.2 with this model.", {
      ...invalid,
      param: 'temperature',
      code: 'unsupported_value',
    }),
  ),
  failure(
    'openai: an argument that it does not know',
    'rejected',
    400,
    said('Unrecognized request argument supplied: rate_limit_per_day', invalid),
  ),
  failure(
    'openai: a bad schema of a tool',
    'rejected',
    400,
    said("Invalid schema for function 'get_daily_quota_exceeded': None is not of type 'object'.", {
      ...invalid,
      param: 'tools[0].function.parameters',
      code: 'invalid_function_parameters',
    }),
  ),
  failure(
    'openai: a flagged prompt',
    'rejected',
    400,
    said('Invalid prompt: it was flagged as potentially violating our usage policy. Try another prompt.', {
      ...invalid,
      code: 'invalid_prompt',
    }),
  ),
  failure(
    'openai: the safety system',
    'rejected',
    400,
    said('The request was rejected as a result of our safety system.', { code: 'content_policy_violation' }),
  ),
  failure(
    'openai: an image that cannot be fetched in time',
    'rejected',
    400,
    said('Timeout while downloading https://pictures.example/queue-full.png.', {
      ...invalid,
      code: 'invalid_image_url',
    }),
  ),
  failure(
    'openai: the model is overloaded',
    'capacity',
    503,
    said('That model is currently overloaded with other requests. Retry, or ask for help with the ID req_1.', {
      type: 'server_error',
    }),
  ),
  failure(
    'openai: overload as a 429',
    'capacity',
    429,
    said('The server is currently overloaded with other requests. Sorry!', { type: 'server_error' }),
  ),
  failure(
    'openai: the engine is overloaded',
    'capacity',
    429,
    said('The engine is currently overloaded, please try again later', { type: 'engine_overloaded' }),
  ),
  failure('openai: slow down', 'rate_limit', 503, said('Slow down.')),
  failure(
    'openai: a server error',
    'server_error',
    500,
    said('The server had an error while processing your request. Sorry about that!', { type: 'server_error' }),
  ),
  failure(
    'openai: a model that does not exist',
    'unknown_model',
    404,
    said('The model `gpt-99` does not exist.', { ...invalid, code: 'model_not_found' }),
  ),
  failure(
    'openai: a model that does not exist, or is not for us',
    'unknown_model',
    404,
    said('The model `gpt-99` does not exist or you do not have access to it.', { ...invalid, code: 'model_not_found' }),
  ),
  failure(
    'openai: the same through a proxy that answers with a 400',
    'unknown_model',
    400,
    said("The model 'gpt-99' does not exist, or you don't have access to it.", invalid),
  ),
  failure(
    'openai: a project without the model',
    'auth',
    403,
    said('Project `proj_abcdefg` does not have access to this', { ...invalid, code: 'no_access' }),
  ),
  failure(
    'openai: not a chat model',
    'unknown_model',
    404,
    said('This is not a chat model and thus not supported in the v1/chat/completions endpoint.', {
      ...invalid,
      param: 'model',
    }),
  ),
  failure(
    'openai: a model of the other endpoint',
    'unknown_model',
    400,
    said('This model is only supported in v1/responses and not in v1/chat/completions.', {
      ...invalid,
      param: 'model',
    }),
  ),
  failure(
    'openai: a page of the proxy in front',
    'server_error',
    502,
    '<!DOCTYPE html>\n<html><head>\n<title>api.example | 502: Bad gateway</title></head><body><h1>Bad gateway</h1> Error code 502</body></html>',
    { headers: { 'content-type': 'text/html; charset=UTF-8' } },
  ),
];
