/** Checks the messages of a Messages request. What a block must hold beyond that is left to the provider. */
import { gatewayError } from '../../errors/gateway-error.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import { type Fields, isFields } from '../body.js';

const roles = ['user', 'assistant', 'system'];

export function checkMessages({ messages }: Fields, encoding: TextEncoding): void {
  if (messages === undefined || (Array.isArray(messages) && messages.length === 0)) {
    throw gatewayError('messages_missing');
  }
  if (!Array.isArray(messages)) {
    throw gatewayError('field_type', { param: 'messages', found: shown(messages, encoding), expected: 'an array' });
  }
  messages.forEach((message, index) => {
    if (!isFields(message)) {
      throw gatewayError('message_invalid', { index, reason: `is ${shown(message, encoding)}, but must be an object` });
    }
    checkMessage(message, index, encoding);
  });
}

function checkMessage({ role, content }: Fields, index: number, encoding: TextEncoding): void {
  if (typeof role !== 'string' || !roles.includes(role)) {
    const found = role === undefined ? 'missing' : shown(role, encoding);
    const hint = role === 'tool' || role === 'developer' ? '; it is a role of /v1/chat/completions' : '';
    const reason = `has a \`role\` that is ${found}, but must be user, assistant or system${hint}`;
    throw gatewayError('message_invalid', { index, reason });
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    const found = content === undefined ? 'missing' : shown(content, encoding);
    const reason = `has a \`content\` that is ${found}, but must be a string or an array of blocks`;
    throw gatewayError('message_invalid', { index, reason });
  }
  content.forEach((block: unknown, at) => {
    if (!isFields(block) || typeof block.type !== 'string') {
      const reason = `has a block ${at} that is not an object with a \`type\``;
      throw gatewayError('message_invalid', { index, reason });
    }
    const missing = missingIn(block);
    if (missing)
      throw gatewayError('message_invalid', { index, reason: `has a \`${block.type}\` block without \`${missing}\`` });
  });
}

/** Without these a block can be neither sent nor translated. */
const needed: Record<string, readonly string[]> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
};

function missingIn(block: Fields): string | undefined {
  return needed[String(block.type)]?.find((name) => block[name] === undefined || block[name] === null);
}
