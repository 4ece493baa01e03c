/** The record of a request in the usage history, as the API shows it. */
import { usdText } from '../../base/money.js';
import type { CredentialName } from '../../catalogue/credential-name.js';
import { apiNames } from '../../catalogue/route.js';
import { billJson, usageJson } from '../../domain/bill-json.js';
import { type Generation, skipReasons } from '../../domain/generation.js';
import { defaultProjectId, shownPersonId } from '../../domain/organisation.js';
import { costDetails } from '../openapi/receipt.js';
import { record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { credentialName } from '../openapi/shared.js';

export const generationProject = ({ projectId, accountId }: Generation) => projectId ?? defaultProjectId(accountId);

export function generationJson(generation: Generation) {
  return {
    id: generation.id,
    request_id: generation.requestId,
    created_at: new Date(generation.createdAt).toISOString(),
    key_name: generation.keyName,
    requested_model: generation.requestedModel,
    served_model: generation.servedModel,
    provider: generation.provider,
    locode: generation.locode,
    streamed: generation.streamed,
    status: generation.status,
    prompt_tokens: generation.promptTokens,
    completion_tokens: generation.completionTokens,
    cached_tokens: generation.cachedTokens,
    reasoning_tokens: generation.reasoningTokens,
    cost_usd: usdText(generation.costPico),
    notional_usd: generation.notionalPico == null ? null : usdText(generation.notionalPico),
    is_byok: generation.credentialId != null,
    credential: credentialJson(generation),
    latency_ms: generation.latencyMs,
    first_byte_ms: generation.firstByteMs,
    providers_attempted: generation.providersAttempted,
    fallback_occurred: generation.fallbackOccurred,
    finish_reason: generation.finishReason,
    stream_end: generation.streamEnd,
    usage_source: generation.usageSource,
    error_code: generation.errorCode,
    attempts: generation.attempts,
    skipped: generation.skipped ?? [],
    request_policy: generation.requestPolicy ?? null,
    door: generation.door ?? 'chat',
    service_tier: generation.bill?.tier ?? null,
    project: generationProject(generation),
    holder: generation.holderId ? shownPersonId(generation.holderId) : null,
    end_user: generation.endUser ?? null,
    usage: usageJson(generation),
    ...billJson(generation.bill, generation.credentialId == null ? null : generation.costPico),
  };
}

/** Whose credential served; null where nobody did. */
function credentialJson({ servedModel, credentialId, credentialOwner }: Generation): CredentialName | null {
  if (servedModel === null) return null;
  return credentialId == null
    ? { id: null, owner: 'operator' }
    : { id: credentialId, owner: credentialOwner ?? 'account' };
}

const attempt = s.object({
  provider: s.text('The provider.'),
  locode: s.text('The region.'),
  outcome: s.text('`served`, or what the failure meant.'),
  status: s.integerOrNull('The upstream’s HTTP status.'),
  first_byte_ms: s.numberOrNull('From its start to the provider’s first byte.'),
  error: s.textOrNull('What it said.'),
});

const costLine = s.object({
  name: s.text(
    'What was counted, named as the prices of a route: `input`, `cached_input`, `cache_write_1h`, `tools.web_search` and so on. ' +
      '`unpriced_tools` are calls that the provider made by itself and that have no price.',
  ),
  count: s.integer('How many.'),
  unit: s.oneOfValues(['token', 'call', 'request'], 'What is counted.'),
  price_usd: s.usd('The price of one.'),
  cost_usd: s.usd('Count times price.'),
});

const tokens = s.integer('Tokens of this class; 0 where it was billed as another one.');
const usage = s.object({
  prompt_tokens: s.integer('Tokens of the request.'),
  completion_tokens: s.integer('Tokens of the answer.'),
  total_tokens: s.integer('The sum of the two.'),
  prompt_tokens_details: s.object({
    cached_tokens: tokens,
    cache_write_tokens: tokens,
    cache_write_1h_tokens: tokens,
    audio_tokens: tokens,
    image_tokens: tokens,
  }),
  completion_tokens_details: s.object({ reasoning_tokens: tokens, audio_tokens: tokens, image_tokens: tokens }),
});

const skippedRoute = s.object({
  route: s.text('The route’s id, with four segments.'),
  reason: s.oneOfValues(skipReasons, 'Why it was not tried; as the verdicts of `POST /v1/routes/explain`.'),
  param: s.textOrNull('The parameter that the route cannot apply; null for other reasons.'),
});

export const shownGeneration = record('Generation', {
  id: s.text('The `id` of the answer.', s.idPattern('gen')),
  request_id: s.text('The `x-request-id` of the response.', s.idPattern('req')),
  created_at: s.time('When the request came.'),
  key_name: s.text('The key’s name.'),
  requested_model: s.text('The id as it was sent.'),
  served_model: s.textOrNull('The route that served; null on failures.'),
  provider: s.textOrNull('The provider that served.'),
  locode: s.textOrNull('The region that served.'),
  streamed: s.boolean('A stream was asked for.'),
  status: s.integer('The HTTP status that was answered.'),
  prompt_tokens: s.integer('Tokens of the request.'),
  completion_tokens: s.integer('Tokens of the answer.'),
  cached_tokens: s.integer('Of the prompt, what came from a cache.'),
  reasoning_tokens: s.integer('Of the answer, what was reasoning.'),
  cost_usd: s.usd('What it cost the account; the fee where its own credential has served.'),
  notional_usd: s.textOrNull('The list price of what an own credential has paid for; null without one.'),
  is_byok: s.boolean('An own credential of the account or its project has served.'),
  credential: s.objectOrNull(
    'The credential that the provider was called with; null where nobody served.',
    credentialName,
  ),
  latency_ms: s.number('From the request to the end of the answer.'),
  first_byte_ms: s.numberOrNull(
    'From the request’s arrival to the first byte for the caller; null where nothing was delivered.',
  ),
  providers_attempted: s.texts('One entry an attempt, in order.'),
  fallback_occurred: s.boolean('The route that served was not the first attempted.'),
  finish_reason: s.textOrNull('Why the answer ended.'),
  stream_end: s.oneOfValues(
    ['complete', 'stalled', 'cut', 'client_closed', 'pricing_fault', null],
    'How a stream ended.',
  ),
  usage_source: s.oneOfValues(
    ['provider', 'counted', 'estimated', null],
    'Who counted the tokens: the provider, or Lodestone; or a lower bound, where the process died before it could.',
  ),
  error_code: s.textOrNull('The error’s code.'),
  attempts: s.array(attempt, 'Every attempt.'),
  skipped: s.array(
    skippedRoute,
    'Routes that were not tried, in their order, at most 64. Where another route served, without those that are not set up or have no price. Empty in records of older versions.',
  ),
  cost_details: s.anyOrNull(
    'As in the `usage` of the answer; null where nothing was billed, and in records of older versions.',
    costDetails,
  ),
  notional_cost_details: s.anyOrNull(
    'The list price by class, where an own credential has served; else null.',
    costDetails,
  ),
  cost_lines: s.anyOrNull(
    'The lines of the bill, whose sum is `cost_usd`, or `notional_usd` where that is not null; null where nothing was billed, and in records of older versions.',
    s.array(costLine, 'The lines of the bill.'),
  ),
  door: s.oneOfValues(apiNames, 'The client API that the request came by.'),
  service_tier: s.textOrNull('The tier whose price applied; null for the ordinary price.'),
  project: s.text('The id of the project that paid for it.'),
  holder: s.textOrNull('The id of the person who held the key; null where it belonged to the project.'),
  end_user: s.textOrNull('The end user that the request named; null where the account does not keep it.'),
  usage,
  request_policy: {
    type: ['object', 'null'],
    description: 'The `provider` object of the request, without nulls and empty lists.',
    additionalProperties: true,
  },
});
