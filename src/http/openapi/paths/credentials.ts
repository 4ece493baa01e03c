/** Describes the credentials of customers at providers. */
import { credentialUses } from '../../../domain/credential.js';
import { agreementSchema, credentialChange, newCredential } from '../../credentials/credential-fields.js';
import { pageLimit } from '../../query.js';
import { adminOperation, json, managementOperation, noContent, type OperationDescription } from '../operations.js';
import {
  array,
  bodySchema,
  integer,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  ref,
  text,
  textOrNull,
  time,
} from '../schema.js';
import type { Operation, Parameter, Resource, Schema } from '../types.js';

const tag = {
  name: 'Credentials',
  description:
    'Credentials of the account and its projects at providers, for a management key. A secret is stored sealed, and no answer has it.',
};

const agreement: Schema = {
  ...agreementSchema,
  description: 'The owner’s contract with the provider, as far as routing policies ask about it.',
};

const credentialMembers = {
  object: { const: 'credential' },
  id: text('Its id.', { pattern: '^cred-' }),
  provider: text('The provider.'),
  name: text('The owner’s name for it.'),
  project: textOrNull('The project that it is used for; null is the whole account.'),
  use: oneOfValues(credentialUses, 'Whether another credential is used beside it.'),
  models: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'The models that it covers; null is every model of the provider.',
  } satisfies Schema,
  agreement,
  fingerprint: text('The first 8 hex digits of the SHA-256 of the secret’s canonical JSON.', {
    pattern: '^[0-9a-f]{8}$',
  }),
  state: object(
    {
      status: oneOfValues(['unchecked', 'ok', 'failing'], 'Whether the provider has accepted it.'),
      reason: textOrNull('What the provider said when it refused it.'),
      since: time('Since when.'),
    },
    { description: 'What traffic and checks have shown.' },
  ),
  created_at: time('When it was made.'),
  last_used_at: { ...time('When it was used last; null where it never was.'), type: ['string', 'null'] } as Schema,
};

const check = object(
  {
    provider: text('The provider.'),
    verdict: text('`ok`, or what is wrong.'),
    route: textOrNull('The route that was called.'),
    status: { type: ['integer', 'null'], description: 'The status of the answer.' },
    latency_ms: { type: ['integer', 'null'], description: 'How long it took.' },
    said: textOrNull('What the provider said.'),
    advice: text('What to do; empty where nothing is wrong.'),
  },
  { description: 'One call with it.' },
);

const path = (name: string, description: string): Parameter => ({
  ...{ name, in: 'path', required: true, description, schema: { type: 'string' } },
});
const after: Parameter = {
  ...{ name: 'after', in: 'query', description: 'Only entries after this id.', schema: { type: 'string' } },
};

const examples = {
  key: {
    summary: 'A key',
    value: { provider: 'openai', name: 'our OpenAI key', secret: { api_key: 'sk-example' } },
  },
  first: {
    summary: 'With the operator’s after it, and an agreement',
    value: {
      ...{ provider: 'mistral', name: 'EU contract', secret: { api_key: 'example' }, use: 'first' },
      ...{ models: ['mistralai/*'], agreement: { retention_days: 0, reference: 'ZDR 2026-03' } },
    },
  },
};

interface Ids {
  list: string;
  create: string;
  get: string;
  update: string;
  delete: string;
  check: string;
}

interface Place {
  operation: (description: OperationDescription) => Operation;
  before: readonly Parameter[];
  id: Parameter;
  tagName: string;
}

function credentialPaths(base: string, ids: Ids, { operation, before, id, tagName }: Place): Resource['paths'] {
  const own = { tag: tagName, parameters: [...before, id] };
  const one = json('The credential, without its secret.', ref('Credential'));
  return {
    [base]: {
      get: operation({
        ...{ id: ids.list, tag: tagName, summary: 'List credentials' },
        parameters: [...before, numberParameter(pageLimit), after],
        answers: { '200': json('A page, oldest first.', listOf(ref('Credential'))) },
      }),
      post: operation({
        ...{ id: ids.create, tag: tagName, summary: 'Store a credential' },
        ...(before.length > 0 && { parameters: before }),
        description:
          '`secret` has `api_key`; of Azure also `resource`; of Bedrock `api_key`, or `access_key_id`, `secret_access_key` and an optional `session_token`; of Vertex `service_account` and `project`.',
        body: { schema: ref('NewCredential'), examples },
        answers: { '201': one },
      }),
    },
    [`${base}/{${id.name}}`]: {
      get: operation({ ...own, id: ids.get, summary: 'Get a credential', answers: { '200': one } }),
      patch: operation({
        ...{ ...own, id: ids.update, summary: 'Change a credential' },
        description:
          'A field that is left out stays as it is; a secret is replaced as a whole. Holds for the next request.',
        body: {
          schema: ref('CredentialChange'),
          examples: { use: { summary: 'With the operator’s after it', value: { use: 'first' } } },
        },
        answers: { '200': one },
      }),
      delete: operation({
        ...{ ...own, id: ids.delete, summary: 'Delete a credential' },
        description: 'Holds for the next request. A stream that runs goes on to its end.',
        answers: { '204': noContent },
      }),
    },
    [`${base}/{${id.name}}/check`]: {
      post: operation({
        ...{ ...own, id: ids.check, summary: 'Check a credential' },
        description: 'Makes one cheap call with it.',
        answers: { '200': json('The credential, and what the call has shown.', ref('CheckedCredential')) },
      }),
    },
  };
}

export const credentials: Resource = {
  tag,
  schemas: {
    Credential: object(credentialMembers),
    CheckedCredential: object({ ...credentialMembers, check }),
    NewCredential: bodySchema(newCredential),
    CredentialChange: bodySchema(credentialChange),
  },
  paths: credentialPaths(
    '/v1/credentials',
    {
      ...{ list: 'listCredentials', create: 'createCredential', get: 'getCredential' },
      ...{ update: 'updateCredential', delete: 'deleteCredential', check: 'checkCredential' },
    },
    { operation: managementOperation, before: [], id: path('id', 'The credential’s id.'), tagName: tag.name },
  ),
};

const adminTag = {
  name: 'Account credentials',
  description: 'For operators: the credentials of an account at providers, and the key that all are sealed with.',
};

export const adminCredentials: Resource = {
  tag: adminTag,
  schemas: {
    SecretsRotation: object({
      object: { const: 'secrets_rotation' },
      key: text('The id of the key that is in use from now on.'),
      wrapped: integer('How many credentials were wrapped anew.'),
      failed: array({ type: 'string' }, 'Credentials that no key opens. Old keys are kept while there are any.'),
    }),
  },
  paths: {
    ...credentialPaths(
      '/admin/v1/accounts/{id}/credentials',
      {
        ...{ list: 'listAccountCredentials', create: 'createAccountCredential', get: 'getAccountCredential' },
        ...{ update: 'updateAccountCredential', delete: 'deleteAccountCredential', check: 'checkAccountCredential' },
      },
      {
        ...{ operation: adminOperation, before: [path('id', 'The account’s id.')], tagName: adminTag.name },
        id: path('credential_id', 'The credential’s id.'),
      },
    ),
    '/admin/v1/secrets/rotate': {
      post: adminOperation({
        ...{ id: 'rotateSecrets', tag: adminTag.name, summary: 'Replace the key that credentials are sealed with' },
        description:
          'Writes a new key file, and wraps every secret anew while the gateway serves. May be called again.',
        answers: { '200': json('The rotation.', ref('SecretsRotation')) },
      }),
    },
  },
};
