/** The fields of a credential at a provider: how a request sends them, what becomes of them, and how a credential is shown. */
import { createPrivateKey } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CredentialFields, NewCredential, SentSecret } from '../../accounts/credentials/credential-book.js';
import { secretKindOf } from '../../accounts/credentials/secret-kind.js';
import { agreement as agreementFields, certificationNames, zeroRetentionKinds } from '../../base/data-policy.js';
import type { Snapshot } from '../../catalogue/route.js';
import { type CredentialUse, credentialUses, type Secret, type SecretKind } from '../../domain/credential.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { StoredCredential } from '../../storage/store.js';
import { bodyFields, isOperators, personText, withFaults } from '../admin/fields.js';
import { record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';

const modelsMax = 200;
const keyMax = 4096;
const segment = '[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}';

/** One line of the characters that a header may have: a line break would add a header to every call. */
const keyText = z
  .string('must be text')
  .regex(/^[!-~]+$/, 'must be one line of printable ASCII characters without blanks, as the provider shows it')
  .max(keyMax, `must be at most ${keyMax} characters`);
const placeName = z
  .string('must be text')
  .regex(/^[a-z0-9-]{2,64}$/, 'must be 2 to 64 of the characters a-z, 0-9 and -');

const googleTokenUris = ['https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'];

/** Other members are what a downloaded file has besides, and are not kept. */
const serviceAccount = z
  .looseObject(
    {
      client_email: z
        .string('must be text')
        .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email')
        .max(320, 'must be at most 320 characters'),
      private_key: z
        .string('must be text')
        .max(16_384, 'must be at most 16384 characters')
        .refine(isRsaKey, 'must be an RSA private key in PEM'),
      private_key_id: z
        .string('must be text')
        .regex(/^[!-~]{1,128}$/, 'must be 1 to 128 printable characters')
        .optional(),
      token_uri: z.enum(googleTokenUris, 'must be the address of Google’s token service').optional(),
    },
    'must be the JSON object of a service account',
  )
  .describe('The JSON object of a service account. Only `client_email`, `private_key` and `private_key_id` are kept.');

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

const keyOnly = z.strictObject({ api_key: keyText }, 'must be an object like {"api_key": "…"}');

/** By the kind of the provider. */
const secretFields = {
  api_key: keyOnly,
  azure: z.strictObject(
    { api_key: keyText, resource: placeName },
    'must be an object like {"api_key": "…", "resource": "my-resource"}',
  ),
  bedrock: z.union([
    keyOnly,
    z.strictObject({
      access_key_id: keyText,
      secret_access_key: keyText,
      session_token: keyText.optional(),
    }),
  ]),
  vertex: z.strictObject(
    { service_account: serviceAccount, project: placeName },
    'must be an object like {"service_account": {…}, "project": "my-project"}',
  ),
} satisfies Record<SecretKind, z.ZodType>;

const models = z
  .array(
    z
      .string('must be text')
      .regex(new RegExp(`^${segment}/(\\*|${segment})$`), 'must be {creator}/{model} or {creator}/*'),
    'must be a list of models, or null',
  )
  .min(1, 'must not be empty; send null for all models')
  .max(modelsMax, `must have at most ${modelsMax} entries`)
  .nullable()
  .optional()
  .describe('`{creator}/{model}` and `{creator}/*`; null is every model of the provider.');

const orNull = (type: string, more: object = {}) => ({ type: [type, 'null'], ...more });

/** The rules of configuration files have no JSON Schema of their own. */
const agreementSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    trains: orNull('boolean'),
    retention_days: orNull('integer', { minimum: 0 }),
    zdr: { enum: [...zeroRetentionKinds, null] },
    in_region: orNull('boolean'),
    eu_owned: orNull('boolean'),
    certifications: orNull('array', { items: { type: 'string', enum: [...certificationNames] } }),
    source: orNull('string'),
    as_of: orNull('string'),
    reference: orNull('string'),
  },
} as const;

const changeable = {
  name: personText(100).describe('Your own name for it, which messages and receipts show.'),
  use: z
    .enum(credentialUses, 'must be "only", "first" or "last"')
    .optional()
    .describe(
      '`only`: nothing else is used for the models that it covers. `first`: another credential after it was refused or rate-limited. `last`: after the operator’s could not serve.',
    ),
  models,
  agreement: z
    .unknown()
    .optional()
    .pipe(agreementFields.nullable().optional())
    .optional()
    .meta(agreementSchema)
    .describe('Your own contract with the provider, as far as routing policies ask about it.'),
};

/** Its fields depend on the provider. */
const anySecret = z.looseObject({}, 'must be an object like {"api_key": "…"}');

export const newCredential = z.strictObject({
  provider: z.string('must be the id of a provider').describe('The id of the provider.'),
  secret: anySecret.describe('What the provider is called with. It is stored sealed, and never shown again.'),
  project: z
    .string('must be the id of a project, or null')
    .nullish()
    .describe('The project that it is used for; null is the whole account. Cannot be changed later.'),
  ...changeable,
});

/** What is left out stays as it is; a secret is replaced as a whole. */
export const credentialChange = z.strictObject({
  ...changeable,
  name: changeable.name.optional(),
  secret: anySecret.optional().describe('Replaces the secret as a whole.'),
});

