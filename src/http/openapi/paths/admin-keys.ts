/** Describes the keys of an account. */
import { keyIdLength, tokenBodyLength, tokenPrefix } from '../../../accounts/keys/token.js';
import { newKey } from '../../admin/keys.js';
import { adminOperation, json, noContent } from '../operations.js';
import { bodySchema, listOf, object, oneOfValues, ref, text, textOrNull, time } from '../schema.js';
import type { Resource } from '../types.js';
import { accountId } from './admin-accounts.js';

const tag = { name: 'Keys', description: 'For operators: the API keys of an account.' };

const key = {
  id: text('The key’s public id.', { minLength: keyIdLength, maxLength: keyIdLength }),
  name: text('Its name; it appears in the usage history.'),
  prefix: { const: tokenPrefix },
  last_four: text('The token’s last four characters.'),
  expires_at: textOrNull('When it expires; null is never.', { format: 'date-time' }),
  state: oneOfValues(['active', 'expired'], 'An expired key stays listed.'),
  created_at: time('When it was made.'),
};

export const adminKeys: Resource = {
  tag,
  schemas: {
    Key: object(key),
    CreatedKey: object({
      ...key,
      token: text('The key itself, in this answer and never again.', {
        pattern: `^${tokenPrefix}[A-Za-z0-9_-]{${tokenBodyLength}}$`,
      }),
    }),
    NewKey: bodySchema(newKey),
  },
  paths: {
    '/admin/v1/accounts/{id}/keys': {
      get: adminOperation({
        id: 'listKeys',
        tag: tag.name,
        summary: 'List keys',
        parameters: [accountId],
        answers: { '200': json('The list.', listOf(ref('Key'))) },
        errors: ['resource_not_found'],
      }),
      post: adminOperation({
        id: 'createKey',
        tag: tag.name,
        summary: 'Create a key',
        parameters: [accountId],
        body: {
          schema: ref('NewKey'),
          examples: {
            default: { summary: 'For 90 days', value: { name: 'laptop' } },
            never: { summary: 'For ever', value: { name: 'server', expires: 'never' } },
          },
        },
        answers: { '201': json('The key, with its token.', ref('CreatedKey')) },
        errors: ['field_invalid', 'resource_not_found', 'key_limit_reached'],
      }),
    },
    '/admin/v1/accounts/{id}/keys/{key_id}': {
      delete: adminOperation({
        id: 'deleteKey',
        tag: tag.name,
        summary: 'Delete a key',
        description: 'The token stops working with the next request, on every replica.',
        parameters: [
          accountId,
          {
            name: 'key_id',
            in: 'path',
            required: true,
            description: 'The key’s public id.',
            schema: { type: 'string' },
          },
        ],
        answers: { '204': noContent },
        errors: ['resource_not_found'],
      }),
    },
  },
};
