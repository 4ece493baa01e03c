/** Bytes in, validated chat request out. */
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { type JsonText, parseJsonBytes } from '../../wire/json-text.js';
import { checkRequest } from './check-request.js';
import { bytesTooDeep, nestingMax } from './nesting.js';

export function readRequest(bytes: Buffer, large = false): ChatRequest {
  if (bytes.length === 0) throw gatewayError('body_not_json', { reason: 'is empty' });
  // Parsing pays for every level, so a large body is measured first.
  if (large && bytesTooDeep(bytes)) throw tooDeepError();
  let json: JsonText;
  try {
    json = parseJsonBytes(bytes);
  } catch (error) {
    throw gatewayError('body_not_json', { reason: `is not JSON: ${reasonOf(error)}` });
  }
  return checkRequest(json);
}

function tooDeepError(): GatewayError {
  return gatewayError('body_not_json', { reason: `is nested deeper than ${nestingMax} levels` });
}

/** The parser's own words, without the piece of the body that it quotes. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/,? ?(?:\.\.\.)?".*/s, '')
    .replace(/ in JSON.*/, '')
    .slice(0, 120);
}
