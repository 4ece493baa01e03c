/** Describes what belongs to an account: credits and key, aliases, the fallback chain and the routing policy. */

import { aliasSlots } from '../../../accounts/aliases/alias-book.js';
import { aliasTargetSchemas } from '../../../accounts/aliases/alias-target.js';
import { aliasNameRule, modelIdSchema } from '../../../catalogue/model-id.js';
import { defaultPolicy, policySchemas, sentPolicySchemas } from '../../../policy/policy.js';
import { fallbackModelsMax } from '../../../wire/chat-request.js';
import { json, noContent, type Resource } from '../operations.js';
import { array, integer, listOf, number, object, orNull, ref, text, textOrNull, time, usd } from '../schema.js';
import type { Schema } from '../types.js';
import { budgetReport } from './budgets.js';

const accountTag = { name: 'Account', description: 'The balance of the account, and the limits of the key.' };

export const account: Resource = {
  tag: accountTag,
  schemas: {
    Credits: object({
      data: object({
        balance_usd: usd('The balance.'),
        held_usd: usd('What requests in flight may cost by their estimates.'),
        requests_in_flight: integer('Requests of the account that are not over.'),
        total_credits: number('All credit so far.'),
        total_usage: number('All usage so far.'),
        currency: { const: 'USD' },
      }),
    }),
    BudgetReport: budgetReport,
    KeyInfo: object({
      data: object({
        name: text('The key’s name.'),
        label: text('Its beginning and its last four characters.'),
        expires_at: orNull(time('When it expires; null is never.')),
        usage: number('What was spent with it, in US dollars.'),
        rate_limit: object({
          requests_per_minute: integer('Requests a minute.'),
          tokens_per_minute: integer('Tokens a minute.'),
        }),
      }),
    }),
  },
  operations: {
    'GET /v1/credits': {
      id: 'getCredits',
      summary: 'Get the balance',
      answers: { '200': json('The balance and its sums.', ref('Credits')) },
    },
    'GET /v1/budget': {
      id: 'getBudget',
      summary: 'Get what may still be spent',
      answers: { '200': json('The limits of the key, its project and its account.', ref('BudgetReport')) },
    },
    'GET /v1/key': {
      id: 'getKey',
      summary: 'Get the key in use',
      answers: { '200': json('The key.', ref('KeyInfo')) },
    },
  },
};

const aliasTag = {
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

/** A new alias has a name beside any shape of target. */
function withName(shape: Schema): Schema {
  return {
    ...shape,
    required: ['name', ...(shape.required as string[])],
    properties: { name: aliasName, ...(shape.properties as object) },
  };
}

const repoint = {
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
};

export const aliases: Resource = {
  tag: aliasTag,
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
  operations: {
    'GET /v1/aliases': {
      id: 'listAliases',
      summary: 'List aliases',
      answers: { '200': json('The list.', listOf(ref('Alias'))) },
    },
    'POST /v1/aliases': {
      id: 'createAlias',
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
    },
    'GET /v1/aliases/{name}': {
      id: 'getAlias',
      summary: 'Get an alias',
      answers: { '200': json('The alias.', ref('Alias')) },
    },
    'PUT /v1/aliases/{name}': { id: 'repointAlias', summary: 'Repoint an alias', ...repoint },
    'PATCH /v1/aliases/{name}': {
      id: 'patchAlias',
      summary: 'Repoint an alias (the same as PUT)',
      description: 'Send the full target here too; absent fields are not kept.',
      ...repoint,
    },
    'DELETE /v1/aliases/{name}': { id: 'deleteAlias', summary: 'Delete an alias', answers: { '204': noContent } },
  },
};

const fallbackTag = {
  name: 'Fallback',
  description: 'The ids to try when the requested id has failed with a 503 or 504.',
};

const chainOf = (entry: Schema) =>
  object({
    models: array(entry, `Model ids in any form, at most ${fallbackModelsMax}; \`auto/\` ids are recommended.`, {
      maxItems: fallbackModelsMax,
    }),
  });

export const fallback: Resource = {
  tag: fallbackTag,
  schemas: {
    Fallback: object({ object: { const: 'fallback' }, fallback: chainOf({ type: 'string' }) }),
    NewFallback: object({ fallback: chainOf(modelIdSchema) }),
  },
  operations: {
    'GET /v1/fallback': {
      id: 'getFallback',
      summary: 'Get the saved chain',
      answers: { '200': json('The chain; empty where none is saved.', ref('Fallback')) },
    },
    'PUT /v1/fallback': {
      id: 'putFallback',
      summary: 'Save the chain',
      description: 'Every entry must be in the catalogue and served. An entry that is withdrawn later is skipped.',
      body: {
        schema: ref('NewFallback'),
        examples: {
          chain: {
            summary: 'Two entries',
            value: { fallback: { models: ['auto/lodestone/regions', 'sandbox/lodestone/echo'] } },
          },
        },
      },
      answers: { '200': json('The chain.', ref('Fallback')) },
    },
    'DELETE /v1/fallback': { id: 'deleteFallback', summary: 'Delete the chain', answers: { '204': noContent } },
  },
};

const policyTag = {
  name: 'Routing policy',
  description: 'Gates for `auto/` ids, and a preference among the routes that they leave.',
};

export const routingPolicy: Resource = {
  tag: policyTag,
  schemas: {
    RoutingPolicy: object({ object: { const: 'routing_policy' }, ...policySchemas }),
    NewRoutingPolicy: object(
      {
        object: { description: 'Ignored, so that the answer of a GET can be sent back.' },
        ...sentPolicySchemas,
      },
      {
        optional: 'all',
        additionalProperties: false,
        description: 'An absent or null field gets its default.',
        examples: [defaultPolicy],
      },
    ),
  },
  operations: {
    'GET /v1/routing-policy': {
      id: 'getRoutingPolicy',
      summary: 'Get the routing policy',
      answers: { '200': json('The policy.', ref('RoutingPolicy')) },
    },
    'PUT /v1/routing-policy': {
      id: 'putRoutingPolicy',
      summary: 'Replace the routing policy',
      description:
        'Replaces the whole policy. `POST /v1/routes/explain` shows which routes of a model a policy leaves.',
      body: {
        schema: ref('NewRoutingPolicy'),
        examples: {
          europe: {
            summary: 'In Germany or Sweden, outside the CLOUD Act, clean first',
            value: { deny_cloud_act: true, regions: { allow: ['DE', 'SE'] }, prefer: 'carbon' },
          },
        },
      },
      answers: { '200': json('The policy.', ref('RoutingPolicy')) },
    },
    'DELETE /v1/routing-policy': {
      id: 'deleteRoutingPolicy',
      summary: 'Back to the default policy',
      answers: { '204': noContent },
    },
  },
};
