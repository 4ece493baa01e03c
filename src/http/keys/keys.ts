/** The keys of an account: `/v1/keys` for a program that has a management key, and those of any account for operators. */
import type { FastifyInstance } from 'fastify';
import { keyIdLength, tokenBodyLength, tokenPrefix } from '../../accounts/keys/token.js';
import type { ApiKey } from '../../domain/account.js';
import { accountNamed } from '../admin/accounts.js';
import { actorOf } from '../admin/audit.js';
import { ownAuditOperation } from '../api/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { body, component, created, json, list, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { importedFrom, page } from '../openapi/shared.js';
import { importedKeys, keyChange, newKey, newOrBroughtKey } from './key-fields.js';
import { isWithin, KeyRecords, keysLimit } from './key-records.js';

type WithId = { Params: { id: string } };
type WithKeyId = { Params: { id: string; keyId: string } };

export function registerManagedKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.get('/v1/keys', async (request) => {
    const { account, reach } = managerOf(request);
    const isSeen = reach ? (key: ApiKey) => isWithin(reach, key) : undefined;
    return records.page(request, account.id, { isOld: true, isSeen });
  });

  app.post('/v1/keys', async (request, reply) => {
    const { account, reach } = managerOf(request);
    return reply.code(201).send(await records.createLimited(request, account, { reach }));
  });

  app.get<WithId>('/v1/keys/:id', async (request) => {
    const { account, reach } = managerOf(request);
    return records.one(account.id, request.params.id, reach);
  });

  app.patch<WithId>('/v1/keys/:id', async (request) => {
    const { account, reach } = managerOf(request);
    return records.update(request, actorOf(request), async () => account, request.params.id, reach);
  });

  app.delete<WithId>('/v1/keys/:id', async (request, reply) => {
    const { account, reach } = managerOf(request);
    await records.delete(actorOf(request), account.id, request.params.id, reach);
    return reply.code(204).send();
  });
}

/** Only the answer to the creation contains the token. */
export function registerAccountKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.post<WithId>('/accounts/:id/keys', async (request, reply) => {
    const account = () => accountNamed(deps, request.params.id);
    return reply.code(201).send(await records.createOrBring(request, actorOf(request), account));
  });

  app.post<WithId>('/accounts/:id/imported-keys', async (request) =>
    records.bringAll(request, actorOf(request), await accountNamed(deps, request.params.id)),
  );

  app.get<WithId>('/accounts/:id/keys', async (request) => {
    const { id } = await accountNamed(deps, request.params.id);
    return records.page(request, id, { isOld: true, limit: keysLimit });
  });

  app.get<WithKeyId>('/accounts/:id/keys/:keyId', async (request) => {
    const { id } = await accountNamed(deps, request.params.id);
    return records.one(id, request.params.keyId);
  });

  app.patch<WithKeyId>('/accounts/:id/keys/:keyId', async (request) => {
    const account = () => accountNamed(deps, request.params.id);
    return records.update(request, actorOf(request), account, request.params.keyId);
  });

  app.delete<WithKeyId>('/accounts/:id/keys/:keyId', async (request, reply) => {
    const { id } = await accountNamed(deps, request.params.id);
    await records.delete(actorOf(request), id, request.params.keyId);
    return reply.code(204).send();
  });
}

const shownFields = {
  id: s.text('The key’s public id.', { minLength: keyIdLength, maxLength: keyIdLength }),
  name: s.text('Its name; it appears in the usage history.'),
  prefix: { enum: [tokenPrefix, ''], description: 'Empty for a key that was brought from another system.' },
  last_four: s.text('The token’s last four characters.'),
  imported_from: importedFrom('the key'),
  expires_at: s.timeOrNull('When it expires; null is never.'),
  state: s.oneOfValues(['active', 'disabled', 'expired'], 'An expired key stays listed.'),
  created_at: s.time('When it was made.'),
  project: s.textOrNull('The id of its project; null for a management key of the whole account.'),
  holder: s.textOrNull('The id of the person who holds it; null where it belongs to the project.'),
  workload: s.optional(
    s.objectOf('Who exchanged a token for it; absent from every other key.', {
      issuer: s.text('Who issued its token.'),
      subject: s.text('The `sub` of the token.'),
    }),
  ),
  kind: s.oneOfValues(['inference', 'management'], 'A management key changes keys and can call no model.'),
  disabled: s.boolean('A disabled key is refused with 401 `api_key_disabled`.'),
  limit_usd: s.orNull(s.usd('How much may be spent through it in a period; null is no limit.')),
  limit_reset: s.oneOfValues(['never', 'daily', 'weekly', 'monthly'], 'When a new period begins, at 00:00 UTC.'),
  allowed_models: s.textsOrNull('The models that it may call; null is all of them.'),
  allowed_providers: s.textsOrNull('The providers that it may call; null is all of them.'),
  allowed_ips: s.textsOrNull('The address ranges from which it may be used; null is everywhere.'),
  requests_per_minute: s.integerOrNull('Its own limit; null is the account’s.'),
  tokens_per_minute: s.integerOrNull('Its own limit; null is the account’s.'),
  usage_usd: s.usd('What was spent through it in the current period.'),
  limit_remaining_usd: s.orNull(s.usd('What is left of `limit_usd` in the current period; null is no limit.')),
  last_used_at: s.timeOrNull('When it was last used, to the minute; null is never.'),
};

