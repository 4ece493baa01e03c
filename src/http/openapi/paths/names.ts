/** Describes the names that operators give to models. */
import { nameDefinition } from '../../../catalogue/model-name.js';
import { json, noContent, type Resource } from '../operations.js';
import { bodySchema, listOf, object, oneOfValues, open, orNull, ref, text, textOrNull, time } from '../schema.js';

const tag = { name: 'Names', description: 'For operators: names of your own for models.' };

const objectOrNull = (description: string) => orNull({ type: 'object', ...open, description });

export const adminNames: Resource = {
  tag,
  schemas: {
    NameDefinition: bodySchema(nameDefinition),
    Name: object({
      object: { const: 'name' },
      name: text('What clients write in `model`.'),
      model: text('What it stands for.'),
      fallback: objectOrNull('Its chain; null where it has none.'),
      provider: objectOrNull('Its wishes; null where it has none.'),
      defaults: objectOrNull('Fields for what clients leave out; null where it has none.'),
      note: textOrNull('A note.'),
      imported_from: objectOrNull('Where it was before: `system` and `id`.'),
      source: oneOfValues(['store', 'file'], 'A name of a `file` cannot be changed by the API.'),
      file: textOrNull('The file that it is in.'),
      created_at: orNull(time('When it was created.')),
      updated_at: orNull(time('When it was last changed.')),
    }),
  },
  operations: {
    'GET /admin/v1/names': {
      id: 'listNames',
      summary: 'List names',
      answers: { '200': json('The list.', listOf(ref('Name'))) },
    },
    'PUT /admin/v1/names/{name}': {
      id: 'putName',
      summary: 'Create or replace a name',
      description: 'Clients may send the name as `model` from the next request on, at every replica.',
      body: {
        schema: ref('NameDefinition'),
        examples: {
          plain: { summary: 'A name for a model', value: { model: 'auto/lodestone/echo' } },
          defaults: {
            summary: 'With defaults',
            value: { model: 'auto/lodestone/echo', defaults: { temperature: 0.2, max_tokens: 800 } },
          },
        },
      },
      answers: { '200': json('The name.', ref('Name')) },
    },
    'DELETE /admin/v1/names/{name}': { id: 'deleteName', summary: 'Delete a name', answers: { '204': noContent } },
  },
};
