/** Describes projects, their keys and policies, and the settings of the account. */
import { policySchemas, sentPolicySchemas } from '../../../policy/policy.js';
import { preferences } from '../../../policy/routing-policy.js';
import { settingsChange } from '../../api/account.js';
import { newImportedProject, newProject, projectChange } from '../../projects/project-fields.js';
import { json, noContent, type Operations, type Resource } from '../operations.js';
import {
  array,
  bodySchema,
  boolean,
  integer,
  listOf,
  object,
  oneOfValues,
  orNull,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import type { Schema } from '../types.js';
import { importedFrom, newKeyExamples, page } from './keys.js';

const tag = {
  name: 'Projects',
  description:
    'The projects of the account, for a program with a management key. A management key of one project reaches that project only.',
};

const budget: Schema = { anyOf: [ref('Budget'), { type: 'null' }], description: 'null is none.' };

const perMinute = (what: string) =>
  orNull(integer(`${what} a minute through all of its keys together; null is no limit.`));

const project = object(
  {
    object: { const: 'project' },
    id: text('Its id.', { pattern: '^proj-' }),
    name: text('Its name, unique in the account.'),
    is_default: boolean('Every account has one default project, which cannot be deleted.'),
    budget,
    requests_per_minute: perMinute('Requests'),
    tokens_per_minute: perMinute('Tokens'),
    trust: array(
      object({
        issuer: text('The issuer of the tokens.'),
        subject: text('Their `sub`.'),
        audience: textOrNull('What `aud` must hold; null is the address of the project.'),
        claims: { type: 'object', additionalProperties: { type: 'string' }, description: 'Further claims.' },
        allowed_models: orNull(array({ type: 'string' }, 'The models that the keys may call; null is all of them.')),
        allowed_providers: orNull(
          array({ type: 'string' }, 'The providers that the keys may call; null is all of them.'),
        ),
      }),
      'Whose tokens workloads may exchange for keys of the project.',
    ),
    keys: integer('How many keys it has.'),
    spent_usd: usd('What was spent in the current period of its budget; without a budget, this month.'),
    imported_from: importedFrom('the project'),
    created_at: time('When it was made.'),
  },
  { optional: ['imported_from'] },
);

const one = json('The project.', ref('Project'));
const projectExamples = {
  team: { summary: 'A team', value: { name: 'search' } },
  capped: {
    summary: 'With a budget and limits',
    value: {
      ...{ name: 'chat', requests_per_minute: 600, tokens_per_minute: 200_000 },
      budget: { limit_usd: '500', period: 'monthly', alert_at: [0.5, 0.8, 1] },
    },
  },
};
const changeExamples = {
  rename: { summary: 'Another name', value: { name: 'retrieval' } },
  budget: { summary: 'No budget', value: { budget: null } },
};

/** Of a management key, and the same under an account for operators. `owner` is in the names of the operations. */
function projectOperations(owner: '' | 'Account', list: string, item: string, newSchema: string): Operations {
  return {
    [`GET ${list}`]: {
      id: `list${owner}Projects`,
      summary: 'List projects',
      description:
        'The default one first, then the oldest. `after` takes the last id of a page and gives the next one.',
      parameters: page,
      answers: { '200': json('A page.', listOf(ref('Project'))) },
    },
    [`POST ${list}`]: {
      id: `create${owner}Project`,
      summary: 'Create a project',
      body: { schema: ref(newSchema), examples: projectExamples },
      answers: { '201': one },
    },
    [`GET ${item}`]: { id: `get${owner}Project`, summary: 'Get a project', answers: { '200': one } },
    [`PATCH ${item}`]: {
      id: `update${owner}Project`,
      summary: 'Change a project',
      description: 'A field that is left out stays as it is. Renaming changes no history.',
      body: { schema: ref('ProjectChange'), examples: changeExamples },
      answers: { '200': one },
    },
    [`DELETE ${item}`]: {
      id: `delete${owner}Project`,
      summary: 'Delete a project',
      description: 'Only a project without keys, and never the default one.',
      answers: { '204': noContent },
    },
  };
}

const preferOrNull = oneOfValues([...preferences, null], 'What counts most in the ranking; null takes the account’s.');
const thePolicy = json('The policy.', ref('ProjectPolicy'));

export const projects: Resource = {
  tag,
  schemas: {
    Project: project,
    NewProject: bodySchema(newProject),
    NewImportedProject: bodySchema(newImportedProject),
    ProjectChange: bodySchema(projectChange),
    ProjectPolicy: object({ object: { const: 'routing_policy' }, ...policySchemas, prefer: preferOrNull }),
    NewProjectPolicy: object(
      { object: { description: 'Ignored, so that the answer of a GET can be sent back.' }, ...sentPolicySchemas },
      {
        ...{ optional: 'all', additionalProperties: false },
        description: 'An absent or null field gets its default, `prefer` the account’s.',
      },
    ),
  },
  access: 'management',
  operations: {
    ...projectOperations('', '/v1/projects', '/v1/projects/{id}', 'NewProject'),
    'GET /v1/projects/{id}/keys': {
      id: 'listProjectKeys',
      summary: 'List the keys of a project',
      parameters: page,
      answers: { '200': json('A page, oldest first.', listOf(ref('Key'))) },
    },
    'POST /v1/projects/{id}/keys': {
      id: 'createProjectKey',
      summary: 'Create a key in a project',
      body: { schema: ref('NewKey'), examples: newKeyExamples },
      answers: { '201': json('The key, with its token.', ref('CreatedKey')) },
    },
    'GET /v1/projects/{id}/routing-policy': {
      id: 'getProjectRoutingPolicy',
      summary: 'Get the policy of a project',
      answers: { '200': thePolicy },
    },
    'PUT /v1/projects/{id}/routing-policy': {
      id: 'putProjectRoutingPolicy',
      summary: 'Replace the policy of a project',
      description: 'It holds beside the account’s, so it only narrows. Its gates are named with the prefix `project.`.',
      body: {
        schema: ref('NewProjectPolicy'),
        examples: { sweden: { summary: 'In Sweden only', value: { regions: { allow: ['SE'] }, prefer: null } } },
      },
      answers: { '200': thePolicy },
    },
    'DELETE /v1/projects/{id}/routing-policy': {
      id: 'deleteProjectRoutingPolicy',
      summary: 'Only the account’s policy again',
      answers: { '204': noContent },
    },
  },
};

const adminTag = { name: 'Account projects', description: 'For operators: the projects of an account.' };

export const adminProjects: Resource = {
  tag: adminTag,
  operations: projectOperations(
    'Account',
    '/admin/v1/accounts/{id}/projects',
    '/admin/v1/accounts/{id}/projects/{project_id}',
    'NewImportedProject',
  ),
};

/** The settings of an account, as the account itself and operators see them. */
export const settings = {
  settings_by_keys: boolean('Inference keys may change the routing policy, the aliases and the fallback chain.'),
  record_end_users: boolean('The end user that a request names is kept with its record.'),
  budgets_count_own_keys: boolean(
    'Budgets and caps count the list price of what own credentials have paid for, and not the fee alone.',
  ),
  budget,
};

const settingsTag = {
  name: 'Settings',
  description: 'The settings of the account, for a management key of the whole account.',
};

export const ownAccount: Resource = {
  tag: settingsTag,
  schemas: {
    OwnAccount: object({
      object: { const: 'account' },
      id: text('Its id.'),
      email: text('Its email address.'),
      name: textOrNull('Its name.'),
      ...settings,
      created_at: time('When it was made.'),
    }),
    SettingsChange: bodySchema(settingsChange),
  },
  access: 'management',
  operations: {
    'GET /v1/account': {
      id: 'getOwnAccount',
      summary: 'Get the account',
      answers: { '200': json('The account.', ref('OwnAccount')) },
    },
    'PATCH /v1/account': {
      id: 'updateOwnAccount',
      summary: 'Change the settings of the account',
      description: 'A field that is left out stays as it is.',
      body: {
        schema: ref('SettingsChange'),
        examples: {
          closed: { summary: 'Settings by management keys only', value: { settings_by_keys: false } },
          name: { summary: 'Another name', value: { name: 'Example' } },
        },
      },
      answers: { '200': json('The account.', ref('OwnAccount')) },
    },
  },
};
