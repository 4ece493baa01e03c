/** The usage history of an account, newest first, including requests that have just ended. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { idTimeMs } from '../../base/ids.js';
import { keyProjectId } from '../../domain/account.js';
import type { Generation } from '../../domain/generation.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { type GenerationQuery, QueryTooSlow, StoreUnavailable } from '../../storage/store.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { asGatewayError } from '../faults.js';
import { json, list, operation, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { hasMore } from '../openapi/shared.js';
import { limitRule, queryInstant, queryNumber, queryText } from '../query.js';
import { generationJson, generationProject, shownGeneration } from './generation-record.js';

/** A reader waits this long for records on their way into the store, so that it finds the requests that it made itself. */
export const settledWaitMs = 2000;

/** No request takes longer, even with a chain of ten entries. An id holds the time at which its request began. */
const requestMaxMs = 60 * 60 * 1000;

export const generationsLimit = limitRule(20, 100);

export function registerGenerations(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/generations', async (request) => {
    const limit = queryNumber(request, generationsLimit);
    const filters = generationFilters(request);
    const { id: accountId } = accountOf(request);
    const found = await recordsOf(deps, async () => {
      const { after } = filters;
      if (after !== undefined && (await findWithin(deps, request, after))?.id !== after) return null;
      return deps.store.generations.list({ accountId, limit, ...filters });
    });
    if (found === null) {
      const reason = `is "${filters.after?.slice(0, 100)}", but the account has no generation with this id`;
      throw gatewayError('field_invalid', { param: 'after', reason });
    }
    return { object: 'list', data: found.data.map(generationJson), has_more: found.hasMore };
  });

  const one = (request: FastifyRequest, id: string) => generationNamed(deps, () => findWithin(deps, request, id), id);
  app.get<{ Params: { id: string } }>('/v1/generation/:id', (request) => one(request, request.params.id));
  app.get('/v1/generation', async (request) => {
    const id = queryText(request, 'id');
    if (id === undefined) throw gatewayError('field_invalid', { param: 'id', reason: 'is missing; send ?id=gen-…' });
    return one(request, id);
  });
}

/** The generation by its id, or by the id of its request; null where it is of a project that the caller does not reach. */
export async function findWithin(deps: HttpDeps, request: FastifyRequest, id: string): Promise<Generation | null> {
  const found = await findOwn(deps, accountOf(request).id, id);
  const reached = reachedProjects(request);
  return found && (reached === null || reached.includes(generationProject(found))) ? found : null;
}

/** While the settler is replaced, an answer that was just given out is in the journal only. */
async function findOwn({ store, journal }: HttpDeps, accountId: string, id: string): Promise<Generation | null> {
  const found = (await store.generations.find(accountId, id)) ?? journal.unsettled?.(id) ?? null;
  return found?.accountId === accountId ? found : null;
}

export async function generationNamed(deps: HttpDeps, find: () => Promise<Generation | null>, id: string) {
  const generation = await recordsOf(deps, async () => (await find()) ?? (await settledElsewhere(deps, id, find)));
  if (!generation) throw gatewayError('generation_not_found', { id: id.slice(0, 100) });
  return { data: generationJson(generation) };
}

export async function recordsOf<T>(deps: HttpDeps, read: () => Promise<T>): Promise<T> {
  try {
    await deps.journal.settled(settledWaitMs);
    return await read();
  } catch (error) {
    throw unreadable(deps, error);
  }
}

/** An id that another process has just given out is not unknown: that process settles it in a moment (docs/decisions/0022). */
export async function settledElsewhere<T>(
  { deployment, clock }: HttpDeps,
  id: string,
  find: () => Promise<T | null>,
): Promise<T | null> {
  const isRecent = (idTimeMs(id) ?? 0) >= clock.now() - requestMaxMs;
  return isRecent ? deployment.findSettledElsewhere(find) : null;
}

