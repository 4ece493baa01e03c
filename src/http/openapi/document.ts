/** The OpenAPI document, made of the resources, the error table and the headers. The build writes it to a file, which `register.ts` serves. */
import { version } from '../../base/version.js';
import { adminAccounts } from '../admin/accounts.js';
import { adminCatalogue } from '../admin/catalogue-updates.js';
import { adminCredits } from '../admin/credits.js';
import { adminNames } from '../admin/names.js';
import { adminRoutes } from '../admin/routes.js';
import { records } from '../admin/storage.js';
import { ownAccount } from '../api/account.js';
import { activityResource } from '../api/activity.js';
import { aliases } from '../api/aliases.js';
import { catalogueChanges } from '../api/catalogue-changes.js';
import { generations } from '../api/generations.js';
import { models } from '../api/models.js';
import { account } from '../api/own-key.js';
import { fallback, routingPolicy } from '../api/routing.js';
import { tokenResource } from '../api/token.js';
import { adminCredentials, credentials } from '../credentials/credentials.js';
import { adminKeys, managedKeys } from '../keys/keys.js';
import { receiptLog } from '../ops/log.js';
import { ops } from '../ops/ops.js';
import { status } from '../ops/status.js';
import { webhooks } from '../ops/stripe-webhook.js';
import { members } from '../people/members.js';
import { people } from '../people/people.js';
import { adminProjects, projects } from '../projects/projects.js';
import { errorExamples, errorSchemas } from './errors.js';
import { headers } from './headers.js';
import { httpLayerResponse, jsonSchemaOf, pathsOf } from './operations.js';
import { chat } from './paths/chat.js';
import { messages, responses } from './paths/doors.js';
import { explain } from './paths/explain.js';
import { embeddings, rerank } from './paths/tasks.js';
import { Component, type Resource } from './resource.js';
import { ref } from './schema.js';
import type { OpenApiDocument, PathItem, Schema } from './types.js';

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
    receiptLog,
    activityResource,
    account,
    ownAccount,
    projects,
    tokenResource,
    credentials,
    managedKeys,
    members,
    catalogueChanges,
    status,
  ],
  'Admin API': [
    adminAccounts,
    people,
    adminProjects,
    adminCredentials,
    adminKeys,
    adminCredits,
    adminRoutes,
    adminCatalogue,
    adminNames,
    records,
  ],
  Service: [ops, webhooks],
};

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

/** The components that are named anywhere, by name. */
const components = new Map<string, { readonly component: Component; schema: unknown }>();

/** The value with references in place of components. */
function jsonOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Component) {
    addComponent(value);
    return ref(value.name);
  }
  if (Array.isArray(value)) return value.map(jsonOf);
  const json: Record<string, unknown> = {};
  for (const name of Object.keys(value)) json[name] = jsonOf((value as Record<string, unknown>)[name]);
  return json;
}

function addComponent(component: Component): void {
  const known = components.get(component.name);
  if (known && known.component !== component) throw new Error(`Two schemas have the name ${component.name}.`);
  if (!known) components.set(component.name, { component, schema: jsonOf(jsonSchemaOf(component.schema)) });
}

const paths = jsonOf(Object.assign({}, ...resources.map(pathsOf))) as Record<string, PathItem>;
const schemas = Object.fromEntries([...components].map(([name, { schema }]) => [name, schema as Schema]));

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
  paths,
  components: {
    securitySchemes,
    headers,
    examples: errorExamples,
    responses: { HttpLayer: httpLayerResponse },
    schemas: { ...schemas, ...errorSchemas },
  },
};
