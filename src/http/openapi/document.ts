/** Builds the OpenAPI document from the resources, the error table and the headers, and serves it. */
import type { FastifyInstance } from 'fastify';
import { version } from '../../base/version.js';
import { allowOrigin } from '../server/headers.js';
import { type StaticContent, sendStatic, staticContent } from '../server/static-answer.js';
import { errorExamples, errorSchemas } from './errors.js';
import { headers } from './headers.js';
import { httpLayerResponse, pathsOf, type Resource } from './operations.js';
import { account, aliases, fallback, routingPolicy } from './paths/account.js';
import { activity } from './paths/activity.js';
import { adminAccounts, adminCredits } from './paths/admin-accounts.js';
import { adminRoutes } from './paths/admin-routes.js';
import { adminCatalogue } from './paths/catalogue-updates.js';
import { chat } from './paths/chat.js';
import { adminCredentials, credentials } from './paths/credentials.js';
import { messages, responses } from './paths/doors.js';
import { catalogueChanges, status } from './paths/evidence.js';
import { generations } from './paths/generations.js';
import { adminKeys, managedKeys } from './paths/keys.js';
import { log } from './paths/log.js';
import { explain, models } from './paths/models.js';
import { adminNames } from './paths/names.js';
import { ops, webhooks } from './paths/ops.js';
import { members, people } from './paths/people.js';
import { adminProjects, ownAccount, projects } from './paths/projects.js';
import { records } from './paths/records.js';
import { embeddings, rerank } from './paths/tasks.js';
import { token } from './paths/token.js';
import type { OpenApiDocument } from './types.js';

/** Every resource, in the order of the API reference. */
const resourceGroups = {
  'Inference API': [
    chat,
    messages,
    responses,
    embeddings,
    rerank,
    models,
    explain,
    routingPolicy,
    aliases,
    fallback,
    generations,
    log,
    activity,
    account,
    ownAccount,
    projects,
    token,
    credentials,
    managedKeys,
    members,
    catalogueChanges,
    status,
  ],
  'Admin API': [
    ...[
      adminAccounts,
      people,
      adminProjects,
      adminCredentials,
      adminKeys,
      adminCredits,
      adminRoutes,
      adminCatalogue,
      adminNames,
    ],
    records,
  ],
  Service: [ops, webhooks],
};

/** `GET /openapi.json` needs no key. */
export function registerOpenApi(app: FastifyInstance): void {
  let content: StaticContent | undefined;
  app.get('/openapi.json', (request, reply) => {
    content ??= staticContent('application/json; charset=utf-8', JSON.stringify(openApiDocument));
    // Tools of other origins may read it, as they may call the API.
    reply.headers(allowOrigin);
    return sendStatic(request, reply, content, 'public, max-age=0, must-revalidate');
  });
}

const description = `Lodestone is an inference gateway: chat completions, messages, responses, embeddings and rerank, routed to a provider and a region, with a receipt.

**Keys.** The inference API takes \`Authorization: Bearer sk-lr-…\`, a key from the dashboard. The admin API takes the admin token.

**Errors.** Every error is \`{"error": {"type", "message", "code", "param"}}\`. Branch on \`code\` and the status. Each operation lists the errors that it
can end in; errors of the HTTP layer are under \`default\`.

**Amounts** named \`…_usd\` are decimal texts, exact to twelve decimals. **Lists** are \`{"object": "list", "data": […]}\`.

The guide is at [/docs](/docs).`;

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'A key of the account: `sk-lr-` and 43 characters.' },
  managementKey: { type: 'http', scheme: 'bearer', description: 'A key of the account whose kind is `management`.' },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The operator’s token: `admin_token` of the configuration, or the file `data_dir/admin-token`.',
  },
};

const resources: readonly Resource[] = Object.values(resourceGroups).flat();

export const openApiDocument: OpenApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Lodestone',
    version,
    summary: 'An inference gateway that says where your request went.',
    description,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/', description: 'This service' }],
  tags: resources.map(({ tag }) => tag),
  'x-tagGroups': Object.entries(resourceGroups).map(([name, group]) => ({
    name,
    tags: group.map(({ tag }) => tag.name),
  })),
  paths: joined(resources.map(pathsOf)),
  components: {
    securitySchemes,
    headers,
    examples: errorExamples,
    responses: { HttpLayer: httpLayerResponse },
    schemas: { ...joined(resources.map(({ schemas = {} }) => schemas)), ...errorSchemas },
  },
};

function joined<T>(parts: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  return Object.assign({}, ...parts);
}
