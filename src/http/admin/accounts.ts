/** `/admin/v1/accounts`: creates, lists, suspends and limits accounts, and sets who may sign in. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import { personOf } from '../../accounts/sign-in/session.js';
import { parseUsd } from '../../base/money.js';
import type { Account } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { SignInUser } from '../../storage/store.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { changedBudget } from '../keys/budget-fields.js';
import { created, json, list, noContent, operation, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import {
  accountChange,
  accountChangeBody,
  accountJson,
  directoryChange,
  newAccount,
  newAccountBody,
  passwordBody,
  passwordChange,
  shownAccount,
} from './account-fields.js';
import { actingPerson, actorOf } from './audit.js';
import { bodyFields } from './fields.js';

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

const oneAccount = json('The account.', shownAccount);
const resetLink = { url: s.text('Give it to the owner of the account only.'), expires_at: s.time('When it expires.') };
const resetPath = '/admin/v1/accounts/{id}/password-reset';

export const adminAccounts = resource('Accounts', 'For operators: who may use the service.', 'admin', {
  'GET /admin/v1/accounts': operation('listAccounts', 'List accounts', { answers: list(shownAccount) }),
  'POST /admin/v1/accounts': operation('createAccount', 'Create an account', {
    body: newAccountBody,
    answers: created(oneAccount),
  }),
  'GET /admin/v1/accounts/{id}': operation('getAccount', 'Get an account', { answers: oneAccount }),
  'PATCH /admin/v1/accounts/{id}': operation('changeAccount', 'Suspend, limit or move an account', {
    body: accountChangeBody,
    answers: oneAccount,
  }),
  'PUT /admin/v1/accounts/{id}/password': operation('setPassword', 'Set the password of an account', {
    description: 'Lets the account sign in at the dashboard, and ends its sessions.',
    body: passwordBody,
    answers: noContent,
  }),
  [`POST ${resetPath}`]: operation('createPasswordReset', 'Make a link that resets a password', {
    description:
      'The link works once, within 24 hours. Whoever opens it chooses a new password for the account, which ends its sessions and its other links.',
    answers: created(json('The link.', s.object(resetLink))),
  }),
  'DELETE /admin/v1/accounts/{id}/two-factor': operation('resetTwoFactor', 'Reset two-factor sign-in', {
    description:
      'For a lost device: sign-in asks for no code until the owner turns it on again. Ends the sessions of the account. Where it is off, nothing happens.',
    answers: oneAccount,
  }),
});
