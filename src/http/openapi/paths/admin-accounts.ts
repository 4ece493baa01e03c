/** Describes the admin API of accounts, their credits and their keys. */

import { ledgerKinds } from '../../../domain/ledger-entry.js';
import { accountChange, newAccount, passwordChange } from '../../admin/accounts.js';
import { ledgerLimit, newCredit } from '../../admin/credits.js';
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
import { budget } from './budgets.js';
import { importedFrom } from './keys.js';
import { settings } from './projects.js';

const accountsTag = { name: 'Accounts', description: 'For operators: who may use the service.' };

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
      overdraft: {
        enum: ['open', 'bounded', null],
        description: 'Whether requests in flight are held against the balance; null is what the configuration says.',
      },
      credit_limit_usd: usd('How far below zero the balance may go.'),
      ...settings,
      operator: boolean('It is an operator in the dashboard.'),
      two_factor: boolean('Sign-in at the dashboard asks for a code.'),
      imported_from: importedFrom('the account'),
      created_at: time('When it was made.'),
    }),
    Budget: budget,
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
    '/admin/v1/accounts/{id}/password-reset': {
      post: adminOperation({
        id: 'createPasswordReset',
        tag: accountsTag.name,
        summary: 'Make a link that resets a password',
        description:
          'The link works once, within 24 hours. Whoever opens it chooses a new password for the account, which ends its sessions and its other links.',
        parameters: [accountId],
        answers: {
          '201': json(
            'The link.',
            object({ url: text('Give it to the owner of the account only.'), expires_at: time('When it expires.') }),
          ),
        },
      }),
    },
    '/admin/v1/accounts/{id}/two-factor': {
      delete: adminOperation({
        id: 'resetTwoFactor',
        tag: accountsTag.name,
        summary: 'Reset two-factor sign-in',
        description:
          'For a lost device: sign-in asks for no code until the owner turns it on again. Ends the sessions of the account. Where it is off, nothing happens.',
        parameters: [accountId],
        answers: { '200': json('The account.', ref('Account')) },
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
      kind: oneOfValues(
        ledgerKinds,
        'What it is. A `statement` is the usage of a month whose generations were removed.',
      ),
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
