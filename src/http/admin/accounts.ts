/** `/admin/v1/accounts`: creates, lists, suspends and limits accounts, and sets who may sign in. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actor } from '../../accounts/audit.js';
import type { AccountChange } from '../../accounts/directory.js';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import { personOf } from '../../accounts/sign-in/session.js';
import { parseUsd, usdText } from '../../base/money.js';
import { importedFrom } from '../../catalogue/model-name.js';
import type { Account } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { SignInUser } from '../../storage/store.js';
import { settingFields, settingsJson, settingsOf } from '../api/account.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { budgetFields, changedBudget, openingSpent } from '../keys/budget-fields.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { actingPerson, actorOf } from './audit.js';
import { bodyFields, countryCode, emailAddress, newPassword, personText } from './fields.js';

const creditLimit = z
  .string('must be a decimal amount as text, like "10.00"')
  .regex(/^[0-9]{1,15}(\.[0-9]{1,12})?$/, 'must be an amount like "10.00" of at most twelve decimals, not negative')
  .optional()
  .describe('How far below zero the balance may go, as an exact decimal.');

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

const perMinute = z
  .int('must be a whole number')
  .min(1, 'must be 1 or greater')
  .max(1_000_000_000, 'must be at most 1000000000')
  .nullable()
  .optional();

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

type WithId = { Params: { id: string } };

export function registerAccounts(app: FastifyInstance, deps: HttpDeps): void {
  const { directory } = deps;
  const answer = (account: Account) => answerOf(deps, account);

  app.post('/accounts', async (request, reply) => {
    const { email, name, password, billing_country, credit_limit_usd, imported_from, ...sent } = bodyFields(
      request,
      newAccount,
    );
    const budget = changedBudget(sent, null, deps.clock.now());
    if (password) {
      checkPasswordsAllowed(deps.dashboard);
      await checkNewPassword('password', password, { email, name });
    }
    const account = await directory.createAccount(actorOf(request), {
      email,
      name: name ?? null,
      billingCountry: billing_country ?? null,
      ...(credit_limit_usd !== undefined && { creditLimitPico: parseUsd(credit_limit_usd)! }),
      ...(budget && { budget }),
      ...(imported_from && { importedFrom: imported_from }),
    });
    await makeOwner(deps, request, account);
    if (password) await deps.createSignIn?.(account, password);
    return reply.code(201).send(await answer(account));
  });

  app.get('/accounts', async () => {
    const [accounts, users] = await Promise.all([directory.accounts(), usersOf(deps)]);
    return {
      object: 'list',
      data: accounts.map((account) => accountJson(account, users.get(account.id) ?? users.get(account.email))),
    };
  });

  app.get<WithId>('/accounts/:id', async (request) => answer(await accountNamed(deps, request.params.id)));

  app.patch<WithId>('/accounts/:id', async (request) => {
    const { operator, budget: sent, opening_spent_usd, ...change } = bodyFields(request, accountChange);
    const account = await accountNamed(deps, request.params.id);
    const budget = changedBudget({ budget: sent, opening_spent_usd }, account.budget, deps.clock.now());
    if (operator !== undefined) await setOperator(deps, actorOf(request), account, operator);
    if (budget !== undefined) {
      await deps.journal.settled(settledWaitMs);
      await directory.setBudget(actorOf(request), { account, project: null, budget });
    }
    if (Object.keys(change).length > 0 || (operator === undefined && budget === undefined)) {
      await directory.updateAccount(actorOf(request), account.id, directoryChange(change));
    }
    return answer(account);
  });

  app.put<WithId>('/accounts/:id/password', async (request, reply) => {
    checkPasswordsAllowed(deps.dashboard);
    const { password } = bodyFields(request, passwordChange);
    const account = await accountNamed(deps, request.params.id);
    await checkNewPassword('password', password, account);
    await deps.createSignIn?.(account, password);
    await deps.audit.record(actorOf(request), 'account.password', account.id);
    return reply.code(204).send();
  });

  app.post<WithId>('/accounts/:id/password-reset', async (request, reply) => {
    checkPasswordsAllowed(deps.dashboard);
    const account = await accountNamed(deps, request.params.id);
    const { dashboard } = deps;
    if (!dashboard) throw new Error('a link that resets a password needs the dashboard');
    const { url, expiresAt } = await dashboard.resets.makeLink((await personOf(deps.store.people, account)) ?? account);
    await deps.audit.record(actorOf(request), 'account.password_reset_link', account.id);
    return reply.code(201).send({ url, expires_at: new Date(expiresAt).toISOString() });
  });
}

/** A person who has the email already is the owner of the new account. */
async function makeOwner(deps: HttpDeps, request: FastifyRequest, { id: accountId, email }: Account): Promise<void> {
  const { store, clock, audit } = deps;
  const person = await store.people.findByEmail(email);
  if (!person) return;
  const grant = { role: 'owner', projects: null } as const;
  await store.people.setMembership({
    accountId,
    personId: person.id,
    source: 'manual',
    ...grant,
    createdAt: clock.now(),
  });
  const details = { account_id: accountId, email: person.email, ...grant };
  await audit.record(actingPerson(request), 'member.add', shownPersonId(person.id), details);
}

/** For a lost device. Operators turn their own off with a code, as anybody does, so that a stolen session cannot. */
export function registerTwoFactorReset(app: FastifyInstance, deps: HttpDeps): void {
  app.delete<WithId>('/accounts/:id/two-factor', async (request) => {
    const account = await accountNamed(deps, request.params.id);
    const personId = (await personOf(deps.store.people, account))?.id ?? account.id;
    if (request.session?.person.id === personId) throw gatewayError('two_factor_own_reset');
    const reset = await deps.dashboard?.twoFactor.reset(personId);
    if (reset) await deps.audit.record(actorOf(request), 'account.two_factor_reset', account.id);
    return answerOf(deps, account);
  });
}

export async function accountNamed({ directory }: HttpDeps, id: string): Promise<Account> {
  const account = await directory.account(id);
  if (!account) throw gatewayError('resource_not_found', { what: 'account', id: id.slice(0, 100) });
  return account;
}

/** Operator rights belong to the sign-in, so an account without a password cannot have them. */
async function setOperator(deps: HttpDeps, actor: Actor, account: Account, operator: boolean): Promise<void> {
  const person = await personOf(deps.store.people, account);
  if (!person) {
    const reason = 'cannot be set: the account has no password yet, so nobody can sign in to it';
    throw gatewayError('field_invalid', { param: 'operator', reason });
  }
  await deps.store.people.update(person.id, { operator });
  await deps.audit.record(actor, 'account.operator', account.id, { operator });
}

/** Everybody who can sign in, by id and by email. */
async function usersOf({ store }: HttpDeps): Promise<Map<string, SignInUser>> {
  const users = await store.signIn.list();
  return new Map(users.flatMap((user) => [[user.accountId, user] as const, [user.email, user] as const]));
}

async function answerOf(deps: HttpDeps, account: Account) {
  return accountJson(account, (await personOf(deps.store.people, account)) ?? undefined);
}

function directoryChange(change: Omit<z.infer<typeof accountChange>, 'budget'>): AccountChange {
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

function accountJson(account: Account, user: Pick<SignInUser, 'operator' | 'twoFactor'> | undefined) {
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
