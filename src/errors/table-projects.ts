/** The errors of projects and of the settings of an account. */
import { errorRows, row } from './row.js';

const changingOperations = ['createProject', 'updateProject'];

export const projectErrors = errorRows({
  project_exists: row<{ name: string }>({
    status: 409,
    param: 'name',
    when: 'The account already has a project of that name.',
    remedy: 'Choose another name, or change that project with `PATCH /v1/projects/{id}`.',
    operations: [...changingOperations, 'createAccountProject', 'updateAccountProject'],
    message: ({ name }) =>
      `This account already has a project "${name}". Choose another name, or change the project that has this one.`,
  }),
  project_limit_reached: row<{ limit: number }>({
    status: 422,
    param: 'name',
    when: 'The account has as many projects as it may have.',
    remedy: 'Delete a project that is no longer used.',
    operations: ['createProject', 'createAccountProject'],
    message: ({ limit }) =>
      `This account has ${limit} projects, as many as it may have. Delete one that is no longer used.`,
  }),
  project_not_empty: row<{ name: string }>({
    status: 409,
    when: 'A project is deleted that still has keys. Expired and disabled ones count.',
    remedy: 'Delete its keys first: `GET /v1/projects/{id}/keys` lists them.',
    operations: ['deleteProject', 'deleteAccountProject'],
    message: ({ name }) => `The project "${name}" still has keys; expired and disabled ones count. Delete them first.`,
  }),
  project_is_default: row<{ name: string }>({
    status: 409,
    when: 'The default project of an account is deleted.',
    remedy: 'Keep it; every account has one.',
    operations: ['deleteProject', 'deleteAccountProject'],
    message: ({ name }) => `The project "${name}" is the default one of its account and cannot be deleted.`,
  }),
  settings_field_invalid: row<{ param: string; reason: string }>({
    status: 422,
    code: 'invalid_request_error',
    when: 'A field of a project or of the account’s settings is not valid.',
    remedy: 'Correct the field that `param` names.',
    operations: [...changingOperations, 'updateOwnAccount'],
    message: ({ param, reason }) => `\`${param}\` ${reason}.`,
  }),
});
