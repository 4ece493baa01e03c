/** `GET /v1/catalogue/changes` and `GET /catalogue/changes.atom`: what every load of the catalogue has changed. No key is needed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { catalogueDigest } from '../../catalogue/digest.js';

import { changeKinds } from '../../catalogue/facts.js';
import type { ChangeQuery, RecordedChange } from '../../storage/store.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record, resource, textAnswer } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { changedValue } from '../openapi/shared.js';
import { limitRule, type NumberParameter, queryNumber, queryText } from '../query.js';
import { allowOrigin } from '../server/headers.js';
import { atomFeed } from './catalogue-feed.js';

const changesLimit = limitRule(20, 100);
const changesOffset: NumberParameter = {
  name: 'offset',
  description: 'How many of the newest to leave out.',
  default: 0,
  min: 0,
  max: 1_000_000,
};

const feedEntries = 100;
const cacheControl = 'public, max-age=5';

export function registerCatalogueChanges(app: FastifyInstance, deps: HttpDeps): void {
  const read = cachedChanges(deps);
  app.get('/v1/catalogue/changes', async (request, reply) => {
    const page = { limit: queryNumber(request, changesLimit), offset: queryNumber(request, changesOffset) };
    const { data, hasMore } = await read({ ...page, ...filtersOf(request) });
    reply.header('cache-control', cacheControl);
    return { object: 'list', data: data.map(changeJson), has_more: hasMore };
  });
  app.get('/catalogue/changes.atom', async (request, reply) => {
    const filters = filtersOf(request);
    const { data } = await read({ limit: feedEntries, offset: 0, ...filters });
    const base = deps.dashboard?.addresses().base ?? 'http://localhost';
    reply.headers({ ...allowOrigin, 'cache-control': cacheControl });
    return reply.header('content-type', 'application/atom+xml; charset=utf-8').send(atomFeed(base, data, filters));
  });
}

function filtersOf(request: FastifyRequest): Pick<ChangeQuery, 'model' | 'provider'> {
  return { model: queryText(request, 'model'), provider: queryText(request, 'provider') };
}

export function changeJson({ atMs, digest, kind, id, field, from, to, source, asOf }: RecordedChange) {
  return { at: new Date(atMs).toISOString(), digest, kind, id, field, from, to, source, as_of: asOf };
}

const freshMs = 5_000;
const keptMax = 200;

type Changes = Awaited<ReturnType<HttpDeps['store']['catalogueLog']['changes']>>;

/** Answers are kept for seconds, so that strangers cannot load the store. A load that changes something is shown at once. */
function cachedChanges({ store, catalogue, clock }: HttpDeps): (query: ChangeQuery) => Promise<Changes> {
  const kept = new Map<string, { readonly untilMs: number; readonly changes: Promise<Changes> }>();
  return (query) => {
    const nowMs = clock.monotonicMs();
    const key = JSON.stringify([catalogue.current && catalogueDigest(catalogue.current), query]);
    const known = kept.get(key);
    if (known && nowMs < known.untilMs) return known.changes;
    if (kept.size >= keptMax) kept.clear();
    const changes = store.catalogueLog.changes(query);
    kept.set(key, { untilMs: nowMs + freshMs, changes });
    changes.catch(() => kept.delete(key));
    return changes;
  };
}

const change = record('CatalogueChange', {
  at: s.time('When it was loaded.'),
  digest: s.text('Of the catalogue in force from then on.', { pattern: '^[0-9a-f]{64}$' }),
  kind: s.oneOfValues(changeKinds, 'What kind of fact it is.'),
  id: s.text('A route, `{creator}/{model}`, a provider or a locode.'),
  field: s.text('What changed; `id` where the route, model or provider itself came or went.'),
  from: changedValue('Null where there was nothing.'),
  to: changedValue('Null where there is nothing any more.'),
  source: s.textOrNull('Where the figure is from, as the catalogue’s file says.'),
  as_of: s.textOrNull('Of when it is, as the catalogue’s file says.'),
});

const filters = [
  s.query('model', 'Only changes of this model and its routes, `{creator}/{model}`.', s.plainText, {
    example: 'lodestone/echo',
  }),
  s.query('provider', 'Only changes of this provider and its routes.', s.plainText, { example: 'sandbox' }),
];

const about = 'What changed about prices, regions, jurisdictions and terms. No key is needed.';
export const catalogueChanges = resource('Catalogue', about, 'open', {
  'GET /v1/catalogue/changes': operation('listCatalogueChanges', 'List changes of the catalogue', {
    description:
      'Newest first. Prices are decimals in USD for a million tokens, for one call of a tool or one request.',
    parameters: [...filters, s.numberParameter(changesLimit), s.numberParameter(changesOffset)],
    answers: list(change, 'The list.', { has_more: s.boolean('Whether there are older ones.') }),
  }),
  'GET /catalogue/changes.atom': operation('getCatalogueFeed', 'Subscribe to changes of the catalogue', {
    description: 'The newest hundred as an Atom feed (RFC 4287).',
    parameters: filters,
    answers: textAnswer('The feed.', 'application/atom+xml', '^<\\?xml '),
  }),
});
