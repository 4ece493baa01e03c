/** `/v1/account`: the settings of the account, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AccountChange } from '../../accounts/directory.js';
import { checkRight, type Right, type Standing } from '../../accounts/roles.js';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { actorOf } from '../admin/audit.js';
import { personText } from '../admin/fields.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { budgetFields, budgetJson, changedBudget } from '../keys/budget-fields.js';
import { body, component, json, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { accountSettings } from '../openapi/shared.js';
import { settingsFields } from '../projects/project-fields.js';
import { standingOf } from '../rights.js';
import { settledWaitMs } from './generations.js';

/** The settings that operators change too. */
export const settingFields = {
  name: personText(200).nullable().optional(),
  settings_by_keys: z
    .boolean('must be true or false')
    .optional()
    .describe('Whether inference keys may change the routing policy, the aliases and the fallback chain.'),
  record_end_users: z
    .boolean('must be true or false')
    .optional()
    .describe('Whether the end user that a request names is kept with its record.'),
  budgets_count_own_keys: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'Whether budgets, caps and `usage_usd` of keys count the list price of what own credentials have paid for, and not the fee alone.',
    ),
  budget: budgetFields,
};

/** What is left out stays as it is. */
const settingsChange = z.strictObject(settingFields);

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerOwnAccount(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  const { directory, journal, clock } = deps;
  app.get(`${prefix}/account`, async (request) => ownAccountJson(wholeAccount(request)));

  app.patch(`${prefix}/account`, async (request) => {
    const account = wholeAccount(request);
    const fields = settingsFields(request, settingsChange);
    checkSettings(standingOf(request), Object.keys(fields));
    const { budget: sent, ...settings } = fields;
    const budget = changedBudget({ budget: sent }, account.budget, clock.now());
    const actor = actorOf(request);
    if (budget !== undefined) {
      await journal.settled(settledWaitMs);
      await directory.setBudget(actor, { account, project: null, budget });
    }
    if (Object.keys(settings).length > 0) await directory.updateAccount(actor, account.id, settingsOf(settings));
    return ownAccountJson(account);
  });
}

/** Each setting has its own right. */
function checkSettings(standing: Standing, names: readonly string[]): void {
  const rights = new Map<string, Right>([
    ['budget', 'account.budget'],
    ['record_end_users', 'account.recording'],
    ['budgets_count_own_keys', 'account.counting'],
  ]);
  for (const name of names) checkRight(standing, rights.get(name) ?? 'account.manage');
}

export function settingsOf(fields: Omit<z.infer<typeof settingsChange>, 'budget'>): AccountChange {
  const { name, settings_by_keys, record_end_users, budgets_count_own_keys } = fields;
  return {
    ...(name !== undefined && { name }),
    ...(settings_by_keys !== undefined && { settingsByKeys: settings_by_keys }),
    ...(record_end_users !== undefined && { recordEndUsers: record_end_users }),
    ...(budgets_count_own_keys !== undefined && { budgetsCountOwnKeys: budgets_count_own_keys }),
  };
}

export function settingsJson(account: Account) {
  return {
    settings_by_keys: account.settingsByKeys,
    record_end_users: account.recordEndUsers,
    budgets_count_own_keys: account.budgetsCountOwnKeys,
    budget: budgetJson(account.budget),
  };
}

function ownAccountJson(account: Account) {
  return {
    object: 'account',
    id: account.id,
    email: account.email,
    name: account.name,
    ...settingsJson(account),
    created_at: new Date(account.createdAt).toISOString(),
  };
}

function wholeAccount(request: FastifyRequest): Account {
  const { account, reach } = managerOf(request);
  if (reach) throw gatewayError('whole_account_key_required');
  return account;
}

const ownAccountAnswer = json(
  'The account.',
  record('OwnAccount', {
    object: { const: 'account' },
    id: s.text('Its id.'),
    email: s.text('Its email address.'),
    name: s.textOrNull('Its name.'),
    ...accountSettings,
    created_at: s.time('When it was made.'),
  }),
);

const about = 'The settings of the account, for a management key of the whole account.';
export const ownAccount = resource('Settings', about, 'management', {
  'GET /v1/account': operation('getOwnAccount', 'Get the account', { answers: ownAccountAnswer }),
  'PATCH /v1/account': operation('updateOwnAccount', 'Change the settings of the account', {
    description: 'A field that is left out stays as it is.',
    body: body(component('SettingsChange', settingsChange), {
      closed: ['Settings by management keys only', { settings_by_keys: false }],
      name: ['Another name', { name: 'Example' }],
    }),
    answers: ownAccountAnswer,
  }),
});
