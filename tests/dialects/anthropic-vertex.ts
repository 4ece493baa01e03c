/** A scripted upstream for Claude on Vertex AI: Anthropic's shapes under Google's addresses, with the errors of both. */
import { anthropicVertex } from '../../src/providers/dialects/anthropic/vertex.js';
import type { Json } from '../support/client.js';
import { anthropicFixture } from './anthropic.js';
import type { DialectFixture } from './dialect-fixture.js';
import { sseChunks } from './sse-chunks.js';

export const vertexBasePath = '/v1/projects/our-project/locations/europe-west1/publishers/anthropic';

const requests = Object.fromEntries(
  Object.entries(anthropicFixture.requests).map(([name, { model: _, ...body }]) => [
    name,
    { anthropic_version: 'vertex-2023-10-16', ...body } as Json,
  ]),
) as DialectFixture['requests'];

/** An event of the platform itself, which Anthropic's own API does not send. */
const platformEvent =
  'event: vertex_event\ndata: {"type":"vertex_event","usage_metadata":{"traffic_type":"ON_DEMAND"}}\n\n';

const google = (code: number, status: string, message: string) => ({ error: { code, message, status } });

export const anthropicVertexFixture: DialectFixture = {
  ...anthropicFixture,
  dialect: 'anthropic-vertex',
  basePath: vertexBasePath,
  upstreamModel: 'claude-sonnet-4-6@default',
  paths: {
    whole: `${vertexBasePath}/models/claude-sonnet-4-6%40default:rawPredict`,
    stream: `${vertexBasePath}/models/claude-sonnet-4-6%40default:streamRawPredict`,
  },
  requests,
  frames: (said, write) => [platformEvent, ...anthropicFixture.frames(said, write)],
  failures: {
    // What the model refuses comes from Anthropic, what the platform refuses from Google.
    ...anthropicFixture.failures,
    capacity: {
      status: 429,
      body: [google(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later. Out of capacity.')],
    },
    rate_limit: {
      status: 429,
      body: google(
        429,
        'RESOURCE_EXHAUSTED',
        'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_minute_per_base_model with base model: anthropic-claude-sonnet-4-6. Please submit a quota increase request.',
      ),
    },
    auth: {
      status: 401,
      body: [
        google(
          401,
          'UNAUTHENTICATED',
          'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
        ),
      ],
    },
    unknown_model: {
      status: 404,
      body: google(
        404,
        'NOT_FOUND',
        'Publisher Model `projects/our-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-6@default` was not found or your project does not have access to it.',
      ),
    },
    server_error: { status: 500, body: google(500, 'INTERNAL', 'Internal error encountered.') },
  },
  chunksOf: (pieces) => sseChunks(anthropicVertex, pieces),
};
