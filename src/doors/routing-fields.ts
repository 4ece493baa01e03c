/** Reads the fields of a request that only Lodestone reads, the same in every client API: `provider` and the names of a conversation. */
import { asLatin1, decodeLatin1 } from '../base/latin1.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { plainText, shown, type TextEncoding } from '../wire/json-text.js';

type RoutingFields = Pick<ChatRequest, 'provider' | 'sessionId' | 'cacheKey'>;

const sessionIdMax = 256;
/** No `provider` object that means something is nearly as long. */
const providerLengthMax = 16 * 1024;
/** A longer key is sent on, but names no conversation. */
export const cacheKeyMax = 1024;

/** `provider` is checked later, because its ids are those of the catalogue. */
export function routingFieldsOf(fields: Readonly<Record<string, unknown>>, encoding: TextEncoding): RoutingFields {
  const { provider, session_id: session, prompt_cache_key: cache } = fields;
  return {
    provider: provider == null ? undefined : readProvider(provider, encoding),
    sessionId: session == null ? undefined : readSessionId(session, encoding),
    cacheKey:
      typeof cache === 'string' && cache !== '' && cache.length <= cacheKeyMax ? plainText(cache, encoding) : undefined,
  };
}

function readSessionId(session: unknown, encoding: TextEncoding): string {
  const text = typeof session === 'string' ? plainText(session, encoding) : '';
  if (text !== '' && hasAtMost(sessionIdMax, text)) return text;
  const expected = `a text of 1 to ${sessionIdMax} characters`;
  throw gatewayError('field_type', { param: 'session_id', found: shown(session, encoding), expected });
}

/** Counts characters, of which some are two units of the text. */
function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || (text.length <= max * 2 && [...text].length <= max);
}

/** The object with the texts that the client wrote, in whatever encoding the body was read. It goes from thread to thread. */
function readProvider(value: unknown, encoding: TextEncoding): unknown {
  const text = JSON.stringify(value);
  if (text.length > providerLengthMax) {
    const range = `at most ${providerLengthMax} characters long`;
    throw gatewayError('parameter_out_of_range', { param: 'provider', value: `${text.length} characters long`, range });
  }
  return encoding === 'latin1' ? JSON.parse(decodeLatin1(asLatin1(text))) : value;
}
