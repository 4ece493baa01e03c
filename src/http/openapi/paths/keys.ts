/** Describes keys: `/v1/keys` for management keys, and the keys of an account for operators. */
import { keyIdLength, tokenBodyLength, tokenPrefix } from '../../../accounts/keys/token.js';
import { ownAuditLimit } from '../../api/audit.js';
import { importedKeys, keyChange, newKey, newOrBroughtKey } from '../../keys/key-fields.js';
import { keysLimit } from '../../keys/key-records.js';
import { pageLimit } from '../../query.js';
import { json, noContent, type Resource } from '../operations.js';
import {
  array,
  bodySchema,
  boolean,
  integer,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  query,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import type { Example, Parameter, Schema } from '../types.js';
import { auditEntry } from './admin-routes.js';

/** Of a list. */
export const page: Parameter[] = [
  numberParameter(pageLimit),
  query('after', 'Only entries after this id.', { type: 'string' }),
];

/** For operators. */
const broughtKeyExample: Example = {
  summary: 'With the token of another system',
  value: {
    ...{ name: 'team-b', expires: 'never', token_sha256: '5f'.repeat(32), last_four: 'wxyz' },
    ...{ imported_from: { system: 'litellm', id: 'team-b' }, limit_usd: '25.00', opening_usage_usd: '3.50' },
  },
};

const managedTag = {
  name: 'Managed keys',
  description:
    'The keys of the account, for a program with a management key. Other keys get 403 `management_key_required`.',
};

export function importedFrom(what: string): Schema {
  return object(
    { system: text('The system.'), id: text('The id there.') },
    { type: ['object', 'null'], description: `Where ${what} was before; null for what was made here.` },
  );
}

const key = {
  id: text('The key’s public id.', { minLength: keyIdLength, maxLength: keyIdLength }),
  name: text('Its name; it appears in the usage history.'),
  prefix: { enum: [tokenPrefix, ''], description: 'Empty for a key that was brought from another system.' },
  last_four: text('The token’s last four characters.'),
  imported_from: importedFrom('the key'),
  expires_at: orNull(time('When it expires; null is never.')),
  state: oneOfValues(['active', 'disabled', 'expired'], 'An expired key stays listed.'),
  created_at: time('When it was made.'),
  project: textOrNull('The id of its project; null for a management key of the whole account.'),
  holder: textOrNull('The id of the person who holds it; null where it belongs to the project.'),
  workload: object(
    { issuer: text('Who issued its token.'), subject: text('The `sub` of the token.') },
    { description: 'Who exchanged a token for it; absent from every other key.' },
  ),
  kind: oneOfValues(['inference', 'management'], 'A management key changes keys and can call no model.'),
  disabled: boolean('A disabled key is refused with 401 `api_key_disabled`.'),
  limit_usd: orNull(usd('How much may be spent through it in a period; null is no limit.')),
  limit_reset: oneOfValues(['never', 'daily', 'weekly', 'monthly'], 'When a new period begins, at 00:00 UTC.'),
  allowed_models: orNull(array({ type: 'string' }, 'The models that it may call; null is all of them.')),
  allowed_providers: orNull(array({ type: 'string' }, 'The providers that it may call; null is all of them.')),
  allowed_ips: orNull(array({ type: 'string' }, 'The address ranges from which it may be used; null is everywhere.')),
  requests_per_minute: orNull(integer('Its own limit; null is the account’s.')),
  tokens_per_minute: orNull(integer('Its own limit; null is the account’s.')),
  usage_usd: usd('What was spent through it in the current period.'),
  limit_remaining_usd: orNull(usd('What is left of `limit_usd` in the current period; null is no limit.')),
  last_used_at: orNull(time('When it was last used, to the minute; null is never.')),
};

export const newKeyExamples: Readonly<Record<string, Example>> = {
  default: { summary: 'For 90 days', value: { name: 'laptop' } },
  never: { summary: 'For ever', value: { name: 'server', expires: 'never' } },
  capped: {
    summary: 'Capped and scoped',
    value: {
      ...{ name: 'team-a', limit_usd: '25.00', limit_reset: 'monthly', requests_per_minute: 60 },
      ...{ allowed_models: ['auto/lodestone/echo', 'sandbox/lodestone/regions/defra'], allowed_providers: ['sandbox'] },
      allowed_ips: ['10.0.0.0/8', '2001:db8::/32'],
    },
  },
};

const keyChangeExamples: Readonly<Record<string, Example>> = {
  disable: { summary: 'Disable', value: { disabled: true } },
  raise: { summary: 'Another cap', value: { limit_usd: '50', limit_reset: 'weekly', allowed_ips: null } },
};

const change = {
  description: 'A field that is left out stays as it is. The change holds for the next request, on every replica.',
  body: { schema: ref('KeyChange'), examples: keyChangeExamples },
  answers: { '200': json('The key.', ref('Key')) },
};
const deletion = {
  description: 'The token stops working with the next request, on every replica.',
  answers: { '204': noContent },
};

export const managedKeys: Resource = {
  tag: managedTag,
  schemas: {
    Key: object(key, { optional: ['workload'] }),
    CreatedKey: object(
      {
        ...key,
        token: text('The key itself, in this answer and never again.', {
          pattern: `^${tokenPrefix}[A-Za-z0-9_-]{${tokenBodyLength}}$`,
        }),
      },
      { optional: ['workload'] },
    ),
    OwnAuditEntry: object({ object: { const: 'audit_entry' }, ...auditEntry }),
    NewKey: bodySchema(newKey),
    NewOrBroughtKey: bodySchema(newOrBroughtKey),
    ImportedKeys: bodySchema(importedKeys),
    KeyChange: bodySchema(keyChange),
  },
  access: 'management',
  operations: {
    'GET /v1/keys': {
      id: 'listManagedKeys',
      summary: 'List the keys of the account',
      description: 'Oldest first; all of them where neither `limit` nor `after` is sent.',
      parameters: page,
      answers: { '200': json('The list.', listOf(ref('Key'))) },
    },
    'POST /v1/keys': {
      id: 'createManagedKey',
      summary: 'Create a key in the account',
      body: { schema: ref('NewKey'), examples: newKeyExamples },
      answers: { '201': json('The key, with its token.', ref('CreatedKey')) },
    },
    'GET /v1/audit': {
      id: 'listOwnAudit',
      summary: 'List what was done to the account and by it',
      description: 'Newest first. Of an operator it says no more than that it was one.',
      parameters: [
        numberParameter(ownAuditLimit),
        query('after', 'Only entries that follow the one with this id.'),
        query('action', 'Only this action, or its first part such as `key`.'),
      ],
      answers: { '200': json('The entries.', listOf(ref('OwnAuditEntry'))) },
    },
    'GET /v1/keys/{id}': {
      id: 'getManagedKey',
      summary: 'Get a key of the account',
      answers: { '200': json('The key.', ref('Key')) },
    },
    'PATCH /v1/keys/{id}': { id: 'updateManagedKey', summary: 'Change a key of the account', ...change },
    'DELETE /v1/keys/{id}': { id: 'deleteManagedKey', summary: 'Delete a key of the account', ...deletion },
  },
};

const keysTag = { name: 'Keys', description: 'For operators: the API keys of an account.' };

export const adminKeys: Resource = {
  tag: keysTag,
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
    'PATCH /admin/v1/accounts/{id}/keys/{key_id}': { id: 'updateKey', summary: 'Change a key', ...change },
    'DELETE /admin/v1/accounts/{id}/keys/{key_id}': { id: 'deleteKey', summary: 'Delete a key', ...deletion },
  },
};
