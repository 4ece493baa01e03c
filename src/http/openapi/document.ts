/** The OpenAPI document (contract 9): put together from the resources, the error table and the headers, once a process. */
import { version } from '../../base/version.js';
import { errorExamples, errorSchemas } from './errors.js';
import { headers } from './headers.js';
import { httpLayerResponse } from './operations.js';
import { resourceGroups } from './paths/index.js';
import type { OpenApiDocument, Resource } from './types.js';

const description = `Lodestone is an inference gateway: chat completions in OpenAI’s shape, routed to a provider and a region, with a receipt.

**Keys.** The inference API takes \`Authorization: Bearer sk-lr-…\`, a key from the dashboard. The admin API takes the admin token.

**Errors.** Every error is \`{"error": {"type", "message", "code", "param"}}\`. Branch on \`code\` and the status. Each operation lists the rows that it can
end in; what the HTTP layer itself refuses is under \`default\`.

**Amounts** named \`…_usd\` are decimal texts, exact to twelve decimals. **Lists** are \`{"object": "list", "data": […]}\`.

The guide is at [/docs](/docs).`;

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'A key of the account: `sk-lr-` and 43 characters.' },
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
  paths: merged(resources.map(({ paths }) => paths)),
  components: {
    securitySchemes,
    headers,
    examples: errorExamples,
    responses: { HttpLayer: httpLayerResponse },
    schemas: { ...merged(resources.map(({ schemas = {} }) => schemas)), ...errorSchemas },
  },
};

function merged<T>(parts: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  return Object.assign({}, ...parts);
}
