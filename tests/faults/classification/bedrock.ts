/** Amazon Bedrock's failures: the type is in a header, or in `__type`, and the body holds little. */

import type { Meaning } from '../../../src/providers/classify/failure.js';
import { type Case, failure } from './case.js';

function aws(name: string, means: Meaning, status: number, type: string, message: string, more: object = {}): Case {
  const headers = { 'x-amzn-errortype': `${type}:http://internal.example/coral/`, 'x-amzn-requestid': 'r-1' };
  return failure(`bedrock: ${name}`, means, status, { message, ...more }, { headers });
}

export const bedrock: readonly Case[] = [
  aws(
    'tokens per day',
    'quota',
    429,
    'ThrottlingException',
    'Too many tokens per day, please wait before trying again.',
  ),
  aws('tokens', 'rate_limit', 429, 'ThrottlingException', 'Too many tokens, please wait before trying again.'),
  aws('requests', 'rate_limit', 429, 'ThrottlingException', 'Too many requests, please wait before trying again.'),
  aws(
    'a model that needs a profile, as a 400',
    'unknown_model',
    400,
    'ValidationException',
    'Invocation of model ID vendor.model-v1:0 with on-demand throughput isn\u2019t supported. Use an inference profile that contains it.',
  ),
  aws(
    'a model that needs a profile, in full',
    'unknown_model',
    400,
    'ValidationException',
    "Invocation of model ID vendor.model-3-7-v1:0 with on-demand throughput isn't supported. Retry your request with the ID or ARN of an inference profile that contains this model.",
  ),
  aws(
    'an action that the model does not have, as a 400',
    'unknown_model',
    400,
    'ValidationException',
    "This action doesn't support the model that you provided. Try again with a supported text or chat model.",
  ),
  aws(
    'a model without the action, as a 400',
    'unknown_model',
    400,
    'ValidationException',
    "The model that you provided doesn't support the Converse action.",
  ),
  aws(
    'a wrong model id, as a 400',
    'unknown_model',
    400,
    'ValidationException',
    'The provided model identifier is invalid.',
  ),
  aws(
    'bad credentials',
    'auth',
    403,
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ),
  aws(
    'credentials that expired',
    'auth',
    403,
    'ExpiredTokenException',
    'The security token included in the request is expired',
  ),
  aws('a restricted account, as a 400', 'auth', 400, 'ValidationException', 'Operation not allowed'),
  aws(
    'no access to the model',
    'auth',
    403,
    'AccessDeniedException',
    "You don't have access to the model with the specified model ID.",
  ),
  aws(
    'a card that is not valid',
    'billing',
    403,
    'AccessDeniedException',
    'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.',
  ),
  aws(
    'too many tokens asked for',
    'rejected',
    400,
    'ValidationException',
    'The maximum tokens you requested exceed the model limit of 4096. Try again with a lower value.',
  ),
  aws('too long an input', 'rejected', 400, 'ValidationException', 'Input is too long for requested model.'),
  aws(
    'a field that the model does not know',
    'rejected',
    400,
    'ValidationException',
    'The model returned the following errors: guardrails: Extra inputs are not permitted',
  ),
  aws(
    'a feature that the model does not have',
    'rejected',
    400,
    'ValidationException',
    "This model doesn't support tool use in streaming mode.",
  ),
  aws('a model that is not ready, as a 429', 'capacity', 429, 'ModelNotReadyException', 'x'),
  aws(
    'too many connections',
    'capacity',
    503,
    'ServiceUnavailableException',
    'Too many concurrent connections, please wait before trying again.',
  ),
  aws('a model that failed, as a 424', 'server_error', 424, 'ModelErrorException', 'x', {
    originalStatusCode: 500,
    resourceName: 'arn',
  }),
  aws(
    'a model that timed out, as a 408',
    'server_error',
    408,
    'ModelTimeoutException',
    'Model has timed out in processing the request. Try your request again.',
  ),
  aws('a quota of the account, as a 400', 'billing', 400, 'ServiceQuotaExceededException', 'x'),
  aws('unavailable', 'server_error', 503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'),
  aws('an internal error', 'server_error', 500, 'InternalServerException', 'Bedrock had an internal error.'),
  aws(
    'a model that is not there',
    'unknown_model',
    404,
    'ResourceNotFoundException',
    'Could not resolve the foundation model from the model identifier.',
  ),
  failure('bedrock: the type in the body', 'billing', 400, {
    __type: 'com.amazon.coral.service#ServiceQuotaExceededException',
    Message: 'x',
  }),
];
