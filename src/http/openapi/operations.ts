/** The three kinds of operations: with an API key, with the admin token, and open. Each kind adds the errors that its checks can end in. */
import type { Condition } from '../../errors/error-table.js';
import { conditionsNaming, errorResponse, errorResponses } from './errors.js';
import { headerRefs, rateLimitHeaders } from './headers.js';
import type { Example, MediaType, Operation, Parameter, RequestBody, Response, Schema } from './types.js';

export interface OperationDescription {
  id: string;
  tag: string;
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  /** JSON unless it has another type. */
  body?: { schema: Schema; examples: Readonly<Record<string, Example>>; description?: string; type?: string };
  /** The schema of errors, where the API has its own form of them. */
  errors?: Schema;
  /** The successful answers, by status. */
  answers: Readonly<Record<string, Answer>>;
}

export interface Answer {
  description: string;
  /** Absent: no body. */
  content?: Readonly<Record<string, MediaType>>;
  /** In addition to those of every answer. */
  headers?: readonly string[];
}

/** An answer of one JSON value. */
export function json(description: string, schema: Schema, headers: readonly string[] = []): Answer {
  return { description, content: { 'application/json': { schema } }, headers };
}

export const noContent: Answer = { description: 'Done; there is no body.' };

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

/** Under `/v1`, with an API key. */
export function keyOperation(operation: OperationDescription): Operation {
  return operationOf(operation, keyErrors, [{ apiKey: [] }], [...everyAnswer, ...rateLimitHeaders]);
}

/** Under `/v1`, with a management key. */
export function managementOperation(operation: OperationDescription): Operation {
  return operationOf(operation, keyErrors, [{ managementKey: [] }], [...everyAnswer, ...rateLimitHeaders]);
}

/** Under `/admin/v1`, with the admin token. */
export function adminOperation(operation: OperationDescription): Operation {
  return operationOf(
    operation,
    ['admin_token_wrong', 'admin_rate_limited', ...guarded],
    [{ adminToken: [] }],
    everyAnswer,
  );
}

/** Without a key. `/healthz`, `/readyz` and `/metrics` have no guards either. */
export function openOperation(operation: OperationDescription, isGuarded: boolean): Operation {
  return operationOf(operation, isGuarded ? guarded : [], [{}], everyAnswer);
}

function operationOf(
  operation: OperationDescription,
  kindErrors: readonly Condition[],
  security: Operation['security'],
  headerNames: readonly string[],
): Operation {
  const { id, tag, summary, description, parameters, body, answers } = operation;
  const all = [...conditionsNaming(id), ...kindErrors, ...(body ? bodyErrors : [])];
  const good = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, headerNames)]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security,
    ...(parameters && { parameters }),
    ...(body && { requestBody: requestBodyOf(body) }),
    responses: {
      ...Object.fromEntries(good),
      ...errorResponses(all, headerNames, operation.errors),
      default: operation.errors ? httpLayerOf(operation.errors) : { $ref: '#/components/responses/HttpLayer' },
    },
  };
}

function requestBodyOf({
  schema,
  examples,
  description,
  type = 'application/json',
}: NonNullable<OperationDescription['body']>): RequestBody {
  return {
    required: true,
    ...(description !== undefined && { description }),
    content: { [type]: { schema, examples } },
  };
}

function responseOf({ description, content, headers = [] }: Answer, headerNames: readonly string[]): Response {
  return { description, headers: headerRefs([...headerNames, ...headers]), ...(content && { content }) };
}
