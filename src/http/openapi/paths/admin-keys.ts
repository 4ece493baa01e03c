/** Describes the admin API of the keys of an account. */
import { keysLimit } from '../../keys/key-records.js';
import { adminOperation, json, noContent } from '../operations.js';
import { listOf, object, oneOfValues, ref, textOrNull } from '../schema.js';
import type { Parameter, Resource } from '../types.js';
import { accountId } from './admin-accounts.js';
import { broughtKeyExample, importedFrom, keyChangeExamples, newKeyExamples } from './keys.js';

const keysTag = { name: 'Keys', description: 'For operators: the API keys of an account.' };

const keyId: Parameter = {
  name: 'key_id',
  in: 'path',
  required: true,
  description: 'The key’s public id.',
  schema: { type: 'string' },
};

export const adminKeys: Resource = {
  tag: keysTag,
  schemas: {},
  paths: {
    '/admin/v1/accounts/{id}/keys': {
      get: adminOperation({
        id: 'listKeys',
        tag: keysTag.name,
        summary: 'List keys',
        description: 'Oldest first. All of them, unless `limit` or `after` asks for a page.',
        parameters: [
          accountId,
          {
            ...{ name: 'limit', in: 'query', description: 'How many.' },
            schema: { type: 'integer', minimum: keysLimit.min, maximum: keysLimit.max },
          },
          { name: 'after', in: 'query', description: 'Only keys after this id.', schema: { type: 'string' } },
        ],
        answers: { '200': json('The list.', listOf(ref('Key'))) },
      }),
      post: adminOperation({
        id: 'createKey',
        tag: keysTag.name,
        summary: 'Create a key',
        parameters: [accountId],
        body: {
          schema: ref('NewOrBroughtKey'),
          examples: { ...newKeyExamples, brought: broughtKeyExample },
        },
        answers: {
          '201': json('The key, with its token where one was made.', {
            anyOf: [ref('CreatedKey'), ref('Key')],
          }),
        },
      }),
    },
    '/admin/v1/accounts/{id}/imported-keys': {
      post: adminOperation({
        id: 'importKeys',
        tag: keysTag.name,
        summary: 'Bring keys of another system along',
        description: 'All of them, or none where one has a fault. A key whose token is known stays as it is.',
        parameters: [accountId],
        body: {
          schema: ref('ImportedKeys'),
          examples: { keys: { summary: 'A key', value: { keys: [broughtKeyExample.value] } } },
        },
        answers: {
          '200': json(
            'What became of each, in the order in which they were sent.',
            listOf(
              object({
                id: textOrNull('The key’s public id; null where another key has its token.'),
                imported_from: importedFrom('the key'),
                status: oneOfValues(['created', 'exists'], 'What became of it.'),
              }),
            ),
          ),
        },
      }),
    },
    '/admin/v1/accounts/{id}/keys/{key_id}': {
      get: adminOperation({
        id: 'getAccountKey',
        tag: keysTag.name,
        summary: 'Get a key',
        parameters: [accountId, keyId],
        answers: { '200': json('The key.', ref('Key')) },
      }),
      patch: adminOperation({
        id: 'updateKey',
        tag: keysTag.name,
        summary: 'Change a key',
        description:
          'A field that is left out stays as it is. The change holds for the next request, on every replica.',
        parameters: [accountId, keyId],
        body: { schema: ref('KeyChange'), examples: keyChangeExamples },
        answers: { '200': json('The key.', ref('Key')) },
      }),
      delete: adminOperation({
        id: 'deleteKey',
        tag: keysTag.name,
        summary: 'Delete a key',
        description: 'The token stops working with the next request, on every replica.',
        parameters: [accountId, keyId],
        answers: { '204': noContent },
      }),
    },
  },
};
