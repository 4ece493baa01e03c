/** Errors from policy, territory, providers, limits and the service itself: 403, 429, 451 and 5xx. */
import { errorRows, modelOperations, row, sentence } from './row.js';

export const serviceErrors = errorRows({
  routing_policy_exhausted: row<{ id: string; gates: string; param: 'model' | 'provider'; advice?: string }>({
    status: 403,
    when: 'The account routing policy, or the `allowed_providers` of the key (gate `key_scope`), excluded every candidate of an `auto/` id; or no route of an id is what the request asks for in `provider`, which `param` then names.',
    remedy:
      'Never retry. Relax a gate of the account, or pin a full four-segment id, which passes them; or relax the key or the request, whichever the message names.',
    operations: modelOperations,
    message: ({ id, gates, param, advice = 'Relax a gate, or pin a four-segment id.' }) =>
      `${param === 'provider' ? 'What the request asks for' : 'The routing policy'} excluded every route of "${id}": ${gates}. ${advice}`,
  }),
  unavailable_for_legal_reasons: row<{ reason: string; param?: string }>({
    status: 451,
    when: 'A territory restriction applies.',
    remedy: 'Retrying does not help. Where only a model is restricted, an `auto/` id lets another provider serve it.',
    message: ({ reason }) => `${reason} Retrying does not help.`,
  }),
  model_unavailable: row<{ id: string; reason: string }>({
    status: 503,
    type: 'provider_unavailable',
    param: 'model',
    when: 'The model is marked unavailable, or all of its routes are quota-held.',
    remedy: 'Use another model until it is back.',
    operations: modelOperations,
    message: ({ id, reason }) =>
      `The model of "${id}" is unavailable at the moment: ${reason}. Use another model, or try again later.`,
  }),
  provider_error: row<{ provider: string; failure: string }>({
    status: 503,
    type: 'provider_error',
    when: 'The route failed upstream, refused for lack of capacity, or cannot be priced.',
    remedy: 'Retry with backoff, or use an `auto/` id, which moves on to the next route.',
    operations: modelOperations,
    message: ({ provider, failure }) =>
      `The provider ${provider} failed: ${sentence(failure)} Retry with backoff, or use another route.`,
  }),
  answer_too_large: row<{ provider: string; failure: string }>({
    status: 503,
    type: 'provider_error',
    code: 'provider_error',
    when: 'The answer is larger, or holds more values, than the service reads, and the request may have asked for that much.',
    remedy: 'Do not retry unchanged. Ask for fewer choices, log probabilities or inputs, or for a stream.',
    operations: modelOperations,
    message: ({ provider, failure }) =>
      `The answer of the provider ${provider} is too large: ${sentence(failure)} Nothing was billed. Ask for fewer choices, log probabilities or inputs, or for a stream.`,
  }),
  no_candidate_left: row<{ id: string; reason: string }>({
    status: 503,
    type: 'provider_error',
    code: 'provider_error',
    when: 'No candidate of an `auto/` id could be tried.',
    remedy: 'See `skipped` in the record of the request, by `GET /v1/generation/{id}` with its `x-request-id`.',
    operations: modelOperations,
    message: ({ id, reason }) =>
      `No route of "${id}" could be tried: ${reason}. The receipt of the request lists each route with its reason.`,
  }),
  route_unpriced: row<{ id: string }>({
    status: 503,
    type: 'provider_error',
    code: 'provider_error',
    when: 'The route has no published price.',
    remedy: 'Choose a route with a price in `GET /v1/models`.',
    operations: modelOperations,
    message: ({ id }) =>
      `"${id}" cannot be priced: the route has no published price, so it is not served. Choose another route.`,
  }),
  provider_not_configured: row<{ provider: string }>({
    status: 503,
    type: 'provider_unavailable',
    when: 'The provider has no credentials configured on the service side.',
    remedy: 'The operator sets the provider\u2019s credential; until then choose another provider.',
    operations: modelOperations,
    message: ({ provider }) =>
      `The provider ${provider} has no credentials configured on this service. Choose another provider, or ask the operator to configure it.`,
  }),
  service_unavailable: row({
    status: 503,
    type: 'internal_server_error',
    param: 'model',
    when: 'This replica has no routing snapshot yet.',
    remedy: 'Retry shortly.',
    operations: [
      ...['createCredential', 'updateCredential', 'checkCredential'],
      ...['createAccountCredential', 'updateAccountCredential', 'checkAccountCredential'],
      'createAlias',
      'repointAlias',
      'patchAlias',
      'putFallback',
      'listRoutes',
      'setModelAvailability',
      'liftHold',
      ...modelOperations,
      'listModels',
      'getModel',
      'getStatus',
      'getStatusPage',
      'listRouteHistory',
    ],
    message: () => 'This replica has no routing snapshot yet. Retry shortly.',
  }),
  body_memory_full: row<{ whose: string; bytes: number }>({
    status: 503,
    type: 'internal_server_error',
    code: 'service_unavailable',
    when: 'The request bodies of the account, of the address before its requests are admitted, or of all callers fill the memory that the service keeps for them.',
    remedy: 'Retry shortly, with fewer large requests at a time.',
    message: ({ whose, bytes }) =>
      `The request bodies of ${whose} fill the ${bytes} bytes that the service keeps for them. Retry shortly, with fewer large requests at a time.`,
  }),
  billing_not_durable: row({
    status: 503,
    type: 'internal_server_error',
    code: 'service_unavailable',
    when: 'The disk of this replica is full or read-only, so what the request costs could not be recorded. It was not forwarded.',
    remedy: 'Retry shortly; the operator frees space on the disk of `storage.data_dir`.',
    operations: modelOperations,
    message: () =>
      'This replica cannot record what the request would cost, so it did not forward it. Nothing was billed. Retry shortly; if it persists, tell the operator.',
  }),
  provider_quota_exhausted: row<{ id: string; provider: string; credential?: string }>({
    status: 503,
    type: 'provider_unavailable',
    param: 'model',
    retryAfter: true,
    when: 'The upstream daily token quota of the route is spent.',
    remedy: 'Wait for `Retry-After` (midnight UTC), or use another region or provider.',
    operations: modelOperations,
    message: ({ id, provider, credential }) =>
      `The daily quota of ${credential === undefined ? provider : `your credential “${credential}” at ${provider}`} for "${id}" is spent until midnight UTC. Wait for Retry-After, or use another region or provider.`,
  }),
  provider_timeout: row<{ provider: string; budget: string; deadline: string }>({
    status: 504,
    type: 'provider_unavailable',
    when: 'A time budget expired: `first-byte`, `stream-idle` or `overall`. Nothing was delivered or billed.',
    remedy: 'Retry with exponential backoff and jitter.',
    operations: modelOperations,
    message: ({ provider, budget, deadline }) =>
      `The provider ${provider} did not answer in time: the ${budget} budget of ${deadline} expired. Nothing was billed. Retry with backoff.`,
  }),
  ip_rate_limited: row<{ limit: number; seconds: number }>({
    status: 429,
    type: 'invalid_request_error',
    code: 'rate_limit_exceeded',
    retryAfter: true,
    when: 'The per-IP limiter refused the request.',
    remedy: 'Wait for `Retry-After`.',
    message: ({ limit, seconds }) =>
      `More than ${limit} requests a minute came from this address. Retry after ${seconds} s.`,
  }),
  key_rate_limited: row<{ budget: 'requests' | 'tokens'; limit: number; seconds: number; project?: string }>({
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    retryAfter: true,
    when: 'The requests or tokens a minute of the key, or those that the keys of its project share, are used up.',
    remedy: 'Wait for `Retry-After`.',
    message: ({ budget, limit, seconds, project }) =>
      project === undefined
        ? `This key has used up its ${budget} budget of ${limit} a minute. Retry after ${seconds} s.`
        : `The keys of the project "${project}" have used up its ${budget} budget of ${limit} a minute, which they share. Retry after ${seconds} s.`,
  }),
  internal_server_error: row<{ what: string }>({
    status: 500,
    when: 'A failure on the service side. Nothing was billed.',
    remedy: 'Retry once.',
    message: ({ what }) =>
      `${what} Nothing was billed. Retry once; if it persists, tell the operator the x-request-id.`,
  }),
  api_error: row<{ what: string }>({
    status: 500,
    when: 'A failure on the service side, such as retrieving generation records. Nothing was billed.',
    remedy: 'Retry once.',
    operations: ['listGenerations', 'getGeneration', 'getGenerationByQuery', 'getReceiptProof', 'getAnyReceiptProof'],
    message: ({ what }) =>
      `${what} Nothing was billed. Retry once; if it persists, tell the operator the x-request-id.`,
  }),
  query_too_slow: row<{ seconds: number }>({
    status: 500,
    code: 'api_error',
    when: 'A query over the usage history took too long.',
    remedy: 'Ask for a shorter period (`from`, `to`), for larger intervals, or for fewer entries.',
    operations: [
      'listGenerations',
      'getActivity',
      'getAllActivity',
      'getLedger',
      'getStatus',
      'getStatusPage',
      'listRouteHistory',
    ],
    message: ({ seconds }) =>
      `The query took longer than ${seconds} seconds. Narrow it: ask for a shorter period (from, to), larger intervals, or fewer entries.`,
  }),
  cost_unresolvable: row<{ provider: string; reason: string }>({
    status: 200,
    type: 'provider_error',
    when: 'A pricing fault was found after a stream began (in the stream; no `data: [DONE]` follows).',
    remedy: 'Treat the answer as incomplete. Nothing was billed.',
    message: ({ provider, reason }) =>
      `The cost of this answer of ${provider} cannot be resolved: ${reason}. The stream ends here, incomplete; nothing was billed.`,
  }),
});
