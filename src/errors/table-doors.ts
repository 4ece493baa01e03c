/** Errors of the client APIs: a request at the wrong endpoint, or that an endpoint does not serve. */
import { errorRows, modelOperations, row } from './row.js';

type WithParam<V = unknown> = V & { param: string };

export const doorErrors = errorRows({
  wrong_door: row<WithParam<{ field: string; paths: string }>>({
    status: 400,
    code: 'invalid_request_error',
    when: 'The body is one of another API: it has that API’s field in place of the endpoint’s own.',
    remedy: 'Send the request to the endpoint that the message names.',
    operations: [...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ param, field, paths }) =>
      `\`${field}\` is a field of ${paths}, and \`${param}\` is missing. Send the request there, or send \`${param}\`.`,
  }),
  request_invalid: row<WithParam<{ what: string }>>({
    status: 400,
    code: 'invalid_request_error',
    when: 'A field is missing, or has a value that its API does not know or that Lodestone does not serve.',
    remedy: 'Change the field that `param` names, as the message says.',
    operations: [
      ...['createChatCompletion', 'createMessage', 'countMessageTokens', 'createResponse', 'compactResponse'],
      ...['createEmbedding', 'createRerank', 'explainRoutes'],
    ],
    message: ({ what }) => `The request cannot be served as it is: ${what}`,
  }),
  response_not_stored: row({
    status: 404,
    code: 'not_found',
    when: 'A path below `/v1/responses/`: Lodestone stores no responses, so none can be fetched, continued or cancelled.',
    remedy: 'Keep the answer of `POST /v1/responses`, and send the whole conversation with the next request.',
    message: () =>
      'Lodestone stores no responses, so none can be fetched by its id. Keep the answer of POST /v1/responses, and send the whole conversation in `input`.',
  }),
  previous_response_not_found: row<{ id: string }>({
    status: 400,
    param: 'previous_response_id',
    when: 'On a WebSocket: `previous_response_id` is not the last response of this connection, or that response is not kept any more.',
    remedy: 'Leave `previous_response_id` out, and send the whole conversation in `input`.',
    operations: ['createResponse'],
    message: ({ id }) =>
      `The response "${id}" is not the last one of this connection, or is not kept any more. Leave \`previous_response_id\` out, and send the whole conversation in \`input\`.`,
  }),
  websocket_connection_limit_reached: row({
    status: 400,
    when: 'A WebSocket has been open for 60 minutes. It is closed with this event.',
    remedy: 'Open a new connection, and send the whole conversation in `input`.',
    operations: ['createResponse'],
    message: () =>
      'This connection has been open for 60 minutes, the longest time. Open a new one, and send the whole conversation in `input`.',
  }),
  too_many_websockets: row<{ limit: number }>({
    status: 429,
    type: 'rate_limit_error',
    when: 'The account has as many WebSockets open as it may have at a time.',
    remedy: 'Close those that are not used, or send more messages on each.',
    operations: ['createResponse'],
    message: ({ limit }) =>
      `This account has ${limit} WebSockets open, the most at a time. Close those that are not used, or send more messages on each.`,
  }),
  model_kind: row<{ id: string; kind: string; doors: string }>({
    status: 400,
    code: 'invalid_request_error',
    param: 'model',
    when: 'The model is of another kind than the endpoint serves: a chat, an embedding or a rerank model.',
    remedy: 'Send the request to the endpoint that the message names, or choose another model.',
    operations: [...modelOperations, 'countMessageTokens', 'explainRoutes'],
    message: ({ id, kind, doors }) =>
      `"${id}" is ${kind === 'embedding' ? 'an' : 'a'} ${kind} model, which is served at ${doors}. Send the request there, or choose another model.`,
  }),
});
