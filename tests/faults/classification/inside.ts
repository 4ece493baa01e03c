/** Failures inside a 2xx: a body, or the frames of a stream, that hold an error in place of an answer. */
import type { Meaning } from '../../../src/providers/classify/failure.js';

export interface InsideCase {
  name: string;
  means: Meaning;
  /** The JSON of the body, or of the only frame. */
  error: object;
  /** Written before the frame. */
  event?: string;
}

const inside = (name: string, means: Meaning, error: object, event?: string): InsideCase => ({
  name,
  means,
  error,
  ...(event && { event }),
});

export const insides: readonly InsideCase[] = [
  inside('any: no choices beside an error', 'capacity', { choices: [], object: 'error', message: 'overloaded' }),
  inside('any: choices of null beside a message', 'capacity', { choices: null, message: 'overloaded', code: 503 }),
  inside('groq: an error in its own member', 'capacity', {
    choices: [],
    x_groq: { id: 'r', error: 'The model is over capacity' },
  }),
  inside(
    'openai: overloaded',
    'capacity',
    { error: { type: 'server_is_overloaded', message: 'The server is overloaded.' } },
    'error',
  ),
  inside(
    'anthropic: overloaded',
    'capacity',
    { type: 'error', error: { details: null, type: 'overloaded_error', message: 'Overloaded' } },
    'error',
  ),
  inside(
    'anthropic: a rejection',
    'rejected',
    { type: 'error', error: { type: 'invalid_request_error', message: 'x: Extra inputs are not permitted' } },
    'error',
  ),
  inside('gemini: overloaded', 'capacity', { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }),
  inside('gemini: a blocked prompt and no candidates', 'rejected', {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 },
    modelVersion: 'gemini-x',
  }),
  inside('bedrock: throttled', 'rate_limit', {
    __type: 'throttlingException',
    message: 'Too many tokens, please wait before trying again.',
  }),
  inside('bedrock: the tokens of a day', 'quota', {
    __type: 'throttlingException',
    message: 'Too many tokens per day, please wait before trying again.',
  }),
  inside('vllm: an internal error', 'server_error', {
    error: { message: 'Internal server error', type: 'InternalServerError', param: null, code: 500 },
  }),
  inside('vllm: a rejection', 'rejected', {
    error: { message: 'max_tokens must be at least 1, got -1', type: 'BadRequestError', param: null, code: 400 },
  }),
  inside('sglang: a full queue', 'capacity', {
    error: {
      object: 'error',
      message: 'The request queue is full.',
      type: 'SERVICE_UNAVAILABLE',
      param: null,
      code: 503,
    },
  }),
  inside('sglang: a rejection, flat', 'rejected', {
    object: 'error',
    message: 'The input is longer than the context length',
    type: 'BadRequestError',
    param: null,
    code: 400,
  }),
  inside('tgi: a generation that failed', 'server_error', {
    error: 'Request failed during generation',
    error_type: 'generation',
  }),
  inside('lm studio: untyped', 'server_error', { error: { message: 'Compute error.' }, message: 'Compute error.' }),
  inside('openrouter: no choices, and the limit of a worker', 'capacity', {
    choices: [],
    error: {
      code: 502,
      message: 'Upstream error from Host: ResourceExhausted: Worker local total request limit reached (32/32)',
    },
  }),
  inside('openrouter: a daily quota further up', 'quota', {
    error: {
      code: 429,
      message: 'Provider returned error',
      metadata: { raw: '{"error":{"message":"Limit of tokens per day (TPD) reached"}}' },
    },
  }),
  inside('openrouter: a rejection further up', 'rejected', {
    error: {
      code: 400,
      message: 'Provider returned error',
      metadata: { raw: { error: { message: 'Audio is not supported' } } },
    },
  }),
  inside('minimax: sensitive input, by its number', 'rejected', {
    base_resp: { status_code: 1026, status_msg: 'input new_sensitive' },
  }),
  inside('minimax: no balance, by its number', 'billing', { base_resp: { status_code: 1008, status_msg: 'x' } }),
  inside('workers ai: the neurons of a day', 'quota', {
    success: false,
    errors: [{ code: 3036, message: 'x' }],
    result: null,
  }),
  inside('fastapi: a detail', 'capacity', { detail: 'The worker stopped' }),
  inside('qianfan: the requests of a day', 'quota', {
    error_code: 17,
    error_msg: 'Open api daily request limit reached',
  }),
];
