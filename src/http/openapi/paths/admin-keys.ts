/** Describes the admin API of the keys of an account. */
import { keysLimit } from '../../keys/key-records.js';
import { json, noContent, type Resource } from '../operations.js';
import { listOf, object, oneOfValues, query, ref, textOrNull } from '../schema.js';
import { broughtKeyExample, importedFrom, keyChangeExamples, newKeyExamples } from './keys.js';

const keysTag = { name: 'Keys', description: 'For operators: the API keys of an account.' };

export const adminKeys: Resource = {
  tag: keysTag,
  schemas: {},
  operations: {
    'GET /admin/v1/accounts/{id}/keys': {
      id: 'listKeys',
      summary: 'List keys',
      description: 'Oldest first. All of them, unless `limit` or `after` asks for a page.',
      parameters: [
        query('limit', 'How many.', { type: 'integer', minimum: keysLimit.min, maximum: keysLimit.max }),
        query('after', 'Only keys after this id.', { type: 'string' }),
      ],
      answers: { '200': json('The list.', listOf(ref('Key'))) },
    },
    'POST /admin/v1/accounts/{id}/keys': {
      id: 'createKey',
      summary: 'Create a key',
      body: {
        schema: ref('NewOrBroughtKey'),
        examples: { ...newKeyExamples, brought: broughtKeyExample },
      },
      answers: {
        '201': json('The key, with its token where one was made.', {
          anyOf: [ref('CreatedKey'), ref('Key')],
        }),
      },
    },
    'POST /admin/v1/accounts/{id}/imported-keys': {
      id: 'importKeys',
      summary: 'Bring keys of another system along',
      description: 'All of them, or none where one has a fault. A key whose token is known stays as it is.',
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
    },
    'GET /admin/v1/accounts/{id}/keys/{key_id}': {
      id: 'getAccountKey',
      summary: 'Get a key',
      answers: { '200': json('The key.', ref('Key')) },
    },
    'PATCH /admin/v1/accounts/{id}/keys/{key_id}': {
      id: 'updateKey',
      summary: 'Change a key',
      description: 'A field that is left out stays as it is. The change holds for the next request, on every replica.',
      body: { schema: ref('KeyChange'), examples: keyChangeExamples },
      answers: { '200': json('The key.', ref('Key')) },
    },
    'DELETE /admin/v1/accounts/{id}/keys/{key_id}': {
      id: 'deleteKey',
      summary: 'Delete a key',
      description: 'The token stops working with the next request, on every replica.',
      answers: { '204': noContent },
    },
  },
};
