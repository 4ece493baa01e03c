/**
 * The credentials of an account and its projects at providers: `/v1/credentials` for a management key, the same in the dashboard for a
 * session, and those of any account for operators, with the key that all are sealed with.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../../domain/account.js';
import { accountNamed } from '../admin/accounts.js';
import { actorOf } from '../admin/audit.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { body, component, created, json, list, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { page } from '../openapi/shared.js';
import { checkedCredential, credentialChange, newCredential, shownCredential } from './credential-fields.js';
import { CredentialRecords } from './credential-records.js';

/** Whose credentials a request is about, and which of them. */
interface Scope {
  readonly accountOf: () => Promise<Account>;
  /** The one project whose credentials the caller reaches; null for all of the account. */
  readonly reach: string | null;
  readonly id: string;
}

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerCredentials(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  registerPaths(app, deps, { list: `${prefix}/credentials`, item: `${prefix}/credentials/:id` }, (request) => {
    const { account, reach } = managerOf(request);
    return { accountOf: async () => account, reach: reach?.id ?? null, id: (request.params as { id: string }).id };
  });
}

export function registerAccountCredentials(app: FastifyInstance, deps: HttpDeps): void {
  const path = '/accounts/:id/credentials';
  registerPaths(app, deps, { list: path, item: `${path}/:credentialId` }, ({ params }) => {
    const { id, credentialId } = params as { id: string; credentialId: string };
    return { accountOf: () => accountNamed(deps, id), reach: null, id: credentialId };
  });

  app.post('/secrets/rotate', async (request) => {
    const rotated = await deps.credentials.rotate();
    await deps.audit.record(actorOf(request), 'secrets.rotate', rotated.key, { wrapped: rotated.wrapped });
    return rotated;
  });
}

function registerPaths(
  app: FastifyInstance,
  deps: HttpDeps,
  paths: { readonly list: string; readonly item: string },
  scopeOf: (request: FastifyRequest) => Scope,
): void {
  const records = new CredentialRecords(deps);

  app.get(paths.list, async (request) => {
    const { accountOf, reach } = scopeOf(request);
    return records.list(request, await accountOf(), reach);
  });

  app.post(paths.list, async (request, reply) => {
    const { accountOf, reach } = scopeOf(request);
    return reply.code(201).send(await records.create(request, actorOf(request), accountOf, reach));
  });

  app.get(paths.item, async (request) => {
    const { accountOf, reach, id } = scopeOf(request);
    return records.one(await accountOf(), id, reach);
  });

  app.patch(paths.item, async (request) => {
    const { accountOf, reach, id } = scopeOf(request);
    return records.update(request, actorOf(request), await accountOf(), id, reach);
  });

  app.delete(paths.item, async (request, reply) => {
    const { accountOf, reach, id } = scopeOf(request);
    await records.delete(actorOf(request), await accountOf(), id, reach);
    return reply.code(204).send();
  });

  app.post(`${paths.item}/check`, async (request) => {
    const { accountOf, reach, id } = scopeOf(request);
    return records.check(await accountOf(), id, reach);
  });
}

const oneCredential = json('The credential, without its secret.', shownCredential);
const newBody = body(component('NewCredential', newCredential), {
  key: ['A key', { provider: 'openai', name: 'our OpenAI key', secret: { api_key: 'sk-example' } }],
  first: [
    'With the operator’s after it, and an agreement',
    {
      ...{ provider: 'mistral', name: 'EU contract', secret: { api_key: 'example' }, use: 'first' },
      ...{ models: ['mistralai/*'], agreement: { retention_days: 0, reference: 'ZDR 2026-03' } },
    },
  ],
});
const changeBody = body(component('CredentialChange', credentialChange), {
  use: ['With the operator’s after it', { use: 'first' }],
});

/** `owner` is in the names of the operations. */
const operationsOf = (owner: '' | 'Account', path: string, item: string) => ({
  [`GET ${path}`]: operation(`list${owner}Credentials`, 'List credentials', {
    parameters: page,
    answers: list(shownCredential, 'A page, oldest first.'),
  }),
  [`POST ${path}`]: operation(`create${owner}Credential`, 'Store a credential', {
    description:
      '`secret` has `api_key`; of Azure also `resource`; of Bedrock `api_key`, or `access_key_id`, `secret_access_key` and an optional `session_token`; of Vertex `service_account` and `project`.',
    body: newBody,
    answers: created(oneCredential),
  }),
  [`GET ${item}`]: operation(`get${owner}Credential`, 'Get a credential', { answers: oneCredential }),
  [`PATCH ${item}`]: operation(`update${owner}Credential`, 'Change a credential', {
    description:
      'A field that is left out stays as it is; a secret is replaced as a whole. Holds for the next request.',
    body: changeBody,
    answers: oneCredential,
  }),
  [`DELETE ${item}`]: operation(`delete${owner}Credential`, 'Delete a credential', {
    description: 'Holds for the next request. A stream that runs goes on to its end.',
    answers: noContent,
  }),
  [`POST ${item}/check`]: operation(`check${owner}Credential`, 'Check a credential', {
    description: 'Makes one cheap call with it.',
    answers: json('The credential, and what the call has shown.', checkedCredential),
  }),
});

export const credentials = resource(
  'Credentials',
  'Credentials of the account and its projects at providers, for a management key. A secret is stored sealed, and no answer has it.',
  'management',
  operationsOf('', '/v1/credentials', '/v1/credentials/{id}'),
);

const accountPath = '/admin/v1/accounts/{id}/credentials';
const rotation = record('SecretsRotation', {
  object: { const: 'secrets_rotation' },
  key: s.text('The id of the key that is in use from now on.'),
  wrapped: s.integer('How many credentials were wrapped anew.'),
  failed: s.texts('Credentials that no key opens. Old keys are kept while there are any.'),
});

export const adminCredentials = resource(
  'Account credentials',
  'For operators: the credentials of an account at providers, and the key that all are sealed with.',
  'admin',
  {
    ...operationsOf('Account', accountPath, `${accountPath}/{credential_id}`),
    'POST /admin/v1/secrets/rotate': operation('rotateSecrets', 'Replace the key that credentials are sealed with', {
      description: 'Writes a new key file, and wraps every secret anew while the gateway serves. May be called again.',
      answers: json('The rotation.', rotation),
    }),
  },
);
