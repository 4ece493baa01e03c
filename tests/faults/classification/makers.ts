/** Makers of models, clouds and markets that speak OpenAI's dialect, each in its own way. */
import { type Case, failure, said } from './case.js';

export const makers: readonly Case[] = [
  failure('wandb: a concurrency limit', 'capacity', 429, said('Concurrency limit reached for requests')),
  failure('cohere: too many tokens', 'rejected', 400, {
    message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.',
  }),
  failure('cohere: a narrower range', 'rejected', 400, {
    message: 'invalid request: temperature must be between 0 and 1.0 inclusive.',
  }),
  failure('cohere: a model that is not ready, as a 400', 'capacity', 400, {
    message: 'finetuned model with name xyz is not ready for serving',
  }),
  failure('cohere: a wrong token', 'auth', 401, { message: 'invalid api token' }),
  failure('cohere: the billing of a month', 'billing', 402, {
    message:
      'Maximum billing reached for this API key. Your billing capacity will reset at the beginning of next month.',
  }),
  failure('cohere: a model that is not there', 'unknown_model', 404, {
    message: "model 'xyz' not found, make sure that you have access to the model.",
  }),
  failure('cohere: a trial key, per minute', 'rate_limit', 429, {
    message:
      'You are using a Trial key, which is limited to 40 API calls / minute. Upgrade to a Production key at https://dashboard.example.',
  }),
  failure('cohere: a trial key, per month', 'billing', 429, {
    message: 'You are using a Trial key, which is limited to 1000 API calls / month.',
  }),
  failure('cohere: its 498 is a blocked prompt', 'rejected', 498, '', { provider: 'cohere' }),
  failure('xai: a team without credits as a 403', 'billing', 403, {
    code: 'The caller does not have permission to execute the specified operation',
    error: "Your newly created team doesn't have any credits or licenses yet.",
  }),
  failure('xai: out of credits', 'billing', 403, {
    code: 'x',
    error: 'You have run out of credits or need a subscription. Add credits or upgrade.',
  }),
  failure('xai: used up, or the limit of a month', 'billing', 429, {
    code: 'Some resource has been exhausted',
    error: 'Your team 1 has either used all available credits or reached its monthly spending limit.',
  }),
  failure('xai: a wrong key as a 400', 'auth', 400, {
    code: 'Client specified an invalid argument',
    error: 'Incorrect API key provided: xa***yz.',
  }),
  failure('xai: content against the guidelines as a 403', 'rejected', 403, {
    code: 'The caller does not have permission to execute the specified operation',
    error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X',
  }),
  failure('xai: too long a prompt', 'rejected', 400, {
    code: 'Client specified an invalid argument',
    error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
  }),
  failure(
    'perplexity: a model that it does not know',
    'unknown_model',
    400,
    said("Invalid model 'x'. Permitted models are in the documentation.", { type: 'invalid_model', code: 400 }),
  ),
  failure('deepinfra: busy', 'capacity', 429, { error: { message: 'Model busy, retry later' } }),
  failure('deepinfra: no payment method', 'billing', 402, {
    detail: { error: 'inference prohibited, please enter a Payment Method' },
  }),
  failure('hugging face: loading', 'capacity', 503, { error: 'Model x is currently loading', estimated_time: 20 }),
  failure('hugging face: the credits of a month', 'billing', 402, {
    error: 'You have exceeded your monthly included credits for Inference Providers.',
  }),
  failure(
    'hugging face: a model that nobody serves',
    'unknown_model',
    400,
    said("The requested model 'x' is not supported by any provider you have enabled.", {
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_supported',
    }),
  ),
  failure(
    'github: requests of a day',
    'quota',
    429,
    said('Rate limit of 150 per 86400s exceeded for UserByModelByDay. Wait 41340 seconds.', {
      code: 'RateLimitReached',
    }),
  ),
  failure(
    'github: requests of a minute',
    'rate_limit',
    429,
    said('Rate limit of 10 per 60s exceeded for UserByModelByMinute.', { code: 'RateLimitReached' }),
  ),
  failure(
    'github: too large a body',
    'rejected',
    413,
    said('Request body too large for gpt-x model. Max size: 8000 tokens.', { code: 'tokens_limit_reached' }),
  ),
  failure('databricks: tokens per minute', 'rate_limit', 429, {
    error_code: 'REQUEST_LIMIT_EXCEEDED',
    message: 'REQUEST_LIMIT_EXCEEDED: Exceeded workspace output tokens per minute rate limit.',
  }),
  failure('watsonx: the tokens of a month', 'billing', 403, {
    errors: [{ code: 'token_quota_reached', message: 'The plan has reached its monthly token limit' }],
    trace: 't',
    status_code: 403,
  }),
  failure('chutes: at capacity', 'capacity', 429, { detail: 'Infrastructure is at maximum capacity, try again later' }),
  failure('novita: no balance', 'billing', 403, {
    code: 403,
    reason: 'NOT_ENOUGH_BALANCE',
    message: 'not enough balance',
    metadata: {},
  }),
  failure('siliconflow: a model that it does not know', 'unknown_model', 400, {
    code: 20012,
    message: 'Model does not exist. Check it carefully.',
    data: null,
  }),
  failure(
    'dashscope: an account in arrears',
    'billing',
    400,
    said('Access denied, make sure your account is in good standing.', { type: 'Arrearage', code: 'Arrearage' }),
  ),
  failure(
    'dashscope: an inspection of the content',
    'rejected',
    400,
    said('Input data may contain inappropriate content.', { code: 'data_inspection_failed' }),
  ),
  failure(
    'moonshot: tokens per day',
    'quota',
    429,
    said('Your account request reached organization TPD rate limit, current: 1500000, limit: 1500000', {
      type: 'rate_limit_reached_error',
    }),
  ),
  failure(
    'moonshot: concurrency',
    'capacity',
    429,
    said('Your account request reached organization max concurrency: 3, please try again after 1 seconds', {
      type: 'rate_limit_reached_error',
    }),
  ),
  failure('zhipu: no balance, by its number', 'billing', 429, said('\u4f59\u989d\u4e0d\u8db3', { code: '1113' })),
  failure('zhipu: the calls of a day, by its number', 'quota', 429, said('x', { code: '1304' }), { provider: 'zhipu' }),
  failure('baidu: the requests of a day, by its number', 'quota', 429, {
    error_code: 17,
    error_msg: 'Open api daily request limit reached',
  }),
];
