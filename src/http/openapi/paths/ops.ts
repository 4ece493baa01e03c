/** Describes probes, metrics, this document, and the webhook of the payment processor. */
import { json, type Resource } from '../operations.js';
import { array, integer, object, ref, text } from '../schema.js';

const opsTag = { name: 'Operations', description: 'Probes and metrics; no key is needed.' };

const degraded = array(
  { type: 'string', enum: ['redis', 'redis_url'] },
  'Parts that are missing while it serves: `redis` cannot be reached, so requests are slower and limits are local; `redis_url` is not set although other processes serve from the same database.',
);

const countryData = object(
  {
    built: text('The day on which it was made, UTC.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    age_days: integer('Whole days since then.', { minimum: 0 }),
  },
  { description: 'The data by which addresses have a country; absent where none could be read.' },
);

export const ops: Resource = {
  tag: opsTag,
  schemas: {
    Ready: object(
      { status: { const: 'ready' }, degraded, country_data: countryData },
      { optional: ['degraded', 'country_data'] },
    ),
    NotReady: object(
      {
        status: { const: 'not_ready' },
        missing: array({ type: 'string', enum: ['draining', 'snapshot', 'store', 'journal'] }, 'The missing parts.'),
        reason: text('Why the journal cannot be written.'),
        degraded,
      },
      { optional: ['reason', 'degraded'] },
    ),
  },
  operations: {
    'GET /healthz': {
      access: 'probe',
      id: 'getHealth',
      summary: 'Is the process alive?',
      answers: { '200': json('It is.', object({ status: { const: 'ok' } })) },
    },
    'GET /readyz': {
      access: 'probe',
      id: 'getReadiness',
      summary: 'Can it serve?',
      answers: {
        '200': json('A routing snapshot is loaded and the store answers.', ref('Ready')),
        '503': json('Not now; send no traffic.', ref('NotReady')),
      },
    },
    'GET /metrics': {
      access: 'metrics',
      id: 'getMetrics',
      summary: 'Metrics for Prometheus',
      description: 'From the host itself, or with the admin token.',
      answers: {
        '200': {
          description: 'Prometheus’ text format.',
          content: { 'text/plain': { schema: { type: 'string', pattern: '^# (HELP|TYPE) ' } } },
        },
      },
    },
    'GET /openapi.json': {
      access: 'open',
      id: 'getOpenApi',
      summary: 'This document',
      answers: {
        '200': json('OpenAPI 3.1.', { type: 'object', additionalProperties: true }, ['etag']),
        '304': { description: 'It has not changed since the `etag` that was sent.', headers: ['etag'] },
      },
    },
  },
};

const webhookTag = { name: 'Webhooks', description: 'Only for the payment processor, which signs its calls.' };

const example = {
  id: 'evt_1QZ3kX2eZvKYlo2C0aBcDeFg',
  object: 'event',
  type: 'checkout.session.completed',
  created: 1_791_979_200,
  data: { object: { id: 'cs_live_a1', object: 'checkout.session', payment_status: 'paid', metadata: {} } },
};

export const webhooks: Resource = {
  tag: webhookTag,
  access: 'open',
  operations: {
    'POST /webhooks/stripe': {
      id: 'receiveStripeEvent',
      summary: 'Report a payment',
      description:
        'Called by Stripe with a `stripe-signature` header over the body, at most five minutes old. An event counts once, however often it is sent. There is no such path where `payments.processor` is `none`.',
      parameters: [
        {
          name: 'stripe-signature',
          in: 'header',
          required: true,
          description: 'The time, and the signature of time and body with `payments.webhook_secret`.',
          schema: { type: 'string' },
        },
      ],
      body: {
        schema: { type: 'object', additionalProperties: true },
        examples: { paid: { summary: 'A checkout was paid', value: example } },
      },
      answers: {
        '200': json(
          'The event need not be sent again.',
          object({
            received: { const: true },
            outcome: {
              type: 'string',
              enum: ['recorded', 'repeated', 'ignored', 'refused'],
              description: 'What happened to it. A refused event is in the log and needs attention.',
            },
          }),
        ),
      },
    },
  },
};
