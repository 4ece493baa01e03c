/** Checks the messages of a chat completions request. */
import { gatewayError } from '../../errors/gateway-error.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';

export const messageRoles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export const stopSequencesMax = 4;
const roles: ReadonlySet<string> = new Set(messageRoles);

/** Throws the error of the first message that is not valid. */
export function checkMessages(messages: unknown, encoding: TextEncoding): void {
  if (messages === undefined || messages === null) throw gatewayError('messages_missing');
  if (!Array.isArray(messages)) {
    throw gatewayError('field_type', { param: 'messages', found: shown(messages, encoding), expected: 'an array' });
  }
  if (messages.length === 0) throw gatewayError('messages_missing');
  for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index, encoding);
}

function checkMessage(message: unknown, index: number, encoding: TextEncoding): void {
  if (message === null || typeof message !== 'object' || Array.isArray(message)) {
    throw gatewayError('message_invalid', { index, reason: `is ${shown(message, encoding)}, but must be an object` });
  }
  const { role, content, tool_call_id } = message as Record<string, unknown>;
  if (typeof role !== 'string' || !roles.has(role)) {
    throw gatewayError('role_not_allowed', { index, found: role === undefined ? 'missing' : shown(role, encoding) });
  }
  if (role === 'tool' && (typeof tool_call_id !== 'string' || tool_call_id === '')) {
    throw gatewayError('message_invalid', { index, reason: 'has the role "tool", but no `tool_call_id`' });
  }
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    const reason = `has a \`content\` that is ${shown(content, encoding)}, but must be a string or an array of parts`;
    throw gatewayError('message_invalid', { index, reason });
  }
  if (role === 'assistant') dropReasoningAlias(message as Record<string, unknown>);
}

/**
 * An answer has its reasoning under two names, the provider's own first. A client that sends the message back as it came must not
 * send the second one to the provider, because strict providers refuse names that are not theirs.
 */
function dropReasoningAlias(message: Record<string, unknown>): void {
  const { reasoning, reasoning_content } = message;
  if (typeof reasoning !== 'string' || reasoning !== reasoning_content) return;
  const alias = Object.keys(message).findLast((key) => key === 'reasoning' || key === 'reasoning_content')!;
  delete message[alias];
}
