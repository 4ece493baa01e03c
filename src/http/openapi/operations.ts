/** Builds the operations of the document. Who may call one decides its security, its headers and the errors that its checks can end in. */
import { z } from 'zod';
import type { Condition } from '../../errors/error-table.js';
import { conditionsNaming, errorResponse, errorResponses } from './errors.js';
import { headerRefs, rateLimitHeaders } from './headers.js';
import { parametersOf } from './path-parameters.js';
import type { Access, Answer, Body, Described, Examples, Resource } from './resource.js';
import type { MediaType, Operation, PathItem, RequestBody, Response, Schema } from './types.js';

const everyAnswer = ['x-request-id'];

/** Errors of the HTTP layer, which any path can end in. */
const httpLayer: readonly Condition[] = [
  'path_not_found',
  'response_not_stored',
  'method_not_allowed',
  'bad_http',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
];

export const httpLayerResponse = (() => {
  const response = errorResponse(httpLayer, everyAnswer);
  return { ...response, headers: { ...response.headers, ...headerRefs(['allow']) } };
})();

/** At a path whose errors have a form of their own. What is refused before the path is read has the usual one. */
function httpLayerOf(envelope: Schema): Response {
  const usual = httpLayerResponse.content!['application/json']!.schema;
  return { ...httpLayerResponse, content: { 'application/json': { schema: { anyOf: [envelope, usual] } } } };
}

/** Errors of the guards that apply to every request, and of the service itself. */
const guarded: readonly Condition[] = [
  'unavailable_for_legal_reasons',
  'ip_rate_limited',
  'internal_server_error',
  'draining',
];

const keyErrors: readonly Condition[] = [
  'authorization_missing',
  'api_key_malformed',
  'api_key_not_registered',
  'api_key_expired',
  'api_key_disabled',
  'key_address_scope',
  'account_suspended',
  'key_rate_limited',
  ...guarded,
];

const bodyErrors: readonly Condition[] = ['body_not_json', 'request_too_large', 'body_memory_full'];

interface Checks {
  errors: readonly Condition[];
  security: Operation['security'];
  headers: readonly string[];
}

const limited = [...everyAnswer, ...rateLimitHeaders];

const accesses: Readonly<Record<Access, Checks>> = {
  key: { errors: keyErrors, security: [{ apiKey: [] }], headers: limited },
  management: { errors: keyErrors, security: [{ managementKey: [] }], headers: limited },
  admin: {
    errors: ['admin_token_wrong', 'admin_rate_limited', ...guarded],
    security: [{ adminToken: [] }],
    headers: everyAnswer,
  },
  open: { errors: guarded, security: [{}], headers: everyAnswer },
  probe: { errors: [], security: [{}], headers: everyAnswer },
  metrics: { errors: [], security: [{}, { adminToken: [] }], headers: everyAnswer },
};

export function pathsOf({ tag, access, operations }: Resource): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const [methodAndPath, operation] of Object.entries(operations)) {
    const [method, path] = methodAndPath.split(' ') as [string, string];
    const caller = operation.access ?? (path.startsWith('/admin/v1/') ? 'admin' : access);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(operation, path, tag.name, accesses[caller]) };
  }
  return paths;
}

function operationOf(described: Described, path: string, tag: string, checks: Checks): Operation {
  const { id, summary, description, body, answers, errors } = described;
  const parameters = parametersOf(path, described.parameters);
  const all = [...conditionsNaming(id), ...checks.errors, ...(body ? bodyErrors : [])];
  const good = [answers].flat().map((answer) => [answer.status ?? 200, responseOf(answer, checks.headers)]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: checks.security,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBodyOf(body) }),
    responses: {
      ...Object.fromEntries(good),
      ...errorResponses(all, checks.headers, errors),
      default: errors ? httpLayerOf(errors) : { $ref: '#/components/responses/HttpLayer' },
    },
  };
}

function requestBodyOf({ schema, examples, description, type = 'application/json' }: Body): RequestBody {
  const content = { [type]: mediaTypeOf({ schema, examples }) };
  return { required: true, ...(description !== undefined && { description }), content };
}

function responseOf({ description, content = {}, headers = [] }: Answer, headerNames: readonly string[]): Response {
  const types = Object.entries(content).map(([type, media]) => [type, mediaTypeOf(media)]);
  return {
    description,
    headers: headerRefs([...headerNames, ...headers]),
    ...(types.length > 0 && { content: Object.fromEntries(types) }),
  };
}

function mediaTypeOf({ schema, examples }: { schema: Body['schema']; examples?: Examples }): MediaType {
  if (!examples) return { schema: jsonSchemaOf(schema) };
  const shown = Object.entries(examples).map(([name, [summary, value]]) => [name, { summary, value }]);
  return { schema: jsonSchemaOf(schema), examples: Object.fromEntries(shown) };
}

/** The schema of a check as JSON Schema, so that document and check cannot differ. */
export function jsonSchemaOf(schema: Body['schema']): Schema {
  if (!(schema instanceof z.ZodType)) return schema;
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' });
  return json;
}
