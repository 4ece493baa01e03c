/** `/admin/v1/accounts`: create, list, read, suspend, limit (contract 7). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { usdText } from '../../base/money.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Account } from '../../storage/records.js';
import type { HttpDeps } from '../deps.js';
import { bodyFields, countryCode, personText } from './fields.js';

const newAccount = z.strictObject({
  email: z
    .string()
    .trim()
    .toLowerCase()
    .max(254, 'must be at most 254 characters')
    .pipe(z.email('must be an e-mail address')),
  name: personText(200).nullish(),
  password: z.string().min(8, 'must have at least 8 characters').max(128, 'must be at most 128 characters').nullish(),
  billing_country: countryCode.nullish(),
});

const perMinute = z
  .int('must be a whole number')
  .min(1, 'must be 1 or greater')
  .max(1_000_000_000, 'must be at most 1000000000')
  .nullable()
  .optional();

/** A field that is left out stays as it is; null gives the service's default back. */
const accountChange = z.strictObject({
  status: z.enum(['active', 'suspended'], 'must be "active" or "suspended"').optional(),
  billing_country: countryCode.nullable().optional(),
  limits: z.strictObject({ requests_per_minute: perMinute, tokens_per_minute: perMinute }).optional(),
});

type WithId = { Params: { id: string } };

export function registerAccounts(app: FastifyInstance, deps: HttpDeps): void {
  const { directory } = deps;

  app.post('/accounts', async (request, reply) => {
    const { email, name, password, billing_country } = bodyFields(request, newAccount);
    const account = await directory.createAccount('operator', {
      email,
      name: name ?? null,
      billingCountry: billing_country ?? null,
    });
    if (password && deps.createSignIn) await deps.createSignIn(account, password);
    return reply.code(201).send(accountJson(account));
  });

  app.get('/accounts', async () => ({ object: 'list', data: (await directory.accounts()).map(accountJson) }));

  app.get<WithId>('/accounts/:id', async (request) => accountJson(await accountNamed(deps, request.params.id)));

  app.patch<WithId>('/accounts/:id', async (request) => {
    const { status, billing_country, limits } = bodyFields(request, accountChange);
    const account = await directory.updateAccount('operator', request.params.id, {
      ...(status !== undefined && { status }),
      ...(billing_country !== undefined && { billingCountry: billing_country }),
      ...(limits !== undefined && { limits: limitsChange(limits) }),
    });
    return accountJson(account);
  });
}

export async function accountNamed({ directory }: HttpDeps, id: string): Promise<Account> {
  const account = await directory.account(id);
  if (!account) throw gatewayError('resource_not_found', { what: 'account', id: id.slice(0, 100) });
  return account;
}

function limitsChange(limits: NonNullable<z.infer<typeof accountChange>['limits']>): Partial<Account['limits']> {
  const { requests_per_minute, tokens_per_minute } = limits;
  return {
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
  };
}

function accountJson(account: Account) {
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
    created_at: new Date(account.createdAt).toISOString(),
  };
}
