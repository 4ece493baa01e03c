/** Failures of self-hosted servers, and of proxies that pass on the errors of others. */
import { type Case, failure, said } from './case.js';

const relayed = (raw: unknown, code: number) => ({
  error: {
    message: 'Provider returned error',
    code,
    metadata: { raw: typeof raw === 'string' ? raw : JSON.stringify(raw), provider_name: 'Host' },
  },
});

export const servers: readonly Case[] = [
  failure('vllm: a negative number of tokens', 'rejected', 400, {
    object: 'error',
    message: 'max_tokens must be at least 1, got -186.',
    type: 'BadRequestError',
    param: null,
    code: 400,
  }),
  failure(
    'vllm: a model that it does not serve',
    'unknown_model',
    404,
    said('The model `foo` does not exist.', { type: 'NotFoundError', param: 'model', code: 404 }),
  ),
  failure(
    'vllm: the engine failed',
    'server_error',
    500,
    said('(exception text)', { type: 'InternalServerError', code: 500 }),
  ),
  failure('sglang: more than the context', 'rejected', 400, {
    object: 'error',
    message: "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  }),
  failure('tgi: overloaded as a 429', 'capacity', 429, { error: 'Model is overloaded', error_type: 'overloaded' }),
  failure('tgi: a narrower range', 'rejected', 422, {
    error: 'Input validation error: `top_p` must be > 0.0 and < 1.0',
    error_type: 'validation',
  }),
  failure('tgi: a generation that failed', 'server_error', 424, {
    error: 'Request failed during generation: Server error: CUDA out of memory',
    error_type: 'generation',
  }),
  failure('ollama: no slot, as a 500', 'capacity', 500, {
    error: 'unexpected server status: llm busy - no slots available',
  }),
  failure('ollama: overloaded', 'capacity', 503, { error: 'Server overloaded, please retry shortly (ref: 1)' }),
  failure('ollama: a window of a session', 'billing', 429, {
    error: 'you (somebody) have reached your session usage limit, upgrade for higher limits',
  }),
  failure(
    'ollama: a model that was not pulled',
    'unknown_model',
    404,
    said("model 'llama9' not found", { type: 'not_found_error' }),
  ),
  failure('ollama: no tools', 'rejected', 400, { error: 'registry.ollama.ai/library/x does not support tools' }),
  failure(
    'llama.cpp: audio as a 501',
    'rejected',
    501,
    said('The current model does not support audio input.', { code: 501, type: 'not_supported_error' }),
  ),
  failure(
    'llama.cpp: a combination that it refuses',
    'rejected',
    400,
    said('logprobs is not supported with tools + stream', { code: 400, type: 'invalid_request_error' }),
  ),
  failure(
    'llama.cpp: images as a 500',
    'rejected',
    500,
    said('image input is not supported - hint: provide the mmproj', { code: 500, type: 'server_error' }),
  ),
  failure(
    'llama.cpp: the model is loading',
    'capacity',
    503,
    said('Loading model', { code: 503, type: 'unavailable_error' }),
  ),
  failure(
    'litellm: a rate limit, printed by Python',
    'rate_limit',
    429,
    said(
      "litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': 'Requests have exceeded token rate limit of your S0 pricing tier. Please retry after 86400 seconds.'}}\nReceived Model Group=x\nAvailable Model Group Fallbacks=None",
      { type: 'throttling_error', code: '429' },
    ),
  ),
  failure(
    'litellm: a content policy, relayed',
    'rejected',
    400,
    said(
      'litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - The prompt triggers the content management policy.',
      { code: '400', provider_specific_fields: { innererror: { code: 'ResponsibleAIPolicyViolation' } } },
    ),
  ),
  failure(
    'litellm: no credit, relayed as a 400',
    'billing',
    400,
    said(
      'litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low."}}',
      { code: '400' },
    ),
  ),
  failure(
    'litellm: tokens per day, printed by Python',
    'quota',
    429,
    said(
      "litellm.RateLimitError: GroqException - {'error': {'message': 'Rate limit reached on tokens per day (TPD): Limit 100000', 'type': 'tokens'}}",
      { code: '429' },
    ),
  ),
  failure(
    'litellm: a rejection inside a 500',
    'rejected',
    500,
    said(
      "litellm.APIConnectionError: OpenAIException - Error code: 400 - {'error': {'message': \"Invalid value for 'temperature'\", 'type': 'invalid_request_error'}}",
      { code: '500' },
    ),
  ),
  failure(
    'litellm: a budget',
    'billing',
    400,
    said('Budget has been exceeded! Current cost: 10.0, Max budget: 10.0', { type: 'budget_exceeded', code: '400' }),
  ),
  failure(
    'litellm: nothing deployed',
    'capacity',
    429,
    said('No deployments available for selected model, Try again in 5 seconds.', { code: '429' }),
  ),
  failure('openrouter: no credits for so many tokens', 'billing', 402, {
    error: {
      message:
        'This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 2666.',
      code: 402,
      metadata: { provider_name: null },
    },
    user_id: 'u',
  }),
  failure('openrouter: free models per day', 'quota', 429, {
    error: {
      message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
      code: 429,
      metadata: { headers: { 'X-RateLimit-Limit': '50' } },
    },
  }),
  failure('openrouter: free models per minute', 'rate_limit', 429, {
    error: { message: 'Rate limit exceeded: free-models-per-min.', code: 429 },
  }),
  failure(
    'openrouter: a rate limit further up, as text',
    'rate_limit',
    429,
    relayed('x/y is temporarily rate-limited upstream. Retry shortly, or add your own key.', 429),
  ),
  failure(
    'openrouter: a daily quota further up',
    'quota',
    429,
    relayed(
      {
        error: {
          code: 429,
          message: 'quota',
          details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] }],
        },
      },
      429,
    ),
  ),
  failure(
    'openrouter: a rejection further up',
    'rejected',
    400,
    relayed({ error: { message: "'n' is not supported", type: 'invalid_request_error' } }, 400),
  ),
  failure(
    'openrouter: an empty wallet further up, as a 400',
    'billing',
    400,
    relayed(
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } },
      400,
    ),
  ),
  failure('openrouter: our privacy settings as a 404', 'auth', 404, {
    error: { message: 'No endpoints available matching your guardrail restrictions and data policy.', code: 404 },
  }),
  failure('openrouter: no route with tools, as a 404', 'rejected', 404, {
    error: { message: 'No endpoints found that support tool use.', code: 404 },
  }),
  failure('openrouter: no such model', 'unknown_model', 400, {
    error: { message: 'x/y is not a valid model ID', code: 400 },
  }),
  failure('openrouter: a flagged input as a 403', 'rejected', 403, {
    error: {
      message: 'x requires moderation. Your input was flagged.',
      code: 403,
      metadata: { reasons: ['x'], flagged_input: 'daily quota exceeded', provider_name: 'x' },
    },
  }),
  failure(
    'openrouter: a 402 that is a pace',
    'rate_limit',
    402,
    { error: { message: '(not documented)', code: 402, metadata: { limit_source: 'openrouter_in_flight_budget' } } },
    { headers: { 'retry-after': '2' } },
  ),
  failure('nim: a degraded function as a 400', 'server_error', 400, {
    status: 400,
    title: 'Bad Request',
    detail: "Function id '0-0': DEGRADED function cannot be invoked",
  }),
  failure('nim: a model that is gone', 'unknown_model', 404, {
    status: 404,
    title: 'Not Found',
    detail: "Function '0-0': Not found for account 'x'",
  }),
  failure('minimax: no balance as a 500', 'billing', 500, {
    type: 'error',
    error: { type: 'api_error', message: 'insufficient balance (1008)' },
    request_id: 'r',
  }),
  failure('minimax: a window of five hours', 'billing', 429, {
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message:
        'usage limit exceeded, 5-hour usage limit reached for the plan (0/0 used), resets at 2026-05-15T15:00:00Z (2056)',
    },
  }),
  failure('workers ai: capacity', 'capacity', 429, {
    success: false,
    errors: [{ code: 3040, message: 'Capacity temporarily exceeded, please try again.' }],
  }),
  failure('workers ai: the neurons of a day', 'quota', 429, {
    success: false,
    errors: [{ code: 3036, message: 'The free allocation is used up, upgrade.' }],
  }),
  failure('workers ai: a model that it does not know, as a 400', 'unknown_model', 400, {
    success: false,
    errors: [{ code: 5007, message: 'No such model or task' }],
  }),
  failure('qianfan: requests per minute', 'rate_limit', 429, {
    error: { code: 'rpm_rate_limit_exceeded', message: 'Rate limit reached for RPM', type: 'rate_limit_exceeded' },
    id: 'as-1',
  }),
  failure('cloudflare in front: a rate limit, in plain text', 'rate_limit', 429, 'error code: 1015', {
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
  }),
  failure(
    'envoy in front: no connection',
    'server_error',
    503,
    'upstream connect error or disconnect/reset before headers. reset reason: connection failure',
  ),
  failure(
    'nginx in front: too large a body',
    'rejected',
    413,
    '<html><head><title>413 Request Entity Too Large</title></head></html>',
  ),
];
