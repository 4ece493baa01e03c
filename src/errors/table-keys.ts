/** Errors of keys that are disabled, scoped, capped or of the wrong kind, and of the fields that make them so. */
import { errorRows, modelOperations, row } from './row.js';

const settingsOperations = [
  ...['createAlias', 'repointAlias', 'patchAlias', 'deleteAlias'],
  ...['putFallback', 'deleteFallback', 'putRoutingPolicy', 'deleteRoutingPolicy'],
];

export const keyErrors = errorRows({
  api_key_disabled: row({
    status: 401,
    when: 'The key was disabled.',
    remedy: 'Enable it again (`disabled: false`), or use another key.',
    message: () =>
      'This API key is disabled. Enable it in the dashboard or with PATCH /v1/keys/{id}, or use another key.',
  }),
  key_limit_exceeded: row<{ limit: string; used: string; held: string; resets: string }>({
    status: 402,
    when: 'The key has spent its `limit_usd` of the current period, or requests in flight hold the rest of it.',
    remedy: 'Raise `limit_usd`, wait for the next period, or use another key.',
    operations: modelOperations,
    message: ({ limit, used, held, resets }) =>
      `This API key may spend ${limit} USD (limit_reset: ${resets}); ${used} USD are spent and ${held} USD are held by requests in flight. Raise limit_usd or use another key.`,
  }),
  budget_exceeded: row<{
    node: string;
    limit: string;
    used: string;
    held: string;
    period: string;
    ends: string | null;
  }>({
    status: 402,
    when: 'The account or the project of the key has spent its `budget` of the current period, or requests in flight hold the rest of it.',
    remedy: 'Raise the budget, wait for its next period, or use a key of another project.',
    operations: modelOperations,
    message: ({ node, limit, used, held, period, ends }) =>
      `${node} has a budget of ${limit} USD (period: ${period}); ${used} USD are spent and ${held} USD are held by requests in flight. The period ${ends === null ? 'never ends' : `ends at ${ends}`}. Raise the budget${ends === null ? '.' : ', or wait for the next period.'}`,
  }),
  key_scope: row<{ id: string; reason: string }>({
    status: 403,
    param: 'model',
    when: 'The model or its provider is outside the `allowed_models` or `allowed_providers` of the key.',
    remedy: 'Ask for a model that the key allows, widen its scope, or use another key.',
    operations: modelOperations,
    message: ({ id, reason }) =>
      `This API key may not call "${id}": ${reason}. Use another key, or change the scope of this one.`,
  }),
  key_kind_scope: row({
    status: 403,
    code: 'key_scope',
    param: 'model',
    when: 'A model is called with a management key.',
    remedy: 'Use a key of the kind `inference`.',
    operations: modelOperations,
    message: () =>
      'This is a management key: it changes the keys of its account and can call no model. Create a key of the kind "inference" and use that one.',
  }),
  key_address_scope: row<{ address: string }>({
    status: 403,
    code: 'key_scope',
    when: 'The request comes from an address outside the `allowed_ips` of the key.',
    remedy: 'Send it from an address that the key allows, or add the address to `allowed_ips`.',
    message: ({ address }) =>
      `This API key may not be used from ${address}. Send the request from an address of its allowed_ips, or add this one to them.`,
  }),
  management_key_required: row({
    status: 403,
    when: 'An endpoint that manages the account (`/v1/keys`, `/v1/projects`, `/v1/account`, `/v1/members`, `/v1/invitations`, `/v1/audit`) is called with an ordinary key.',
    remedy: 'Use a key of the kind `management`.',
    operations: [
      ...['listManagedKeys', 'createManagedKey', 'getManagedKey', 'updateManagedKey', 'deleteManagedKey'],
      ...['listProjects', 'createProject', 'getProject', 'updateProject', 'deleteProject'],
      ...['listProjectKeys', 'createProjectKey', 'getOwnAccount', 'updateOwnAccount'],
      ...['getProjectRoutingPolicy', 'putProjectRoutingPolicy', 'deleteProjectRoutingPolicy'],
      ...['listMembers', 'getMember', 'updateMember', 'removeMember'],
      ...['listInvitations', 'createInvitation', 'revokeInvitation', 'listOwnAudit'],
      ...[
        'listCredentials',
        'createCredential',
        'getCredential',
        'updateCredential',
        'deleteCredential',
        'checkCredential',
      ],
    ],
    message: () =>
      'This call takes a management key, and this is an ordinary one. Create a key of the kind "management" in the dashboard and use that one.',
  }),
  whole_account_key_required: row({
    status: 403,
    code: 'management_key_required',
    when: 'A management key of one project changes what holds for the whole account.',
    remedy: 'Use a management key of the whole account, whose `project` is null, or the dashboard.',
    operations: ['createProject', 'createCredential', 'getOwnAccount', 'updateOwnAccount', ...settingsOperations],
    message: () =>
      'This management key belongs to one project, and this call is about the whole account. Use a management key whose "project" is null, or the dashboard.',
  }),
  settings_by_keys_off: row({
    status: 403,
    code: 'management_key_required',
    when: 'The account has `settings_by_keys: false`, and an ordinary key changes its aliases, fallback chain or routing policy.',
    remedy: 'Use a key of the kind `management`, or the dashboard.',
    operations: settingsOperations,
    message: () =>
      'Keys of this account may not change its aliases, fallback chain and routing policy ("settings_by_keys" is false). Use a management key, or the dashboard.',
  }),
  restricted_key: row<{ restrictions: string }>({
    status: 403,
    code: 'management_key_required',
    when: 'A key with a restriction (`limit_usd`, `allowed_models`, `allowed_providers`, `allowed_ips`, `requests_per_minute`, `tokens_per_minute`) changes the aliases, the fallback chain or the routing policy of its account.',
    remedy: 'Use a key without restrictions, such as a key of the kind `management`, or the dashboard.',
    operations: settingsOperations,
    message: ({ restrictions }) =>
      `This API key is restricted (${restrictions}), so it cannot change the aliases, the fallback chain or the routing policy, which hold for all keys of the account. Use a key without restrictions, such as a management key, or the dashboard.`,
  }),
  key_exists: row({
    status: 409,
    param: 'token_sha256',
    when: 'A key with this token exists.',
    remedy: 'Use the existing key, or delete it first.',
    operations: ['createKey'],
    message: () => 'A key with this token exists already. Use that key, or delete it first.',
  }),
  key_field_invalid: row<{ param: string; entry?: string; reason: string }>({
    status: 422,
    code: 'invalid_request_error',
    when: 'A field of a key is not valid, or allows more than the account may.',
    remedy: 'Correct the field that `param` names.',
    operations: ['createManagedKey', 'updateManagedKey', 'createProjectKey', 'createKey', 'importKeys', 'updateKey'],
    message: ({ param, entry = param, reason }) => `\`${entry}\` ${reason}.`,
  }),
});
