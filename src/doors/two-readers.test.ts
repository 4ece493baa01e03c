import { describe, expect, it } from 'vitest';
import { damaged } from '../../tests/support/damaged-bytes.js';
import { doorBody } from '../../tests/support/door-bodies.js';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { findMembers, membersWithRepeats } from '../wire/json-members.js';
import { parseJsonBytes } from '../wire/json-text.js';
import { parseRequest, readRequest } from './chat/read-request.js';
import { parseMessagesRequest, readCountRequest, readMessagesRequest } from './messages/read-request.js';
import { parseResponsesRequest, readResponsesRequest } from './responses/read-request.js';
import { plainRequest } from './translated-request.js';

/** The request with everything that is sent of it, or why it is refused. */
function outcomeOf(body: Buffer, read: (body: Buffer) => ChatRequest): object {
  try {
    const request = plainRequest(read(body));
    return hasRepeats(body) ? withValues(request) : request;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { condition: error.condition, param: error.param, message: error.message };
  }
}

/** Where a name comes twice in an object that nobody checks, the parser writes the last one, and the scan passes both. */
function hasRepeats(body: Buffer): boolean {
  const { value, text } = parseJsonBytes(body);
  const found = findMembers(text);
  return found !== null && membersWithRepeats(found, value as Record<string, unknown>).length > 0;
}

function withValues({ members, native, ...request }: ChatRequest): object {
  return {
    ...request,
    members: JSON.parse(`{${members}}`),
    native: native && { ...native, body: JSON.parse(String(native.body)), modelStart: 0, modelEnd: 0 },
  };
}

const readers = [
  ['chat', readRequest, parseRequest],
  ['messages', readMessagesRequest, (body: Buffer) => parseMessagesRequest(body, false, true)],
  ['messages', readCountRequest, (body: Buffer) => parseMessagesRequest(body, false, false)],
  ['responses', readResponsesRequest, parseResponsesRequest],
] as const;

describe('a body is read alike by the scan and by the parser', () => {
  it.each(readers)('%s, by %s', (door, read, parse) => {
    let accepted = 0;
    forSeeds(4_000, (random) => {
      const body = doorBody(random, door);
      for (const bytes of [body, damaged(random, body)]) {
        const outcome = outcomeOf(bytes, read);
        expect(outcome, bytes.toString()).toEqual(outcomeOf(bytes, parse));
        if (!('condition' in outcome)) accepted++;
      }
    });
    expect(accepted).toBeGreaterThan(50);
  });
});
