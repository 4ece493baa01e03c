/** The fields of an account: how operators send them, what becomes of them, and how an account is shown to operators. */
import { z } from 'zod';
import type { AccountChange } from '../../accounts/directory.js';
import { parseUsd, usdText } from '../../base/money.js';
import { importedFrom } from '../../catalogue/model-name.js';
import type { Account } from '../../domain/account.js';
import type { SignInUser } from '../../storage/store.js';
import { settingFields, settingsJson, settingsOf } from '../api/account.js';
import { budgetFields, openingSpent } from '../keys/budget-fields.js';
import { body, component, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { accountSettings, importedFrom as shownOrigin } from '../openapi/shared.js';
import { countryCode, decimalAmount, emailAddress, newPassword, perMinuteLimit, personText } from './fields.js';

const creditLimit = decimalAmount.optional().describe('How far below zero the balance may go, as an exact decimal.');

export const newAccount = z.strictObject({
  email: emailAddress,
  name: personText(200).nullish(),
  password: newPassword.nullish().describe('Lets the account sign in at the dashboard.'),
  billing_country: countryCode.nullish().describe('ISO 3166-1.'),
  credit_limit_usd: creditLimit,
  budget: budgetFields,
  opening_spent_usd: openingSpent,
  imported_from: importedFrom.optional().describe('The system that the account comes from, and its id there.'),
});

export const passwordChange = z.strictObject({ password: newPassword });

const perMinute = perMinuteLimit('must be a whole number');

/** An absent field stays as it is; null restores the service's default. */
export const accountChange = z.strictObject({
  status: z.enum(['active', 'suspended'], 'must be "active" or "suspended"').optional(),
  billing_country: countryCode.nullable().optional(),
  limits: z
    .strictObject({ requests_per_minute: perMinute, tokens_per_minute: perMinute })
    .optional()
    .describe('An absent field stays as it is; null restores the default.'),
  operator: z.boolean('must be true or false').optional(),
  overdraft: z
    .enum(['open', 'bounded'], 'must be "open", "bounded" or null')
    .nullable()
    .optional()
    .describe('Whether requests in flight are held against the balance; null is what the configuration says.'),
  credit_limit_usd: creditLimit,
  ...settingFields,
  opening_spent_usd: openingSpent,
});

export function directoryChange(change: Omit<z.infer<typeof accountChange>, 'budget'>): AccountChange {
  const { status, billing_country, limits, overdraft, credit_limit_usd, ...settings } = change;
  const { requests_per_minute, tokens_per_minute } = limits ?? {};
  const ownLimits = {
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
  };
  return {
    ...(status !== undefined && { status }),
    ...(billing_country !== undefined && { billingCountry: billing_country }),
    ...(limits !== undefined && { limits: ownLimits }),
    ...(overdraft !== undefined && { overdraft }),
    ...(credit_limit_usd !== undefined && { creditLimitPico: parseUsd(credit_limit_usd) ?? 0n }),
    ...settingsOf(settings),
  };
}

export function accountJson(account: Account, user: Pick<SignInUser, 'operator' | 'twoFactor'> | undefined) {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    status: account.status,
    billing_country: account.billingCountry,
    balance_usd: usdText(account.balancePico),
    limits: {
      requests_per_minute: account.limits.requestsPerMinute,
      tokens_per_minute: account.limits.tokensPerMinute,
    },
    overdraft: account.overdraft,
    credit_limit_usd: usdText(account.creditLimitPico),
    ...settingsJson(account),
    sign_in: user !== undefined,
    operator: user?.operator ?? false,
    two_factor: user?.twoFactor ?? false,
    imported_from: account.importedFrom,
    created_at: new Date(account.createdAt).toISOString(),
  };
}

const shownPerMinute = (what: string) =>
  s.integerOrNull(`${what} a minute for each key; null is the service’s default.`);

export const shownAccount = record('Account', {
  id: s.text('Its id.'),
  email: s.text('Its email address.'),
  name: s.textOrNull('Its name.'),
  status: s.oneOfValues(['active', 'suspended'], 'A suspended account gets 403 `account_suspended`.'),
  billing_country: s.textOrNull('ISO 3166-1.'),
  balance_usd: s.usd('The balance.'),
  limits: s.object({ requests_per_minute: shownPerMinute('Requests'), tokens_per_minute: shownPerMinute('Tokens') }),
  sign_in: s.boolean('It can sign in at the dashboard.'),
  overdraft: {
    enum: ['open', 'bounded', null],
    description: 'Whether requests in flight are held against the balance; null is what the configuration says.',
  },
  credit_limit_usd: s.usd('How far below zero the balance may go.'),
  ...accountSettings,
  operator: s.boolean('It is an operator in the dashboard.'),
  two_factor: s.boolean('Sign-in at the dashboard asks for a code.'),
  imported_from: shownOrigin('the account'),
  created_at: s.time('When it was made.'),
});

export const newAccountBody = body(component('NewAccount', newAccount), {
  account: ['A new account', { email: 'ada@example.com', name: 'Ada', billing_country: 'DE' }],
});
export const accountChangeBody = body(component('AccountChange', accountChange), {
  limits: ['Limits of its own', { limits: { requests_per_minute: 120, tokens_per_minute: null } }],
  active: ['Active', { status: 'active' }],
});
export const passwordBody = body(component('NewPassword', passwordChange), {
  password: ['A new password', { password: 'correct horse battery' }],
});