/** The fields of a body. A fault is a 422, in the operators' API a 400. */
export function readFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  return withFaults(
    () => bodyFields(request, schema),
    ({ param, reason }) => fieldFault(request, param, reason),
  );
}

export function fieldFault(request: FastifyRequest, param: string, reason: string): GatewayError {
  return gatewayError(isOperators(request) ? 'field_invalid' : 'credential_field_invalid', { param, reason });
}

/** Throws where the provider takes no such secret. No value of a secret is in the message. */
export function checkSecret(
  request: FastifyRequest,
  snapshot: Snapshot,
  provider: string,
  sent: Readonly<Record<string, unknown>>,
): SentSecret {
  const found = snapshot.providers.get(provider);
  if (!found)
    throw fieldFault(request, 'provider', `is "${provider.slice(0, 100)}", which is no provider of the catalogue`);
  const kind = secretKindOf(found);
  if (kind === null) throw fieldFault(request, 'provider', `is "${provider}", which takes no credential`);
  const schema = kind === 'bedrock' ? secretFields.bedrock.options['api_key' in sent ? 0 : 1]! : secretFields[kind];
  const checked = schema.safeParse(sent);
  if (checked.success) return { sent, kept: keptOf(checked.data as Secret) };
  const [issue] = checked.error.issues;
  const names = issue!.code === 'unrecognized_keys' ? [issue!.keys[0]!] : issue!.path.slice(0, 1).map(String);
  const inside = issue!.path.length > 1 ? `${issue!.path.slice(1).join('.')} ` : '';
  const rule =
    issue!.code === 'unrecognized_keys'
      ? `is no field of a secret of ${provider}`
      : `is not accepted: ${inside}${issue!.message}`;
  const isMissing = issue!.path.length === 1 && sent[names[0]!] === undefined && issue!.code !== 'unrecognized_keys';
  throw fieldFault(
    request,
    ['secret', ...names.map((name) => name.slice(0, 50))].join('.'),
    isMissing ? `is missing: a secret of ${provider} has ${fieldsText(kind)}` : rule,
  );
}

function fieldsText(kind: SecretKind): string {
  const fields = {
    api_key: '`api_key`',
    azure: '`api_key` and `resource`',
    bedrock: '`api_key`, or `access_key_id` and `secret_access_key`',
    vertex: '`service_account` and `project`',
  };
  return fields[kind];
}

/** Of a service account only what calls need: addresses in it are not used. */
function keptOf(secret: Secret): Secret {
  if (!secret.service_account) return secret;
  const { client_email, private_key, private_key_id } = secret.service_account;
  return {
    ...secret,
    service_account: { client_email, private_key, ...(private_key_id !== undefined && { private_key_id }) },
  };
}

interface SentFields {
  readonly name?: string;
  readonly use?: CredentialUse | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly agreement?: NewCredential['agreement'] | undefined;
}

export function changeOf({ name, use, models: sentModels, agreement }: SentFields): CredentialFields {
  return {
    ...(name !== undefined && { name }),
    ...(use !== undefined && { use }),
    ...(sentModels !== undefined && { models: sentModels }),
    ...(agreement !== undefined && { agreement }),
  };
}

export function credentialJson({ credential, state }: StoredCredential) {
  const { id, provider, name, projectId, use, models: covered, agreement, fingerprint, createdAt } = credential;
  return {
    ...{ object: 'credential', id, provider, name, project: projectId, use, models: covered, agreement, fingerprint },
    state: { status: state.status, reason: state.reason, since: new Date(state.since).toISOString() },
    created_at: new Date(createdAt).toISOString(),
    last_used_at: state.lastUsedAt === null ? null : new Date(state.lastUsedAt).toISOString(),
  };
}

const shownFields = {
  object: { const: 'credential' },
  id: s.text('Its id.', { pattern: '^cred-' }),
  provider: s.text('The provider.'),
  name: s.text('The owner’s name for it.'),
  project: s.textOrNull('The project that it is used for; null is the whole account.'),
  use: s.oneOfValues(credentialUses, 'Whether another credential is used beside it.'),
  models: s.textsOrNull('The models that it covers; null is every model of the provider.'),
  agreement: {
    ...agreementSchema,
    description: 'The owner’s contract with the provider, as far as routing policies ask about it.',
  },
  fingerprint: s.text('The first 8 hex digits of the SHA-256 of the secret’s canonical JSON.', {
    pattern: '^[0-9a-f]{8}$',
  }),
  state: s.objectOf('What traffic and checks have shown.', {
    status: s.oneOfValues(['unchecked', 'ok', 'failing'], 'Whether the provider has accepted it.'),
    reason: s.textOrNull('What the provider said when it refused it.'),
    since: s.time('Since when.'),
  }),
  created_at: s.time('When it was made.'),
  last_used_at: s.timeOrNull('When it was used last; null where it never was.'),
};
export const shownCredential = record('Credential', shownFields);
export const checkedCredential = record('CheckedCredential', {
  ...shownFields,
  check: s.objectOf('One call with it.', {
    provider: s.text('The provider.'),
    verdict: s.text('`ok`, or what is wrong.'),
    route: s.textOrNull('The route that was called.'),
    status: s.integerOrNull('The status of the answer.'),
    latency_ms: s.integerOrNull('How long it took.'),
    said: s.textOrNull('What the provider said.'),
    advice: s.text('What to do; empty where nothing is wrong.'),
  }),
});
