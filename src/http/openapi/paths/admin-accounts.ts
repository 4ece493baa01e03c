/** Describes the admin API of accounts, their credits and their keys. */

import { keyIdLength, tokenBodyLength, tokenPrefix } from '../../../accounts/keys/token.js';
import { accountChange, newAccount, passwordChange } from '../../admin/accounts.js';
import { ledgerLimit, newCredit } from '../../admin/credits.js';
import { newKey } from '../../admin/keys.js';
import { adminOperation, json, noContent } from '../operations.js';
import {
  bodySchema,
  boolean,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import type { Parameter, Resource } from '../types.js';

const accountsTag = { name: 'Accounts', description: 'For operators: who may use the service.' };

const perMinute = (what: string) => ({
  type: ['integer', 'null'],
  description: `${what} a minute for each key; null is the service’s default.`,
});

const accountId: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The account’s id.',
  schema: { type: 'string' },
};

export const adminAccounts: Resource = {
  tag: accountsTag,
  schemas: {
    Account: object({
      id: text('Its id.'),
      email: text('Its email address.'),
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
        tag: accountsTag.name,
        summary: 'List accounts',
        answers: { '200': json('The list.', listOf(ref('Account'))) },
      }),
      post: adminOperation({
        id: 'createAccount',
        tag: accountsTag.name,
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
      }),
    },
    '/admin/v1/accounts/{id}': {
      get: adminOperation({
        id: 'getAccount',
        tag: accountsTag.name,
        summary: 'Get an account',
        parameters: [accountId],
        answers: { '200': json('The account.', ref('Account')) },
      }),
      patch: adminOperation({
        id: 'changeAccount',
        tag: accountsTag.name,
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
      }),
    },
    '/admin/v1/accounts/{id}/password': {
      put: adminOperation({
        id: 'setPassword',
        tag: accountsTag.name,
        summary: 'Set the password of an account',
        description: 'Lets the account sign in at the dashboard, and ends its sessions.',
        parameters: [accountId],
        body: {
          schema: ref('NewPassword'),
          examples: { password: { summary: 'A new password', value: { password: 'correct horse battery' } } },
        },
        answers: { '204': noContent },
      }),
    },
  },
};

const creditsTag = { name: 'Credits', description: 'For operators: the ledger, whose sum is the balance.' };

export const adminCredits: Resource = {
  tag: creditsTag,
  schemas: {
    LedgerEntry: object({
      id: text('Its id.'),
      created_at: time('When it was posted.'),
      kind: oneOfValues(['credit', 'usage', 'adjustment'], 'What it is.'),
      amount_usd: usd('Negative for usage.'),
      balance_usd: usd('The balance after it.'),
      generation_id: textOrNull('The generation that was paid with it.'),
      note: textOrNull('A note.'),
    }),
    NewCredit: bodySchema(newCredit),
  },
  paths: {
    '/admin/v1/accounts/{id}/credits': {
      post: adminOperation({
        id: 'postCredit',
        tag: creditsTag.name,
        summary: 'Credit or debit an account',
        parameters: [accountId],
        body: {
          schema: ref('NewCredit'),
          examples: { credit: { summary: 'Ten dollars', value: { amount_usd: '10.00', note: 'Welcome' } } },
        },
        answers: { '201': json('The ledger entry.', ref('LedgerEntry')) },
      }),
    },
    '/admin/v1/accounts/{id}/ledger': {
      get: adminOperation({
        id: 'getLedger',
        tag: creditsTag.name,
        summary: 'Get the ledger',
        parameters: [accountId, numberParameter(ledgerLimit)],
        answers: {
          '200': json('The entries.', listOf(ref('LedgerEntry'), { has_more: boolean('There are older ones.') })),
        },
      }),
    },
  },
};

const keysTag = { name: 'Keys', description: 'For operators: the API keys of an account.' };

const key = {
  id: text('The key’s public id.', { minLength: keyIdLength, maxLength: keyIdLength }),
  name: text('Its name; it appears in the usage history.'),
  prefix: { const: tokenPrefix },
  last_four: text('The token’s last four characters.'),
  expires_at: textOrNull('When it expires; null is never.', { format: 'date-time' }),
  state: oneOfValues(['active', 'expired'], 'An expired key stays listed.'),
  created_at: time('When it was made.'),
};

export const adminKeys: Resource = {
  tag: keysTag,
  schemas: {
    Key: object(key),
    CreatedKey: object({
      ...key,
      token: text('The key itself, in this answer and never again.', {
        pattern: `^${tokenPrefix}[A-Za-z0-9_-]{${tokenBodyLength}}$`,
      }),
    }),
    NewKey: bodySchema(newKey),
  },
  paths: {
    '/admin/v1/accounts/{id}/keys': {
      get: adminOperation({
        id: 'listKeys',
        tag: keysTag.name,
        summary: 'List keys',
        parameters: [accountId],
        answers: { '200': json('The list.', listOf(ref('Key'))) },
      }),
      post: adminOperation({
        id: 'createKey',
        tag: keysTag.name,
        summary: 'Create a key',
        parameters: [accountId],
        body: {
          schema: ref('NewKey'),
          examples: {
            default: { summary: 'For 90 days', value: { name: 'laptop' } },
            never: { summary: 'For ever', value: { name: 'server', expires: 'never' } },
          },
        },
        answers: { '201': json('The key, with its token.', ref('CreatedKey')) },
      }),
    },
    '/admin/v1/accounts/{id}/keys/{key_id}': {
      delete: adminOperation({
        id: 'deleteKey',
        tag: keysTag.name,
        summary: 'Delete a key',
        description: 'The token stops working with the next request, on every replica.',
        parameters: [
          accountId,
          {
            name: 'key_id',
            in: 'path',
            required: true,
            description: 'The key’s public id.',
            schema: { type: 'string' },
          },
        ],
        answers: { '204': noContent },
      }),
    },
  },
};
