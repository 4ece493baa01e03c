/** Probes, metrics and this document. */
import { json, openOperation } from '../operations.js';
import { array, object, ref, text } from '../schema.js';
import type { Operation, Resource } from '../types.js';

const tag = { name: 'Operations', description: 'Probes and metrics; no key is needed.' };

const degraded = array(
  { type: 'string', enum: ['redis', 'redis_url'] },
  'What it serves without: `redis` is away, so more slowly or with local limits; `redis_url` is not set although other processes serve from the same database.',
);

const metrics: Operation = openOperation(
  {
    id: 'getMetrics',
    tag: tag.name,
    summary: 'Metrics for Prometheus',
    description: 'From the host itself, or with the admin token.',
    answers: {
      '200': {
        description: 'Prometheus’ text format.',
        content: { 'text/plain': { schema: { type: 'string', pattern: '^# (HELP|TYPE) ' } } },
      },
    },
    errors: ['admin_token_wrong', 'admin_rate_limited'],
  },
  false,
);

export const ops: Resource = {
  tag,
  schemas: {
    Ready: object({ status: { const: 'ready' }, degraded }, { optional: ['degraded'] }),
    NotReady: object(
      {
        status: { const: 'not_ready' },
        missing: array({ type: 'string', enum: ['draining', 'snapshot', 'store', 'journal'] }, 'What it waits for.'),
        reason: text('Why the journal cannot be written.'),
        degraded,
      },
      { optional: ['reason', 'degraded'] },
    ),
  },
  paths: {
    '/healthz': {
      get: openOperation(
        {
          id: 'getHealth',
          tag: tag.name,
          summary: 'Is the process alive?',
          answers: { '200': json('It is.', object({ status: { const: 'ok' } })) },
        },
        false,
      ),
    },
    '/readyz': {
      get: openOperation(
        {
          id: 'getReadiness',
          tag: tag.name,
          summary: 'Can it serve?',
          answers: {
            '200': json('A routing snapshot is loaded and the store answers.', ref('Ready')),
            '503': json('Not now; send no traffic.', ref('NotReady')),
          },
        },
        false,
      ),
    },
    '/metrics': { get: { ...metrics, security: [{}, { adminToken: [] }] } },
    '/openapi.json': {
      get: openOperation(
        {
          id: 'getOpenApi',
          tag: tag.name,
          summary: 'This document',
          answers: {
            '200': json('OpenAPI 3.1.', { type: 'object', additionalProperties: true }, ['etag']),
            '304': { description: 'It has not changed since the `etag` that was sent.', headers: ['etag'] },
          },
        },
        true,
      ),
    },
  },
};
