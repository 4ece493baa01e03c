/** Describes what everybody may read: the changes of the catalogue and the status of routes. */
import { changeKinds } from '../../../catalogue/facts.js';
import { changesLimit, changesOffset } from '../../api/catalogue-changes.js';
import { json, type Resource } from '../operations.js';
import {
  array,
  boolean,
  listOf,
  number,
  numberOrNull,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  plainText,
  query,
  ref,
  text,
  textOrNull,
  time,
} from '../schema.js';
import type { Schema } from '../types.js';

const catalogueTag = {
  name: 'Catalogue',
  description: 'What changed about prices, regions, jurisdictions and terms. No key is needed.',
};

const filters = [
  query('model', 'Only changes of this model and its routes, `{creator}/{model}`.', plainText, {
    example: 'lodestone/echo',
  }),
  query('provider', 'Only changes of this provider and its routes.', plainText, { example: 'sandbox' }),
];

const value = (description: string): Schema => ({
  type: ['string', 'number', 'boolean', 'array', 'null'],
  items: { type: 'string' },
  description,
});

const change = object({
  at: time('When it was loaded.'),
  digest: text('Of the catalogue in force from then on.', { pattern: '^[0-9a-f]{64}$' }),
  kind: oneOfValues(changeKinds, 'What kind of fact it is.'),
  id: text('A route, `{creator}/{model}`, a provider or a locode.'),
  field: text('What changed; `id` where the route, model or provider itself came or went.'),
  from: value('Null where there was nothing.'),
  to: value('Null where there is nothing any more.'),
  source: textOrNull('Where the figure is from, as the catalogue’s file says.'),
  as_of: textOrNull('Of when it is, as the catalogue’s file says.'),
});

export const catalogueChanges: Resource = {
  tag: catalogueTag,
  schemas: { CatalogueChange: change },
  access: 'open',
  operations: {
    'GET /v1/catalogue/changes': {
      id: 'listCatalogueChanges',
      summary: 'List changes of the catalogue',
      description:
        'Newest first. Prices are decimals in USD for a million tokens, for one call of a tool or one request.',
      parameters: [...filters, numberParameter(changesLimit), numberParameter(changesOffset)],
      answers: {
        '200': json(
          'The list.',
          listOf(ref('CatalogueChange'), { has_more: boolean('Whether there are older ones.') }),
        ),
      },
    },
    'GET /catalogue/changes.atom': {
      id: 'getCatalogueFeed',
      summary: 'Subscribe to changes of the catalogue',
      description: 'The newest hundred as an Atom feed (RFC 4287).',
      parameters: filters,
      answers: {
        '200': {
          description: 'The feed.',
          content: { 'application/atom+xml': { schema: { type: 'string', pattern: '^<\\?xml ' } } },
        },
      },
    },
  },
};

const statusTag = {
  name: 'Status',
  description: 'How every route answered, from real requests. No key is needed.',
};

const share = (description: string) => number(description, { minimum: 0, maximum: 1 });

const statusWindow = object(
  {
    availability: share('The share of attempts that the route answered.'),
    error_rate: share('The share of attempts that it did not answer, or broke off.'),
    first_byte_ms: object({ p50: numberOrNull('The median.'), p95: numberOrNull('The 95th percentile.') }),
    tokens_per_second: object({ p50: numberOrNull('The median.') }),
  },
  { type: ['object', 'null'], description: 'Null where there were too few requests, or requests of too few accounts.' },
);

const incident = object({
  kind: oneOfValues(['breaker', 'hold'], '`breaker`: not tried after failures. `hold`: its quota is used up.'),
  from: time('When it began.'),
  to: orNull(time('When it ended; null while it lasts.')),
});

const routeStatus = {
  provider: text('The provider.'),
  locode: text('The region, or `global`.'),
  model: text('`{creator}/{model}`.'),
  windows: object({ '24h': statusWindow, '7d': statusWindow, '90d': statusWindow }),
  incidents: array(incident, 'Of the last 90 days, newest first.'),
};

export const status: Resource = {
  tag: statusTag,
  schemas: {
    RouteStatus: object(routeStatus),
    RouteHistory: object({ id: text('The four-segment id.'), ...routeStatus }),
  },
  access: 'open',
  operations: {
    'GET /v1/status': {
      id: 'getStatus',
      summary: 'Status of every route',
      description: 'There is no such path where `status.public` is false.',
      answers: { '200': json('The routes that the gateway offers.', listOf(ref('RouteStatus'))) },
    },
    'GET /status': {
      id: 'getStatusPage',
      summary: 'The status page',
      answers: {
        '200': {
          description: 'A page for people.',
          content: { 'text/html': { schema: { type: 'string', pattern: '^<!doctype html>' } } },
        },
      },
    },
  },
};
