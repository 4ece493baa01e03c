/** Describes routes and their health, model availability, the catalogue and the audit trail. */
import { keyStates } from '../../../base/provider-key.js';
import { datePattern } from '../../../base/time.js';
import { auditLimit } from '../../admin/audit.js';
import { modelStateNames, newState } from '../../admin/routes.js';
import { json, noContent, type Resource } from '../operations.js';
import {
  array,
  bodySchema,
  boolean,
  integer,
  listOf,
  number,
  numberOrNull,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  query,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import type { Schema } from '../types.js';

export const auditEntry = {
  id: text('Its id.'),
  seq: integer('Its number, from 1 and without gaps.'),
  created_at: time('When.'),
  actor: text('Who: `operator`, `system`, `anonymous` or `account:{id}`.'),
  by: textOrNull('Who more exactly: `person:{id}`, `key:{id}` or `admin_token`; null where it is not known.'),
  account: textOrNull('The account that it concerns; null where it concerns none.'),
  address: textOrNull('The address that it was done from; null where it is not known.'),
  action: text('What was done: `key.create`, `credits.post` …'),
  subject: text('To what.'),
  details: { type: ['object', 'null'], additionalProperties: true, description: 'The rest.' } as Schema,
  leaf_index: orNull(
    integer(
      'Its place in the log of receipts; null until it is sealed, and for entries from before the log had the audit.',
    ),
  ),
};

const tag = {
  name: 'Routes',
  description: 'For operators: the health of routes, the catalogue, and who changed what.',
};

const counts = { models: integer('Models.'), routes: integer('Routes.'), providers: integer('Providers.') };

const someText = { type: 'string', minLength: 1, pattern: '^[^\\x00]+$' };

const billedLine = object({
  day: text('The day, UTC.'),
  route: text('The four-segment id.'),
  model: text('The model as the provider names it.'),
  name: text('The line of the bill.'),
  count: integer('Tokens, calls or requests.'),
  cost_usd: usd('What it cost.'),
});

const route = object(
  {
    id: text('The four-segment id.'),
    provider: text('The provider.'),
    creator: text('The creator.'),
    model: text('The model.'),
    locode: text('The region.'),
    default: boolean('The provider’s default region for the model.'),
    configured: boolean('The provider has its credentials.'),
    priced: boolean('A price is published.'),
    model_state: oneOfValues(modelStateNames, 'The model’s availability.'),
    breaker: oneOfValues(['closed', 'open', 'half_open'], 'The route’s circuit breaker.'),
    hold: object(
      {
        until: time('Midnight UTC, or when the first of several keys may be used again.'),
        reason: text('What spent the quota.'),
      },
      { optional: ['reason'], type: ['object', 'null'], description: 'A quota hold; null where there is none.' },
    ),
    latency_ms: numberOrNull('Smoothed time to the first byte of recent answers.'),
    error_rate: numberOrNull('Share of recent attempts that failed.'),
    keys: array(
      object({
        name: text('Its name in the configuration.'),
        weight: number('Its share beside the other keys.'),
        models: orNull(array(text('`{creator}/{model}` or `{creator}/*`.'), 'What it is for; null is everything.')),
        state: oneOfValues(keyStates, '`refused` lasts until the catalogue is reloaded.'),
        until: orNull(time('When it may be used again; null where it is not held.')),
        reason: textOrNull('`limited` by a rate limit or for lack of credit, or `spent` by a daily quota.'),
        running: integer('Requests of this process that run with it.'),
        calls: integer('Calls of this process with it.'),
      }),
      'The keys for the route, where the provider has `keys` in the configuration. Each process has its own figures.',
    ),
  },
  { optional: ['keys'] },
);

export const adminRoutes: Resource = {
  tag,
  schemas: {
    Route: route,
    BilledLine: billedLine,
    NewAvailability: bodySchema(newState),
    ModelAvailability: object({
      object: { const: 'model_availability' },
      id: text('`{creator}/{model}`.'),
      state: oneOfValues(modelStateNames, 'The state.'),
      reason: textOrNull('What callers are told.'),
    }),
    CatalogueCounts: object({
      ...counts,
      sandbox: object(counts, { description: 'Those of the built-in sandbox, which are in the figures above too.' }),
    }),
    RouteRetirement: object({
      route: text('The four-segment id.'),
      model: text('`creator/model`.'),
      date: text('From this day on, 00:00 UTC, it is not served.', { format: 'date' }),
      replaced_by: textOrNull('The model to change to; null where none is known.'),
      retired: boolean('The day has come.'),
      names: array(
        object({
          account_id: text('Whose name it is.'),
          name: text('`alias/{name}`, or an entry of the fallback chain.'),
        }),
        'What leads to the route in the settings of accounts.',
      ),
    }),
    AuditEntry: object(auditEntry),
  },
  operations: {
    'GET /admin/v1/billed-lines': {
      id: 'listBilledLines',
      summary: 'List what was billed for a provider on a day',
      description:
        'By route and line of the bills, as in `cost_lines` of a generation. `requests` counts the answers, `unrecorded` those of versions that kept no lines. `lodestone reconcile` compares it with a provider’s usage export.',
      parameters: [
        query('provider', 'The provider.', someText, { required: true, example: 'sandbox' }),
        query('day', 'The day, UTC.', { ...someText, pattern: datePattern }, { required: true, example: '2026-11-16' }),
        query(
          'credential',
          'Of the operator’s credentials where it is left out; `own` of all of customers, or the id of one.',
          someText,
          { required: true },
        ),
      ],
      answers: { '200': json('The lines.', listOf(ref('BilledLine'))) },
    },
    'GET /admin/v1/routes': {
      id: 'listRoutes',
      summary: 'List routes with their health',
      answers: { '200': json('The list.', listOf(ref('Route'))) },
    },
    'GET /admin/v1/routes/history': {
      id: 'listRouteHistory',
      summary: 'List routes with their history',
      description: 'The figures of `GET /v1/status` for every route of the catalogue, however few requests there were.',
      answers: { '200': json('The list.', listOf(ref('RouteHistory'))) },
    },
    'PUT /admin/v1/models/{creator}/{model}/availability': {
      id: 'setModelAvailability',
      summary: 'Disable or enable a model',
      body: {
        schema: ref('NewAvailability'),
        examples: {
          soft: { summary: 'Out for now', value: { state: 'soft_disabled', reason: 'Maintenance until 18:00 UTC' } },
          available: { summary: 'Back', value: { state: 'available' } },
        },
      },
      answers: { '200': json('The state.', ref('ModelAvailability')) },
    },
    'DELETE /admin/v1/routes/{provider}/{creator}/{model}/{locode}/hold': {
      id: 'liftHold',
      summary: 'Lift a quota hold',
      answers: { '204': noContent },
    },
    'POST /admin/v1/catalogue/reload': {
      id: 'reloadCatalogue',
      summary: 'Reload the catalogue',
      description: 'Takes changed catalogue files and provider settings into use: all of them, or none.',
      answers: { '200': json('What is in use now.', ref('CatalogueCounts')) },
    },
    'GET /admin/v1/catalogue/retirements': {
      id: 'listRetirements',
      summary: 'List routes that retire',
      description:
        'Routes that retire within 60 days or are retired, and what leads to them in the settings of accounts.',
      answers: { '200': json('The routes.', listOf(ref('RouteRetirement'))) },
    },
    'GET /admin/v1/audit': {
      id: 'listAudit',
      summary: 'Who did what',
      parameters: [numberParameter(auditLimit)],
      answers: { '200': json('The entries.', listOf(ref('AuditEntry'))) },
    },
  },
};
