/** Errors that the client causes and can correct: key, credits, request, id, alias. */
import { errorRows, modelOperations, row, sentence } from './row.js';

type WithParam<V = unknown> = V & { param: string };

/** Fields that some endpoint requires, so that leaving them out is no advice. */
const requiredFields = new Set(['messages', 'input', 'documents', 'query', 'model', 'max_tokens']);

const changeOf = (param: string): string =>
  requiredFields.has(param) ? `Change \`${param}\`` : `Leave \`${param}\` out`;

export const callerErrors = errorRows({
  authorization_missing: row({
    status: 401,
    code: 'authentication_error',
    when: 'The `Authorization` header is missing.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with a key from the dashboard.',
    message: () =>
      'The Authorization header is missing. Send "Authorization: Bearer <API_KEY>" with a key created in the dashboard.',
  }),
  api_key_not_registered: row({
    status: 401,
    when: 'The key has the right shape, but no account owns it; a deleted key too.',
    remedy: 'Check that the key was not deleted, or create a new one.',
    message: () => 'No account owns this API key. It may have been deleted; create a new key in the dashboard.',
  }),
  api_key_malformed: row<{ reason: string }>({
    status: 401,
    when: 'The header is not `Bearer ` and a token, the token does not begin with `sk-lr-`, its body is not 43 characters, or it uses the retired `sk-bf-` scheme.',
    remedy: 'Copy the key again, whole and without quotes.',
    message: ({ reason }) => `The API key is malformed: ${reason}. Copy the key again, whole and without quotes.`,
  }),
  api_key_expired: row<{ expiredAt: string }>({
    status: 401,
    when: 'The key has passed its expiry date.',
    remedy: 'Create a new key and deploy it.',
    message: ({ expiredAt }) =>
      `This API key expired on ${expiredAt}. Create a new key in the dashboard and deploy it.`,
  }),
  insufficient_credits: row<{ balance: string; held?: string; requests?: number; isSpent?: boolean }>({
    status: 402,
    when: 'The account balance is not above zero, or, where the overdraft is bounded, what is left of it may be needed by requests in flight.',
    remedy: 'Add credits; any positive balance admits requests again.',
    operations: modelOperations,
    message: ({ balance, held, requests, isSpent }) => {
      const account = `The account balance is ${balance} USD`;
      const needs = 'and a request needs a balance above zero. Add credits and send it again.';
      if (held === undefined) return `${account}, ${needs}`;
      return isSpent
        ? `${account}, ${held} USD are held for ${requests} requests in flight, ${needs}`
        : `${account}, of which ${held} USD are held for ${requests} requests in flight. Add credits, or send it again when they are over.`;
    },
  }),
  messages_missing: row({
    status: 400,
    code: 'invalid_request_error',
    param: 'messages',
    when: '`messages` is missing or empty.',
    remedy: 'Send at least one message.',
    operations: ['createChatCompletion', 'createMessage', 'countMessageTokens', 'explainRoutes'],
    message: () => '`messages` is missing or empty. Send an array with at least one message.',
  }),
  model_id_shape: row<{ id: string; reason: string }>({
    status: 400,
    code: 'invalid_request_error',
    param: 'model',
    when: 'The model id does not have 3 or 4 segments.',
    remedy: 'Use `{provider}/{creator}/{model}[/{locode}]`, `auto/{creator}/{model}` or `alias/{name}`.',
    operations: [...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ id, reason }) =>
      `The model id "${id}" ${reason}. Use {provider}/{creator}/{model}[/{locode}], auto/{creator}/{model} or alias/{name}.`,
  }),
  parameter_out_of_range: row<WithParam<{ value: string; range: string }>>({
    status: 400,
    code: 'invalid_request_error',
    when: 'A sampling parameter is outside its range.',
    remedy: 'Send a value inside the range that the message names, or leave the parameter out.',
    operations: ['putRoutingPolicy', ...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ param, value, range }) =>
      `\`${param}\` is ${value}, but must be ${range}. Change it${requiredFields.has(param) ? '' : ' or leave it out'}.`,
  }),
  field_type: row<WithParam<{ found: string; expected: string }>>({
    status: 400,
    code: 'invalid_request_error',
    when: 'A field has the wrong JSON type.',
    remedy: 'Send the type that the message names.',
    operations: ['putFallback', 'putRoutingPolicy', ...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ param, found, expected }) => `\`${param}\` is ${found}, but must be ${expected}.`,
  }),
  role_not_allowed: row<{ index: number; found: string }>({
    status: 400,
    code: 'invalid_request_error',
    param: 'messages',
    when: 'A message role is not allowed.',
    remedy: 'Use `system`, `developer`, `user`, `assistant` or `tool`.',
    operations: ['createChatCompletion', 'explainRoutes'],
    message: ({ index, found }) =>
      `messages[${index}].role is ${found}. Valid roles are system, developer, user, assistant and tool.`,
  }),
  message_invalid: row<{ index: number; reason: string }>({
    status: 400,
    code: 'invalid_request_error',
    param: 'messages',
    when: 'A message is not an object, or a `tool` message has no `tool_call_id`.',
    remedy: 'Correct the message at the index that the message names.',
    operations: ['createChatCompletion', 'createMessage', 'countMessageTokens', 'explainRoutes'],
    message: ({ index, reason }) => `messages[${index}] ${reason}.`,
  }),
  invalid_alias_name: row<WithParam<{ name: string }>>({
    status: 400,
    when: 'An alias name breaks the naming rule.',
    remedy: 'Use 1 to 64 of a-z, 0-9, `-` and `_`, starting with a letter or digit.',
    operations: ['createAlias', ...modelOperations, 'countMessageTokens'],
    message: ({ name }) =>
      `The alias name "${name}" is not allowed. Use 1 to 64 of a-z, 0-9, "-" and "_", starting with a letter or digit.`,
  }),
  cannot_apply: row<WithParam<{ provider: string; reason: string; remedy?: string | undefined }>>({
    status: 400,
    code: null,
    when: 'The serving route cannot apply `response_format`, `logprobs`, `logit_bias`, `n`, `dimensions` or tokens as `input`, or has no price for the `service_tier`, a demanded tool that runs at the provider or audio in `messages`, or the request names a file or another object that the provider keeps for all accounts, or is no request of the Responses API and the route takes no others. This row has no `code`.',
    remedy:
      'Leave the parameter out, or choose a route that can apply it (`supported_parameters` in `GET /v1/models`).',
    operations: modelOperations,
    message: ({ provider, param, reason, remedy = `${changeOf(param)}, or choose a route that can apply it.` }) =>
      `Lodestone rejected the request before it reached the provider: ${provider} ${reason}. ${remedy}`,
  }),
  upstream_rejected: row<{ provider: string; quote: string }>({
    status: 400,
    code: 'invalid_request_error',
    when: 'The provider rejected the request itself.',
    remedy: 'Change the request; a retry or another route does not help.',
    operations: modelOperations,
    message: ({ provider, quote }) =>
      `The provider ${provider} rejected the request: ${sentence(quote)} Change the request; a retry does not help.`,
  }),
  body_not_json: row<{ reason: string }>({
    status: 400,
    code: 'invalid_request_error',
    when: 'The body is not a JSON object, is nested deeper than 128 levels, or was not sent as JSON.',
    remedy: 'Send a JSON object with `content-type: application/json`.',
    message: ({ reason }) => `The request body ${reason}. Send a JSON object with "content-type: application/json".`,
  }),
  body_too_detailed: row<{ what: string }>({
    status: 400,
    code: 'invalid_request_error',
    when: 'The body has more values, members or short texts than are read, or a member with a very long name.',
    remedy: 'Send fewer values, or several requests.',
    operations: [...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ what }) => `The request body ${what}. Send less of that, or send several requests.`,
  }),
  request_too_large: row<{ limitBytes: number; found: string }>({
    status: 413,
    when: 'The body is over 32 MB.',
    remedy: 'Send less; large images are better sent as URLs.',
    message: ({ limitBytes, found }) =>
      `The request body is ${found}, over the limit of ${limitBytes} bytes (32 MB). Send less.`,
  }),
  model_not_offered: row<{ id: string; reason: string }>({
    status: 404,
    code: 'not_found',
    param: 'model',
    when: 'The named provider does not offer the model, or the catalogue does not know it.',
    remedy: 'Choose an id from `GET /v1/models`.',
    operations: [...modelOperations, 'countMessageTokens', 'getModel'],
    message: ({ id, reason }) => `"${id}" cannot be served: ${reason}. GET /v1/models lists what can.`,
  }),
  model_retired: row<{ id: string; date: string; replacedBy: string | null }>({
    status: 404,
    param: 'model',
    when: 'The provider has retired the model or the pinned route. Never retry this one.',
    remedy: 'Change to the model that the message names, or choose an id from `GET /v1/models`.',
    operations: [...modelOperations, 'countMessageTokens', 'getModel'],
    message: ({ id, date, replacedBy }) =>
      `"${id}" was retired on ${date} and is not served any more. ${
        replacedBy === null ? 'Choose another id from GET /v1/models' : `Change to "auto/${replacedBy}"`
      }. Retrying cannot help.`,
  }),
  global_not_served: row<{ id: string; locodes: string }>({
    status: 404,
    code: 'not_found',
    param: 'model',
    when: 'The model is served only in specific regions, but `global` was pinned.',
    remedy: 'Pin one of the regions that the message names, or leave the fourth segment out.',
    operations: [...modelOperations, 'countMessageTokens', 'getModel'],
    message: ({ id, locodes }) =>
      `"${id}" pins the region-less endpoint, but this model is served only in specific regions: ${locodes}. Pin one of them, or leave the region out for the default.`,
  }),
  region_not_served: row<{ id: string; locode: string; locodes: string }>({
    status: 404,
    code: 'not_found',
    param: 'model',
    when: 'The model is not served in the pinned region. Never retry this one.',
    remedy: 'Pin one of the regions that the message names.',
    operations: [...modelOperations, 'countMessageTokens', 'getModel'],
    message: ({ id, locode, locodes }) =>
      `"${id}" pins the region ${locode}, where this model is not served. It is served in: ${locodes}. Retrying cannot help.`,
  }),
  alias_not_found: row<WithParam<{ name: string }>>({
    status: 404,
    when: 'The account has no alias of that name.',
    remedy: 'Create the alias, or check its spelling with `GET /v1/aliases`.',
    operations: [
      ...['getAlias', 'repointAlias', 'patchAlias', 'deleteAlias', 'getModel', 'countMessageTokens'],
      ...modelOperations,
    ],
    message: ({ name }) => `This account has no alias "${name}". GET /v1/aliases lists its aliases.`,
  }),
  model_not_found: row<{ id: string }>({
    status: 404,
    type: 'internal_server_error',
    param: 'model',
    when: 'The model is fully disabled. The `type` is a known irregularity.',
    remedy: 'Choose another model.',
    operations: [...modelOperations, 'countMessageTokens'],
    message: ({ id }) => `The model of "${id}" is disabled. Choose another one from GET /v1/models.`,
  }),
  alias_exists: row<{ name: string }>({
    status: 409,
    param: 'name',
    when: 'The account already has an alias of that name.',
    remedy: 'Choose another name, or repoint the alias with `PUT /v1/aliases/{name}`.',
    operations: ['createAlias'],
    message: ({ name }) =>
      `This account already has an alias "${name}". Repoint it with PUT /v1/aliases/${name}, or choose another name.`,
  }),
  alias_limit_reached: row<{ limit: number }>({
    status: 422,
    param: 'name',
    when: 'The account has no free alias slot.',
    remedy: 'Delete an alias, or repoint one.',
    operations: ['createAlias'],
    message: ({ limit }) => `All ${limit} alias slots of this account are taken. Delete an alias, or repoint one.`,
  }),
  invalid_alias_target: row<{ reason: string }>({
    status: 422,
    param: 'target',
    when: 'The alias target is not a routable model, or has an unaccepted shape.',
    remedy: 'Send `provider`, `canonical_id` and `locode` (flat, or inside `target`), or one string.',
    operations: ['createAlias', 'repointAlias', 'patchAlias'],
    message: ({ reason }) =>
      `The alias target is not accepted: ${reason}. Send provider, canonical_id and locode (flat or inside target), "provider/creator/model/locode", or "auto/creator/model".`,
  }),
  invalid_fallback_model: row<{ id: string; reason: string }>({
    status: 400,
    param: 'fallback.models',
    when: 'An entry of a fallback chain is not in the catalogue, or names a route that is not served.',
    remedy: 'Correct or drop the entry; `auto/{creator}/{model}` entries are recommended.',
    operations: ['putFallback', ...modelOperations],
    message: ({ id, reason }) => `The fallback entry "${id}" cannot be used: ${reason}`,
  }),
});
