/** Describes the objects of keys, and `/v1/keys` for management keys. */
import { keyIdLength, tokenBodyLength, tokenPrefix } from '../../../accounts/keys/token.js';
import { ownAuditLimit } from '../../api/audit.js';
import { importedKeys, keyChange, newKey, newOrBroughtKey } from '../../keys/key-fields.js';
import { pageLimit } from '../../query.js';
import { json, noContent, type Resource } from '../operations.js';
import {
  bodySchema,
  boolean,
  listOf,
  numberParameter,
  object,
  oneOfValues,
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
export const broughtKeyExample: Example = {
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

const listOrNull = (description: string): Schema => ({
  type: ['array', 'null'],
  items: { type: 'string' },
  description,
});
const perMinute = (description: string): Schema => ({ type: ['integer', 'null'], description });
const usdOrNull = (description: string): Schema => ({ ...usd(description), type: ['string', 'null'] });

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
  expires_at: textOrNull('When it expires; null is never.', { format: 'date-time' }),
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
  limit_usd: usdOrNull('How much may be spent through it in a period; null is no limit.'),
  limit_reset: oneOfValues(['never', 'daily', 'weekly', 'monthly'], 'When a new period begins, at 00:00 UTC.'),
  allowed_models: listOrNull('The models that it may call; null is all of them.'),
  allowed_providers: listOrNull('The providers that it may call; null is all of them.'),
  allowed_ips: listOrNull('The address ranges from which it may be used; null is everywhere.'),
  requests_per_minute: perMinute('Its own limit; null is the account’s.'),
  tokens_per_minute: perMinute('Its own limit; null is the account’s.'),
  usage_usd: usd('What was spent through it in the current period.'),
  limit_remaining_usd: usdOrNull('What is left of `limit_usd` in the current period; null is no limit.'),
  last_used_at: textOrNull('When it was last used, to the minute; null is never.', { format: 'date-time' }),
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

export const keyChangeExamples: Readonly<Record<string, Example>> = {
  disable: { summary: 'Disable', value: { disabled: true } },
  raise: { summary: 'Another cap', value: { limit_usd: '50', limit_reset: 'weekly', allowed_ips: null } },
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
    'PATCH /v1/keys/{id}': {
      id: 'updateManagedKey',
      summary: 'Change a key of the account',
      description: 'A field that is left out stays as it is. The change holds for the next request, on every replica.',
      body: { schema: ref('KeyChange'), examples: keyChangeExamples },
      answers: { '200': json('The key.', ref('Key')) },
    },
    'DELETE /v1/keys/{id}': {
      id: 'deleteManagedKey',
      summary: 'Delete a key of the account',
      description: 'The token stops working with the next request, on every replica.',
      answers: { '204': noContent },
    },
  },
};
