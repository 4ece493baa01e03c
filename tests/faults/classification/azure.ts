/** Azure's failures. */
import { type Case, failure, said } from './case.js';

export const azure: readonly Case[] = [
  failure(
    'azure: the prompt was filtered',
    'rejected',
    400,
    said('The response was filtered: the prompt triggers the content management policy. Modify it and retry.', {
      param: 'prompt',
      code: 'content_filter',
      status: 400,
    }),
  ),
  failure(
    'azure: the prompt was filtered, with the result',
    'rejected',
    400,
    said('The response was filtered', {
      code: 'content_filter',
      innererror: {
        code: 'ResponsibleAIPolicyViolation',
        content_filter_result: { hate: { filtered: true, severity: 'high' } },
      },
    }),
  ),
  failure(
    'azure: shedding at peak load as a 429',
    'capacity',
    429,
    said(
      'The system is experiencing high demand and cannot process the request, which exceeds the maximum usage size allowed during peak load. Retry after 20 seconds.',
      { code: '429' },
    ),
  ),
  failure(
    'azure: the token rate of a deployment',
    'rate_limit',
    429,
    said(
      'Requests to the operation have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 60 seconds. See https://aka.example/oai/quotaincrease.',
      { code: '429' },
    ),
  ),
  failure(
    'azure: the call rate, to be retried in a day',
    'rate_limit',
    429,
    said(
      'Requests have exceeded call rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds.',
      { code: '429' },
    ),
  ),
  failure('azure: the gateway in front of it, flat', 'rate_limit', 429, {
    statusCode: 429,
    message: 'Rate limit is exceeded. Try again in 11 seconds.',
  }),
  failure('azure: the volume of a subscription', 'billing', 403, {
    statusCode: 403,
    message: 'Out of call volume quota. Quota will be replenished in 12.00:17:00. This is your monthly call quota.',
  }),
  failure(
    'azure: a wrong key',
    'auth',
    401,
    said('Access denied due to invalid subscription key or wrong API endpoint.', { code: '401' }),
  ),
  failure(
    'azure: a virtual network',
    'auth',
    403,
    said('A Virtual Network is configured for this resource. Use the correct endpoint.', { code: '403' }),
  ),
  failure(
    'azure: keys are disabled',
    'auth',
    403,
    said('Key based authentication is disabled for this resource.', { code: 'AuthenticationTypeDisabled' }),
  ),
  failure(
    'azure: a parameter that the deployment does not take',
    'rejected',
    400,
    said("Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.", {
      type: 'invalid_request_error',
      param: 'response_format',
    }),
  ),
  failure(
    'azure: a deployment that does not exist',
    'unknown_model',
    404,
    said('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' }),
  ),
  failure(
    'azure: an operation that the model does not do',
    'unknown_model',
    400,
    said('The chatCompletion operation does not work with the specified model, text-x.', {
      code: 'OperationNotSupported',
    }),
  ),
  failure(
    'azure: a version that it does not know',
    'unknown_model',
    400,
    said('API version not supported', { code: 'BadRequest' }),
  ),
  failure(
    'azure: a model of later versions',
    'unknown_model',
    400,
    said('Model {modelName} is enabled only for api versions 2024-12-01-preview and later', { code: 'BadRequest' }),
  ),
  failure(
    'azure: a named model of later versions',
    'unknown_model',
    400,
    said('Model gpt-4.9 is enabled only for api versions 2024-12-01-preview and later', { code: 'BadRequest' }),
  ),
  failure(
    'azure: an API of later versions',
    'unknown_model',
    400,
    said('Azure OpenAI Responses API is enabled only for api-version 2025-03-01-preview and later', {
      code: 'BadRequest',
    }),
  ),
];
