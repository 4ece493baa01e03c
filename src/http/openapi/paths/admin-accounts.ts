/** Describes the admin API of accounts, their credits and their keys. */

import { ledgerKinds } from '../../../domain/ledger-entry.js';
import { accountChange, newAccount, passwordChange } from '../../admin/accounts.js';
import { ledgerLimit, newCredit } from '../../admin/credits.js';
import { json, noContent, type Resource } from '../operations.js';
import {
  bodySchema,
  boolean,
  integer,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import { budget } from './budgets.js';
import { importedFrom } from './keys.js';
import { settings } from './projects.js';

const accountsTag = { name: 'Accounts', description: 'For operators: who may use the service.' };

const perMinute = (what: string) => orNull(integer(`${what} a minute for each key; null is the service’s default.`));

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
  operations: {
    'GET /admin/v1/accounts': {
      id: 'listAccounts',
      summary: 'List accounts',
      answers: { '200': json('The list.', listOf(ref('Account'))) },
    },
    'POST /admin/v1/accounts': {
      id: 'createAccount',
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
    },
    'GET /admin/v1/accounts/{id}': {
      id: 'getAccount',
      summary: 'Get an account',
      answers: { '200': json('The account.', ref('Account')) },
    },
    'PATCH /admin/v1/accounts/{id}': {
      id: 'changeAccount',
      summary: 'Suspend, limit or move an account',
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
    },
    'PUT /admin/v1/accounts/{id}/password': {
      id: 'setPassword',
      summary: 'Set the password of an account',
      description: 'Lets the account sign in at the dashboard, and ends its sessions.',
      body: {
        schema: ref('NewPassword'),
        examples: { password: { summary: 'A new password', value: { password: 'correct horse battery' } } },
      },
      answers: { '204': noContent },
    },
    'POST /admin/v1/accounts/{id}/password-reset': {
      id: 'createPasswordReset',
      summary: 'Make a link that resets a password',
      description:
        'The link works once, within 24 hours. Whoever opens it chooses a new password for the account, which ends its sessions and its other links.',
      answers: {
        '201': json(
          'The link.',
          object({ url: text('Give it to the owner of the account only.'), expires_at: time('When it expires.') }),
        ),
      },
    },
    'DELETE /admin/v1/accounts/{id}/two-factor': {
      id: 'resetTwoFactor',
      summary: 'Reset two-factor sign-in',
      description:
        'For a lost device: sign-in asks for no code until the owner turns it on again. Ends the sessions of the account. Where it is off, nothing happens.',
      answers: { '200': json('The account.', ref('Account')) },
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
  operations: {
    'POST /admin/v1/accounts/{id}/credits': {
      id: 'postCredit',
      summary: 'Credit or debit an account',
      body: {
        schema: ref('NewCredit'),
        examples: { credit: { summary: 'Ten dollars', value: { amount_usd: '10.00', note: 'Welcome' } } },
      },
      answers: { '201': json('The ledger entry.', ref('LedgerEntry')) },
    },
    'GET /admin/v1/accounts/{id}/ledger': {
      id: 'getLedger',
      summary: 'Get the ledger',
      parameters: [numberParameter(ledgerLimit)],
      answers: {
        '200': json('The entries.', listOf(ref('LedgerEntry'), { has_more: boolean('There are older ones.') })),
      },
    },
  },
};
