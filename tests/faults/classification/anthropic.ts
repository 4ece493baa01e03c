/** Anthropic's failures. */
import { type Case, failure, typed } from './case.js';

export const anthropic: readonly Case[] = [
  failure('anthropic: overloaded', 'capacity', 529, typed('overloaded_error', 'Overloaded')),
  failure('anthropic: overloaded, without an id', 'capacity', 529, {
    type: 'error',
    error: { type: 'overloaded_error', message: 'Overloaded' },
  }),
  failure(
    'anthropic: no credit, as a 400',
    'billing',
    400,
    typed('invalid_request_error', 'Your credit balance is too low to use the API. Go to Plans & Billing.'),
  ),
  failure(
    'anthropic: the limit that we set ourselves, as a 400',
    'billing',
    400,
    typed(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-09-01 at 00:00 UTC.',
    ),
  ),
  failure(
    'anthropic: tokens per minute, with a curly apostrophe',
    'rate_limit',
    429,
    typed(
      'rate_limit_error',
      'This would exceed your organization\u2019s rate limit of 80,000 input tokens per minute. Reduce the prompt length, or try again later.',
    ),
  ),
  failure(
    'anthropic: a rate limit',
    'rate_limit',
    429,
    typed('rate_limit_error', "This request would exceed your account's rate limit. Please try again later."),
  ),
  failure(
    'anthropic: the tokens of a day',
    'quota',
    429,
    typed('rate_limit_error', 'Number of request tokens has exceeded your daily rate limit.'),
  ),
  failure(
    'anthropic: concurrent connections',
    'capacity',
    429,
    typed('rate_limit_error', 'Number of concurrent connections has exceeded your rate limit.'),
  ),
  failure('anthropic: a wrong key', 'auth', 401, typed('authentication_error', 'invalid x-api-key')),
  failure(
    'anthropic: a disabled organisation, as a 400',
    'auth',
    400,
    typed('invalid_request_error', 'This organization has been disabled.'),
  ),
  failure(
    'anthropic: no permission',
    'auth',
    403,
    typed('permission_error', 'Your API key does not have permission to use the specified resource.'),
  ),
  failure(
    'anthropic: a plan without long contexts',
    'auth',
    400,
    typed('invalid_request_error', 'The long beta is not yet available for this subscription.'),
  ),
  failure(
    'anthropic: too much for the window',
    'rejected',
    400,
    typed('invalid_request_error', 'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000'),
  ),
  failure(
    'anthropic: too long a prompt',
    'rejected',
    400,
    typed('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  ),
  failure(
    'anthropic: no message left',
    'rejected',
    400,
    typed('invalid_request_error', 'messages: at least one message is required'),
  ),
  failure(
    'anthropic: a field that it does not know',
    'rejected',
    400,
    typed('invalid_request_error', 'system.1.cache_control.ephemeral.scope: Extra inputs are not permitted'),
  ),
  failure(
    'anthropic: a property that the caller named',
    'rejected',
    400,
    typed(
      'invalid_request_error',
      'tools.0.custom.input_schema.properties.queue.capacity: Input should be a valid dictionary',
    ),
  ),
  failure(
    'anthropic: a tool call without its result',
    'rejected',
    400,
    typed(
      'invalid_request_error',
      'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
    ),
  ),
  failure(
    'anthropic: the output was blocked',
    'rejected',
    400,
    typed('invalid_request_error', 'Output blocked by content filtering policy'),
  ),
  failure(
    'anthropic: too large a body',
    'rejected',
    413,
    typed('request_too_large', 'Request exceeds the maximum size'),
  ),
  failure(
    'anthropic: a model that it does not know',
    'unknown_model',
    404,
    typed('not_found_error', 'model: claude-99'),
  ),
  failure('anthropic: an internal error', 'server_error', 500, typed('api_error', 'Internal server error')),
];