export const shownKey = record('Key', shownFields);
const createdKey = record('CreatedKey', {
  ...shownFields,
  token: s.text('The key itself, in this answer and never again.', {
    pattern: `^${tokenPrefix}[A-Za-z0-9_-]{${tokenBodyLength}}$`,
  }),
});

const newKeyExamples = {
  default: ['For 90 days', { name: 'laptop' }],
  never: ['For ever', { name: 'server', expires: 'never' }],
  capped: [
    'Capped and scoped',
    {
      ...{ name: 'team-a', limit_usd: '25.00', limit_reset: 'monthly', requests_per_minute: 60 },
      ...{ allowed_models: ['auto/lodestone/echo', 'sandbox/lodestone/regions/defra'], allowed_providers: ['sandbox'] },
      allowed_ips: ['10.0.0.0/8', '2001:db8::/32'],
    },
  ],
} as const;
const broughtKey = {
  ...{ name: 'team-b', expires: 'never', token_sha256: '5f'.repeat(32), last_four: 'wxyz' },
  ...{ imported_from: { system: 'litellm', id: 'team-b' }, limit_usd: '25.00', opening_usage_usd: '3.50' },
};

const oneKey = json('The key.', shownKey);
/** Making a key, also in a project. */
export const creation = {
  body: body(component('NewKey', newKey), newKeyExamples),
  answers: created(json('The key, with its token.', createdKey)),
};
const change = {
  description: 'A field that is left out stays as it is. The change holds for the next request, on every replica.',
  body: body(component('KeyChange', keyChange), {
    disable: ['Disable', { disabled: true }],
    raise: ['Another cap', { limit_usd: '50', limit_reset: 'weekly', allowed_ips: null }],
  }),
  answers: oneKey,
};
const deletion = {
  description: 'The token stops working with the next request, on every replica.',
  answers: noContent,
};

export const managedKeys = resource(
  'Managed keys',
  'The keys of the account, for a program with a management key. Other keys get 403 `management_key_required`.',
  'management',
  {
    'GET /v1/keys': operation('listManagedKeys', 'List the keys of the account', {
      description: 'Oldest first; all of them where neither `limit` nor `after` is sent.',
      parameters: page,
      answers: list(shownKey),
    }),
    'POST /v1/keys': operation('createManagedKey', 'Create a key in the account', creation),
    'GET /v1/audit': ownAuditOperation,
    'GET /v1/keys/{id}': operation('getManagedKey', 'Get a key of the account', { answers: oneKey }),
    'PATCH /v1/keys/{id}': operation('updateManagedKey', 'Change a key of the account', change),
    'DELETE /v1/keys/{id}': operation('deleteManagedKey', 'Delete a key of the account', deletion),
  },
);

const accountKeys = '/admin/v1/accounts/{id}/keys';

export const adminKeys = resource('Keys', 'For operators: the API keys of an account.', 'admin', {
  [`GET ${accountKeys}`]: operation('listKeys', 'List keys', {
    description: 'Oldest first. All of them, unless `limit` or `after` asks for a page.',
    parameters: [
      s.query('limit', 'How many.', { type: 'integer', minimum: keysLimit.min, maximum: keysLimit.max }),
      s.query('after', 'Only keys after this id.', { type: 'string' }),
    ],
    answers: list(shownKey),
  }),
  [`POST ${accountKeys}`]: operation('createKey', 'Create a key', {
    body: body(component('NewOrBroughtKey', newOrBroughtKey), {
      ...newKeyExamples,
      brought: ['With the token of another system', broughtKey],
    }),
    answers: created(json('The key, with its token where one was made.', { anyOf: [createdKey, shownKey] })),
  }),
  'POST /admin/v1/accounts/{id}/imported-keys': operation('importKeys', 'Bring keys of another system along', {
    description: 'All of them, or none where one has a fault. A key whose token is known stays as it is.',
    body: body(component('ImportedKeys', importedKeys), { keys: ['A key', { keys: [broughtKey] }] }),
    answers: list(
      s.object({
        id: s.textOrNull('The key’s public id; null where another key has its token.'),
        imported_from: importedFrom('the key'),
        status: s.oneOfValues(['created', 'exists'], 'What became of it.'),
      }),
      'What became of each, in the order in which they were sent.',
    ),
  }),
  [`GET ${accountKeys}/{key_id}`]: operation('getAccountKey', 'Get a key', { answers: oneKey }),
  [`PATCH ${accountKeys}/{key_id}`]: operation('updateKey', 'Change a key', change),
  [`DELETE ${accountKeys}/{key_id}`]: operation('deleteKey', 'Delete a key', deletion),
});
