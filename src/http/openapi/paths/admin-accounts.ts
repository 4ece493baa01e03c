/** Describes `/admin/v1/accounts`. */
import { accountChange, newAccount, passwordChange } from '../../admin/accounts.js';
import { adminOperation, json, noContent } from '../operations.js';
import { bodySchema, boolean, listOf, object, oneOfValues, ref, text, textOrNull, time, usd } from '../schema.js';
import type { Parameter, Resource } from '../types.js';

const tag = { name: 'Accounts', description: 'For operators: who may use the service.' };

const perMinute = (what: string) => ({
  type: ['integer', 'null'],
  description: `${what} a minute for each key; null is the service’s default.`,
});

export const accountId: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The account’s id.',
  schema: { type: 'string' },
};

export const adminAccounts: Resource = {
  tag,
  schemas: {
    Account: object({
      id: text('Its id.'),
      email: text('Its e-mail address.'),
      name: textOrNull('Its name.'),
      status: oneOfValues(['active', 'suspended'], 'A suspended account gets 403 `account_suspended`.'),
      billing_country: textOrNull('ISO 3166-1.'),
      balance_usd: usd('The balance.'),
      limits: object({ requests_per_minute: perMinute('Requests'), tokens_per_minute: perMinute('Tokens') }),
      sign_in: boolean('It can sign in at the dashboard.'),
      operator: boolean('It is an operator in the dashboard.'),
      created_at: time('When it was made.'),
    }),
    NewAccount: bodySchema(newAccount),
    NewPassword: bodySchema(passwordChange),
    AccountChange: bodySchema(accountChange),
  },
  paths: {
    '/admin/v1/accounts': {
      get: adminOperation({
        id: 'listAccounts',
        tag: tag.name,
        summary: 'List accounts',
        answers: { '200': json('The list.', listOf(ref('Account'))) },
      }),
      post: adminOperation({
        id: 'createAccount',
        tag: tag.name,
        summary: 'Create an account',
        body: {
          schema: ref('NewAccount'),
          examples: {
            account: {
              summary: 'A new account',
              value: { email: 'ada@example.com', name: 'Ada', billing_country: 'DE' },
            },
          },
        },
        answers: { '201': json('The account.', ref('Account')) },
        errors: ['field_invalid', 'account_exists'],
      }),
    },
    '/admin/v1/accounts/{id}': {
      get: adminOperation({
        id: 'getAccount',
        tag: tag.name,
        summary: 'Get an account',
        parameters: [accountId],
        answers: { '200': json('The account.', ref('Account')) },
        errors: ['resource_not_found'],
      }),
      patch: adminOperation({
        id: 'changeAccount',
        tag: tag.name,
        summary: 'Suspend, limit or move an account',
        parameters: [accountId],
        body: {
          schema: ref('AccountChange'),
          examples: {
            limits: {
              summary: 'Limits of its own',
              value: { limits: { requests_per_minute: 120, tokens_per_minute: null } },
            },
            active: { summary: 'Active', value: { status: 'active' } },
          },
        },
        answers: { '200': json('The account.', ref('Account')) },
        errors: ['field_invalid', 'resource_not_found'],
      }),
    },
    '/admin/v1/accounts/{id}/password': {
      put: adminOperation({
        id: 'setPassword',
        tag: tag.name,
        summary: 'Set the password of an account',
        description: 'Makes it able to sign in at the dashboard. Its sessions end.',
        parameters: [accountId],
        body: {
          schema: ref('NewPassword'),
          examples: { password: { summary: 'A new password', value: { password: 'correct horse battery' } } },
        },
        answers: { '204': noContent },
        errors: ['field_invalid', 'resource_not_found'],
      }),
    },
  },
};
