/**
 * Compacting a conversation of the Responses API. Only the provider can do it: what it makes is for its own models. The result goes back to
 * the client, and nothing is stored.
 */
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { memberText, withMembers } from '../../wire/splice-members.js';
import type { Door, WholeAnswer } from '../door.js';
import { plainRequest } from '../translated-request.js';
import { readResponsesRequest } from './read-request.js';
import { nativeUsage } from './response-object.js';
import { responsesDoor } from './responses-door.js';

const { openStream: _, defaultWords: __, ...wholeOnly } = responsesDoor;

export const compactDoor: Door = {
  ...wholeOnly,
  path: '/v1/responses/compact',
  readRequest,
  writeAnswer,
};

const notOffered = {
  param: 'model',
  reason: 'does not compact conversations',
  remedy: 'Choose a model of a provider that does, or send a shorter conversation.',
};

function readRequest(bytes: Buffer, large = false): ChatRequest {
  const request = plainRequest(readResponsesRequest(bytes, large, { added: {} }));
  if (request.stream) {
    const what = '`stream` is true, but a conversation is compacted in one piece. Leave it out.';
    throw gatewayError('request_invalid', { param: 'stream', what });
  }
  return { ...request, native: { ...request.native!, api: 'compact', inexpressible: [notOffered], optional: [] } };
}

/** The provider's answer. It names a model only where the provider did. */
function writeAnswer({ model, parts, usage, cost, metadata }: WholeAnswer): string {
  const native = parts.native!;
  return withMembers(native, {
    ...(memberText(native, 'model') !== undefined && { model: `"${model}"` }),
    usage: nativeUsage(memberText(native, 'usage'), { given: parts.usage, usage, cost }),
    router_metadata: metadata,
  });
}
