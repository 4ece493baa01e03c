/** Gemini's and Vertex AI's failures. */
import { type Case, failure, google } from './case.js';

const violation = (quotaId: string, quotaValue = '50') => [
  {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [{ quotaId, quotaValue, quotaMetric: 'generate_content_free_tier_requests' }],
  },
];
const info = (reason: string) => [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  },
];
const overQuota = 'You exceeded your current quota, check your plan and billing details.';

export const gemini: readonly Case[] = [
  failure(
    'gemini: a plan that allows nothing',
    'billing',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      `${overQuota}\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-x\nPlease retry in 20.04s.`,
    ),
  ),
  failure(
    'gemini: a plan that allows nothing, whatever the window',
    'billing',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      `${overQuota}\n* Quota exceeded for metric: x, limit: 0`,
      violation('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '0'),
    ),
  ),
  failure(
    'gemini: the requests of a day, in the details alone',
    'quota',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      `${overQuota} Please retry in 36s.`,
      violation('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
    ),
  ),
  failure(
    'gemini: the tokens of a minute, in the details alone',
    'rate_limit',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      `${overQuota} Please retry in 12s.`,
      violation('GenerateContentPaidTierInputTokensPerModelPerMinute', '1000000'),
    ),
  ),
  failure(
    'gemini: the requests of a day, in a quoted metric',
    'quota',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      "Quota exceeded for quota metric 'Generate Content API requests per day' and limit 'GenerateContent request limit per day for a region' of service 'generativelanguage.googleapis.com'.",
    ),
  ),
  failure(
    'gemini: the requests of a minute, in a quoted metric',
    'rate_limit',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      "Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute for a region' of a service.",
    ),
  ),
  failure(
    'gemini: exhausted',
    'rate_limit',
    429,
    google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
  ),
  failure(
    'gemini: overloaded',
    'capacity',
    503,
    google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  ),
  failure('gemini: overloaded, in a list', 'capacity', 503, [
    google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  ]),
  failure(
    'gemini: high demand',
    'capacity',
    503,
    google(503, 'UNAVAILABLE', 'This model is experiencing high demand. Spikes in demand are usually temporary.'),
  ),
  failure(
    'gemini: a wrong key as a 400',
    'auth',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', info('API_KEY_INVALID')),
  ),
  failure(
    'gemini: an expired key as a 400',
    'auth',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key expired. Renew the API key.', info('API_KEY_INVALID')),
  ),
  failure(
    'gemini: a key that may not call this',
    'auth',
    403,
    google(403, 'PERMISSION_DENIED', 'Requests to this method are blocked.', info('API_KEY_SERVICE_BLOCKED')),
  ),
  failure(
    'gemini: a suspended consumer',
    'auth',
    403,
    google(
      403,
      'PERMISSION_DENIED',
      "Permission denied: Consumer 'api_key:AIzaSyA1234567890abcdefghijklmnop' has been suspended.",
      info('CONSUMER_SUSPENDED'),
    ),
  ),
  failure(
    'gemini: the region of our address, as a 400',
    'auth',
    400,
    google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
  ),
  failure(
    'gemini: billing is off',
    'billing',
    403,
    google(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.'),
  ),
  failure(
    'gemini: too many tokens',
    'rejected',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (132478) exceeds the maximum number of tokens allowed (131072).',
    ),
  ),
  failure('gemini: too many tokens, in a list', 'rejected', 400, [
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
    ),
  ]),
  failure(
    'gemini: a field that it does not know',
    'rejected',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'Invalid JSON payload received. Unknown name "dailyLimit" at \'generation_config\': Cannot find field.',
    ),
  ),
  failure(
    'gemini: a model that it does not know',
    'unknown_model',
    404,
    google(
      404,
      'NOT_FOUND',
      'models/gemini-99 is not found for API version v1beta, or is not supported for generateContent.',
    ),
  ),
  failure(
    'gemini: an internal error',
    'server_error',
    500,
    google(500, 'INTERNAL', 'An internal error has occurred. Retry or report it.'),
  ),
  failure(
    'gemini: its own deadline',
    'server_error',
    504,
    google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
  ),
  failure(
    'vertex: out of capacity as a 429',
    'capacity',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'Unable to submit request because the service is temporarily out of capacity. Try again later.',
    ),
  ),
  failure(
    'vertex: requests per minute, called a quota',
    'rate_limit',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-x. Submit a quota increase request.',
    ),
  ),
  failure(
    'vertex: requests per day, called a quota',
    'quota',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_day_per_project_per_base_model with base model: gemini-x.',
    ),
  ),
  failure(
    'vertex: the API is off',
    'auth',
    403,
    google(
      403,
      'PERMISSION_DENIED',
      'Vertex AI API has not been used in project 123 before or it is disabled.',
      info('SERVICE_DISABLED'),
    ),
  ),
  failure(
    'vertex: a publisher model that is not there',
    'unknown_model',
    404,
    google(404, 'NOT_FOUND', 'Publisher Model `projects/p/models/x` was not found or your project does not have it.'),
  ),
  failure(
    'vertex: a publisher model that is not there, or not for the project',
    'unknown_model',
    404,
    google(
      404,
      'NOT_FOUND',
      'Publisher Model `projects/p/models/x` was not found or your project does not have access to it. Use a valid model version.',
    ),
  ),
  failure(
    'vertex: a publisher model of other regions, as a 400',
    'unknown_model',
    400,
    google(400, 'FAILED_PRECONDITION', 'Publisher Model `projects/p/models/x` is not servable in region us-east1.'),
  ),
];
