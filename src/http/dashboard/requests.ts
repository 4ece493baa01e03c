/** The requests of an account as the Usage page lists them: `GET usage/requests`, and for operators `GET operator/requests`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { GenerationSort } from '../../storage/store.js';
import { accountNamed } from '../admin/accounts.js';
import { generationJson } from '../api/generation-record.js';
import { generationFilters, generationNamed, generationsLimit, recordsOf } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryNumber, queryText } from '../query.js';

const sorts: readonly GenerationSort[] = ['newest', 'oldest', 'cost', 'latency', 'tokens'];

export function registerRequests(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/usage/requests', (request) => page(deps, request, accountOf(request).id));
}

/** `account` names the account. */
export function registerOperatorRequests(app: FastifyInstance, deps: HttpDeps): void {
  const owner = async (request: FastifyRequest) => (await accountNamed(deps, queryText(request, 'account') ?? '')).id;
  app.get('/requests', async (request) => page(deps, request, await owner(request)));
  app.get<{ Params: { id: string } }>('/requests/:id', async (request) => {
    const { id } = request.params;
    const accountId = await owner(request);
    return generationNamed(deps, () => deps.store.generations.find(accountId, id), id);
  });
}

async function page(deps: HttpDeps, request: FastifyRequest, accountId: string) {
  const limit = queryNumber(request, generationsLimit);
  const sort = sortOf(request);
  const filters = generationFilters(request);
  const found = await recordsOf(deps, () => deps.store.generations.list({ accountId, limit, sort, ...filters }));
  // A sort by a figure has one page: a cursor would need every figure before it.
  const hasMore = found.hasMore && (sort === 'newest' || sort === 'oldest');
  return { object: 'list', data: found.data.map(generationJson), has_more: hasMore };
}

function sortOf(request: FastifyRequest): GenerationSort {
  const text = queryText(request, 'sort') ?? 'newest';
  const sort = sorts.find((candidate) => candidate === text);
  if (!sort) throw gatewayError('field_invalid', { param: 'sort', reason: `must be one of ${sorts.join(', ')}` });
  return sort;
}
