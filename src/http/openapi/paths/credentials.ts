/** Describes the credentials of customers at providers. */
import { credentialUses } from '../../../domain/credential.js';
import { agreementSchema, credentialChange, newCredential } from '../../credentials/credential-fields.js';
import { pageLimit } from '../../query.js';
import { json, noContent, type Operations, type Resource } from '../operations.js';
import {
  array,
  bodySchema,
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
} from '../schema.js';
import type { Schema } from '../types.js';

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
  models: orNull(array({ type: 'string' }, 'The models that it covers; null is every model of the provider.')),
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
  last_used_at: orNull(time('When it was used last; null where it never was.')),
};

const check = object(
  {
    provider: text('The provider.'),
    verdict: text('`ok`, or what is wrong.'),
    route: textOrNull('The route that was called.'),
    status: orNull(integer('The status of the answer.')),
    latency_ms: orNull(integer('How long it took.')),
    said: textOrNull('What the provider said.'),
    advice: text('What to do; empty where nothing is wrong.'),
  },
  { description: 'One call with it.' },
);

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

/** Of a management key, and the same under an account for operators. `owner` is in the names of the operations. */
function credentialOperations(owner: '' | 'Account', list: string, item: string): Operations {
  const one = json('The credential, without its secret.', ref('Credential'));
  return {
    [`GET ${list}`]: {
      id: `list${owner}Credentials`,
      summary: 'List credentials',
      parameters: [numberParameter(pageLimit), query('after', 'Only entries after this id.', { type: 'string' })],
      answers: { '200': json('A page, oldest first.', listOf(ref('Credential'))) },
    },
    [`POST ${list}`]: {
      id: `create${owner}Credential`,
      summary: 'Store a credential',
      description:
        '`secret` has `api_key`; of Azure also `resource`; of Bedrock `api_key`, or `access_key_id`, `secret_access_key` and an optional `session_token`; of Vertex `service_account` and `project`.',
      body: { schema: ref('NewCredential'), examples },
      answers: { '201': one },
    },
    [`GET ${item}`]: { id: `get${owner}Credential`, summary: 'Get a credential', answers: { '200': one } },
    [`PATCH ${item}`]: {
      id: `update${owner}Credential`,
      summary: 'Change a credential',
      description:
        'A field that is left out stays as it is; a secret is replaced as a whole. Holds for the next request.',
      body: {
        schema: ref('CredentialChange'),
        examples: { use: { summary: 'With the operator’s after it', value: { use: 'first' } } },
      },
      answers: { '200': one },
    },
    [`DELETE ${item}`]: {
      id: `delete${owner}Credential`,
      summary: 'Delete a credential',
      description: 'Holds for the next request. A stream that runs goes on to its end.',
      answers: { '204': noContent },
    },
    [`POST ${item}/check`]: {
      id: `check${owner}Credential`,
      summary: 'Check a credential',
      description: 'Makes one cheap call with it.',
      answers: { '200': json('The credential, and what the call has shown.', ref('CheckedCredential')) },
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
  access: 'management',
  operations: credentialOperations('', '/v1/credentials', '/v1/credentials/{id}'),
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
  operations: {
    ...credentialOperations(
      'Account',
      '/admin/v1/accounts/{id}/credentials',
      '/admin/v1/accounts/{id}/credentials/{credential_id}',
    ),
    'POST /admin/v1/secrets/rotate': {
      id: 'rotateSecrets',
      summary: 'Replace the key that credentials are sealed with',
      description: 'Writes a new key file, and wraps every secret anew while the gateway serves. May be called again.',
      answers: { '200': json('The rotation.', ref('SecretsRotation')) },
    },
  },
};