function unreadable({ logger }: HttpDeps, error: unknown): GatewayError {
  if (error instanceof QueryTooSlow) return asGatewayError(error);
  if (!(error instanceof StoreUnavailable))
    logger.error({ error: String(error) }, 'generation records could not be read');
  return gatewayError('api_error', { what: 'The generation records cannot be read at the moment.' });
}

/** The filters in the query. */
export function generationFilters(request: FastifyRequest): Partial<GenerationQuery> {
  const filters = {
    after: queryText(request, 'after'),
    key: queryText(request, 'key'),
    endUser: queryText(request, 'end_user'),
    projects: projectScope(request),
    holder: queryText(request, 'holder'),
    model: queryText(request, 'model'),
    forModel: queryText(request, 'for_model'),
    provider: queryText(request, 'provider'),
    requestId: queryText(request, 'request_id'),
    locode: queryText(request, 'locode')?.toLowerCase(),
    served: servedOf(queryText(request, 'served')),
    status: statusOf(queryText(request, 'status')),
    fromMs: queryInstant(request, 'from'),
    toMs: queryInstant(request, 'to'),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

/**
 * The projects whose requests are asked for: those that the caller reaches, or the one of them that `project` names. Undefined for all. A
 * project that the caller does not reach has no requests, as one that does not exist.
 */
export function projectScope(request: FastifyRequest): readonly string[] | undefined {
  const reached = reachedProjects(request);
  const wanted = queryText(request, 'project');
  if (wanted === undefined) return reached ?? undefined;
  return reached === null || reached.includes(wanted) ? [wanted] : [];
}

/** An inference key, and a management key of one project, read what their project did; a developer what theirs did; null for the whole account. */
export function reachedProjects(request: FastifyRequest): readonly string[] | null {
  const { session, identity } = request;
  // An operator looks at other accounts.
  if (!identity || request.routeOptions.config.right === 'operator') return null;
  if (session) return session.current?.projects ?? null;
  const projectId = keyProjectId(identity.key);
  return projectId === null ? null : [projectId];
}

function servedOf(text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'yes' || text === 'no') return text && text === 'yes';
  throw gatewayError('field_invalid', { param: 'served', reason: 'must be "yes" or "no"' });
}

function statusOf(text: string | undefined): GenerationQuery['status'] {
  if (text === undefined || text === 'ok' || text === 'error') return text;
  if (/^[1-5]\d\d$/.test(text)) return Number(text);
  throw gatewayError('field_invalid', { param: 'status', reason: 'must be "ok", "error" or an HTTP status' });
}

const oneGeneration = json('The record.', s.object({ data: shownGeneration }));
const idText = { ...s.plainText, minLength: 1 };
const ofProject = 'Only requests of the project with this id. An inference key sees those of its own project.';

const about = 'One record a request: who served, tokens, cost, times. Never the text.';
export const generations = resource('Generations', about, 'key', {
  'GET /v1/generations': operation('listGenerations', 'List generations', {
    description: 'Newest first. `after` takes the last id of a page and gives the next one.',
    parameters: [
      s.numberParameter(generationsLimit),
      s.query('after', 'Only records older than this id.'),
      s.query('key', 'Only requests of the key of this name.'),
      s.query('end_user', 'Only requests for this end user, where the account keeps them.'),
      s.query('project', ofProject),
      s.query('holder', 'Only requests with keys that this person held.'),
      s.query('model', 'Only requests for, or served by, this id.'),
      s.query('request_id', 'Only the request with this `x-request-id`.'),
    ],
    answers: list(shownGeneration, 'A page.', hasMore),
  }),
  'GET /v1/generation/{id}': operation('getGeneration', 'Get a generation', { answers: oneGeneration }),
  'GET /v1/generation': operation('getGenerationByQuery', 'Get a generation (id in the query)', {
    parameters: [
      s.query('id', 'The `id` of an answer, or the `x-request-id` of its response.', idText, { required: true }),
    ],
    answers: oneGeneration,
  }),
});
