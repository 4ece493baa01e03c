/** The errors of credentials that customers have at providers. */
import { errorRows, row } from './row.js';

const creating = ['createCredential', 'createAccountCredential'];
const changing = ['updateCredential', 'updateAccountCredential'];

export const credentialErrors = errorRows({
  credential_exists: row<{ provider: string; isOfProject: boolean; isOfAll: boolean }>({
    status: 409,
    param: 'models',
    when: 'The account, or the project, has a credential of that provider for one of the models already.',
    remedy: 'Change that credential, or name other models.',
    operations: [...creating, ...changing],
    message: ({ provider, isOfProject, isOfAll }) =>
      `The ${isOfProject ? 'project' : 'account'} already has a credential at ${provider} for ${isOfAll ? 'all models' : 'one of these models'}. Change that one with PATCH /v1/credentials/{id}, or name other \`models\`.`,
  }),
  credential_limit_reached: row<{ limit: number }>({
    status: 422,
    param: 'provider',
    when: 'The account has as many credentials as it may have, those of its projects included.',
    remedy: 'Delete a credential that is no longer used.',
    operations: creating,
    message: ({ limit }) =>
      `This account has ${limit} credentials, as many as it may have. Delete one that is no longer used.`,
  }),
  credential_field_invalid: row<{ param: string; reason: string }>({
    status: 422,
    code: 'invalid_request_error',
    when: 'A field of a credential is not valid.',
    remedy: 'Correct the field that `param` names.',
    operations: ['createCredential', 'updateCredential'],
    message: ({ param, reason }) => `\`${param}\` ${reason}.`,
  }),
  secrets_key_missing: row<{ fault: string }>({
    status: 503,
    type: 'provider_unavailable',
    when: 'The operator’s key that credentials are sealed with is missing or cannot be used, so none can be stored.',
    remedy: 'The operator makes a key file and names it in `secrets.key_file`.',
    operations: [...creating, ...changing, 'rotateSecrets'],
    message: ({ fault }) =>
      `Credentials cannot be stored, because the key that they are sealed with cannot be used (${fault}). The operator makes one with \`openssl rand -base64 32\`, in a file of mode 0600 that \`secrets.key_file\` names.`,
  }),
});
