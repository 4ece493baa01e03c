/** Describes `/v1/aliases`. */
import { aliasSlots } from '../../../accounts/aliases/alias-book.js';
import { aliasTargetSchemas } from '../../../accounts/aliases/alias-target.js';
import { aliasNameRule } from '../../../catalogue/model-id.js';
import type { Condition } from '../../../errors/error-table.js';
import { json, keyOperation, noContent } from '../operations.js';
import { listOf, object, ref, text, textOrNull, time } from '../schema.js';
import type { Parameter, Resource, Schema } from '../types.js';

const tag = {
  name: 'Aliases',
  description: `Names of the account for a pin or an \`auto/\` id, at most ${aliasSlots}.`,
};

const aliasName = text('1 to 64 of a-z, 0-9, `-` and `_`, starting with a letter or digit.', {
  pattern: aliasNameRule.source,
});

const answeredTarget = {
  provider: text('A provider’s id, or `auto`.'),
  canonical_id: text('`{creator}/{model}`.'),
  locode: textOrNull('The region, or `global`; null for `auto`.'),
};

/** `name` goes with each shape of a target where an alias is made. */
function withName(shape: Schema): Schema {
  return {
    ...shape,
    required: ['name', ...(shape.required as string[])],
    properties: { name: aliasName, ...(shape.properties as object) },
  };
}

const nameParameter: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'The alias, without `alias/`.',
  schema: { type: 'string' },
  example: 'fast',
};

const targetErrors: readonly Condition[] = ['invalid_alias_target', 'service_unavailable'];

const repoint = {
  tag: tag.name,
  parameters: [nameParameter],
  body: {
    schema: ref('AliasTarget'),
    examples: {
      nested: {
        summary: 'The whole target',
        value: { target: { provider: 'sandbox', canonical_id: 'lodestone/regions', locode: 'sesto' } },
      },
    },
  },
  answers: { '200': json('The alias.', ref('Alias')) },
  errors: ['alias_not_found' as const, ...targetErrors],
};

export const aliases: Resource = {
  tag,
  schemas: {
    Alias: object({
      object: { const: 'alias' },
      name: aliasName,
      ...answeredTarget,
      target: object(answeredTarget),
      model_id: text('The target as one id.'),
      created_at: time('When it was made.'),
      updated_at: time('When it was last repointed.'),
    }),
    NewAlias: { anyOf: aliasTargetSchemas.map(withName) },
    AliasTarget: { anyOf: aliasTargetSchemas },
  },
  paths: {
    '/v1/aliases': {
      get: keyOperation({
        id: 'listAliases',
        tag: tag.name,
        summary: 'List aliases',
        answers: { '200': json('The list.', listOf(ref('Alias'))) },
      }),
      post: keyOperation({
        id: 'createAlias',
        tag: tag.name,
        summary: 'Create an alias',
        description: 'Send one shape of target, not several.',
        body: {
          schema: ref('NewAlias'),
          examples: {
            flat: {
              summary: 'Flat',
              value: { name: 'fast', provider: 'sandbox', canonical_id: 'lodestone/regions', locode: 'defra' },
            },
            text: { summary: 'As one id', value: { name: 'any', target: 'auto/lodestone/echo' } },
          },
        },
        answers: { '201': json('The alias.', ref('Alias')) },
        errors: ['invalid_alias_name', 'alias_exists', 'alias_limit_reached', ...targetErrors],
      }),
    },
    '/v1/aliases/{name}': {
      get: keyOperation({
        id: 'getAlias',
        tag: tag.name,
        summary: 'Get an alias',
        parameters: [nameParameter],
        answers: { '200': json('The alias.', ref('Alias')) },
        errors: ['alias_not_found'],
      }),
      put: keyOperation({ id: 'repointAlias', summary: 'Repoint an alias', ...repoint }),
      patch: keyOperation({
        id: 'patchAlias',
        summary: 'Repoint an alias (the same as PUT)',
        description: 'The full target is needed here too; what is left out is not kept.',
        ...repoint,
      }),
      delete: keyOperation({
        id: 'deleteAlias',
        tag: tag.name,
        summary: 'Delete an alias',
        parameters: [nameParameter],
        answers: { '204': noContent },
        errors: ['alias_not_found'],
      }),
    },
  },
};
