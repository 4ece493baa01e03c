/** `/v1/account`: the settings of the account, for a management key and in the dashboard for a session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AccountChange } from '../../accounts/directory.js';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { personText } from '../admin/fields.js';
import { managerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { budgetField, budgetJson, budgetOf, settingsFields } from '../projects/project-fields.js';

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
  budget: budgetField,
};

/** What is left out stays as it is. */
export const settingsChange = z.strictObject(settingFields);

/** `prefix` is `/v1`, or nothing in the dashboard. */
export function registerOwnAccount(app: FastifyInstance, { directory }: HttpDeps, prefix: string): void {
  app.get(`${prefix}/account`, async (request) => ownAccountJson(wholeAccount(request)));

  app.patch(`${prefix}/account`, async (request) => {
    const { id } = wholeAccount(request);
    const change = settingsOf(settingsFields(request, settingsChange));
    return ownAccountJson(await directory.updateAccount(`account:${id}`, id, change));
  });
}

export function settingsOf(fields: z.infer<typeof settingsChange>): AccountChange {
  const { name, settings_by_keys, record_end_users, budget } = fields;
  return {
    ...(name !== undefined && { name }),
    ...(settings_by_keys !== undefined && { settingsByKeys: settings_by_keys }),
    ...(record_end_users !== undefined && { recordEndUsers: record_end_users }),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
  };
}

export function settingsJson(account: Account) {
  return {
    settings_by_keys: account.settingsByKeys,
    record_end_users: account.recordEndUsers,
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
