/** Errors of the names that operators give to models. */
import { errorRows, row } from './row.js';

export const nameErrors = errorRows({
  invalid_name: row<{ name: string; rule: string }>({
    status: 422,
    param: 'name',
    when: 'A name for a model breaks the naming rule.',
    remedy: 'Choose a name as the message says.',
    operations: ['putName'],
    message: ({ name, rule }) => `The name "${name}" is not allowed. A name has ${rule}.`,
  }),
  invalid_name_target: row<{ reason: string }>({
    status: 422,
    param: 'target',
    when: 'What a name stands for is not in the catalogue, or is no pin and no `auto/` id.',
    remedy: 'Name a pin or an `auto/` id of the catalogue in `model`.',
    operations: ['putName'],
    message: ({ reason }) => `The target of the name is not accepted: ${reason}`,
  }),
  name_field_invalid: row<{ param: string; reason: string }>({
    status: 422,
    code: 'invalid_request_error',
    when: 'Another field of a name is not valid.',
    remedy: 'Correct the field that `param` names.',
    operations: ['putName'],
    message: ({ param, reason }) => `\`${param}\` is not accepted: ${reason}`,
  }),
  name_in_file: row<{ name: string; file: string }>({
    status: 409,
    param: 'name',
    when: 'The name is in a file of the configuration, so the API cannot change it.',
    remedy: 'Change the file, and reload the catalogue.',
    operations: ['putName', 'deleteName'],
    message: ({ name, file }) => `The name "${name}" is in ${file}. Change it there, and reload the catalogue.`,
  }),
  name_limit_reached: row<{ limit: number }>({
    status: 422,
    param: 'name',
    when: 'There are as many names as there may be.',
    remedy: 'Delete a name that is no longer used.',
    operations: ['putName'],
    message: ({ limit }) => `There are ${limit} names, as many as there may be. Delete one that is no longer used.`,
  }),
});
