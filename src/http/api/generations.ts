/** The usage history of an account (contract 4.6): its own records only, newest first, including what has just ended. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { usdText } from '../../base/money.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { Generation } from '../../storage/records.js';
import { StoreUnavailable } from '../../storage/store.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryNumber, queryText } from '../query.js';

/** How long a reader waits for records that are still on their way into the store: it shall read what it caused. */
export const settledWaitMs = 2000;

const defaultLimit = 20;
const limitMax = 100;

export function registerGenerations(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/generations', async (request) => {
    const limit = queryNumber(request, 'limit', { default: defaultLimit, min: 1, max: limitMax });
    const filters = optional({
      after: queryText(request, 'after'),
      key: queryText(request, 'key'),
      model: queryText(request, 'model'),
    });
    const found = await recordsOf(deps, () =>
      deps.store.generations.list({ accountId: accountOf(request).id, limit, ...filters }),
    );
    return { object: 'list', data: found.data.map(generationJson), has_more: found.hasMore };
  });

  const one = async (request: FastifyRequest, id: string) => {
    const generation = await recordsOf(deps, () => deps.store.generations.find(accountOf(request).id, id));
    if (!generation) throw gatewayError('generation_not_found', { id: id.slice(0, 100) });
    return { data: generationJson(generation) };
  };
  app.get<{ Params: { id: string } }>('/v1/generation/:id', (request) => one(request, request.params.id));
  app.get('/v1/generation', async (request) => {
    const id = queryText(request, 'id');
    if (id === undefined) throw gatewayError('field_invalid', { param: 'id', reason: 'is missing; send ?id=gen-…' });
    return one(request, id);
  });
}

async function recordsOf<T>(deps: HttpDeps, read: () => Promise<T>): Promise<T> {
  try {
    await deps.journal.settled(settledWaitMs);
    return await read();
  } catch (error) {
    throw unreadable(deps, error);
  }
}

function unreadable({ logger }: HttpDeps, error: unknown): GatewayError {
  if (!(error instanceof StoreUnavailable))
    logger.error({ error: String(error) }, 'generation records could not be read');
  return gatewayError('api_error', { what: 'The generation records cannot be read at the moment.' });
}

function optional<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string;
  };
}

function generationJson(generation: Generation) {
  return {
    id: generation.id,
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
    latency_ms: generation.latencyMs,
    first_byte_ms: generation.firstByteMs,
    providers_attempted: generation.providersAttempted,
    fallback_occurred: generation.fallbackOccurred,
    finish_reason: generation.finishReason,
    stream_end: generation.streamEnd,
    usage_source: generation.usageSource,
    error_code: generation.errorCode,
    attempts: generation.attempts,
  };
}
