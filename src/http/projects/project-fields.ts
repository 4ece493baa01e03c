/** The fields of a project and of the account's settings: how a request sends them, what becomes of them, and how they are shown. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseUsd, usdText } from '../../base/money.js';
import type { Budget, TrustEntry } from '../../domain/organisation.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { ProjectChange } from '../../storage/store.js';
import { bodyFields, personText } from '../admin/fields.js';
import { modelIds, providerIds } from '../keys/key-fields.js';

const periods = ['never', 'daily', 'weekly', 'monthly'] as const;
const defaultAlerts = [0.8, 1];
const trustMax = 50;

/** null takes the budget away. */
export const budgetField = z
  .strictObject(
    {
      limit_usd: z
        .string('must be a decimal amount as text, like "500.00"')
        .regex(
          /^[0-9]{1,15}(\.[0-9]{1,12})?$/,
          'must be an amount like "500.00" of at most twelve decimals, not negative',
        )
        .describe('How much may be spent in a period, as an exact decimal; `0` admits nothing.'),
      period: z
        .enum(periods, 'must be "never", "daily", "weekly" or "monthly"')
        .nullish()
        .describe('When a new period begins, at 00:00 UTC; weeks begin on Monday. `monthly` where it is left out.'),
      alert_at: z
        .array(
          z.number('must be a number above 0 and at most 1').gt(0, 'must be above 0').max(1, 'must be at most 1'),
          'must be a list of numbers like [0.8, 1]',
        )
        .max(20, 'must have at most 20 entries')
        .nullish()
        .describe('Parts of the limit at which a notice is sent; `[0.8, 1]` where it is left out.'),
    },
    'must be an object like {"limit_usd": "500"}, or null',
  )
  .nullable()
  .optional()
  .describe('null is none.');

const perMinute = (what: string) =>
  z
    .int('must be a whole number or null')
    .min(1, 'must be 1 or greater')
    .max(1_000_000_000, 'must be at most 1000000000')
    .nullable()
    .optional()
    .describe(`${what} a minute through all of its keys together; null is no limit of its own.`);

const shortText = (max: number) =>
  z.string('must be text').min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const trustEntry = z.strictObject(
  {
    issuer: shortText(500).describe('The issuer of the tokens, an https URL.'),
    subject: shortText(500).describe('The `sub` of the tokens; `*` matches within one part between `:` or `/`.'),
    audience: shortText(500).nullish().describe('What `aud` must hold; null is the address of the project.'),
    claims: z
      .record(
        shortText(200),
        z.union([shortText(500), z.number(), z.boolean()], 'must be text, a number or a boolean'),
        'must be an object',
      )
      .refine((claims) => Object.keys(claims).length <= 20, 'must have at most 20 entries')
      .nullish()
      .describe('Further claims that the tokens must have.'),
    allowed_models: modelIds,
    allowed_providers: providerIds,
  },
  'must be an object with issuer and subject',
);

const projectFields = {
  budget: budgetField,
  requests_per_minute: perMinute('Requests'),
  tokens_per_minute: perMinute('Tokens'),
  trust: z
    .array(trustEntry, 'must be a list')
    .max(trustMax, `must have at most ${trustMax} entries`)
    .optional()
    .describe('Whose tokens workloads may exchange for keys of the project.'),
};

export const newProject = z.strictObject({ name: personText(100), ...projectFields });
/** What is left out stays as it is. */
export const projectChange = z.strictObject({ name: personText(100).optional(), ...projectFields });

/** The fields of a body. A fault is a 422, in the operators' APIs a 400. */
export function settingsFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  try {
    return bodyFields(request, schema);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.condition !== 'field_invalid') throw error;
    throw settingsFault(request, error.values as { param: string; reason: string });
  }
}

function settingsFault(
  { routeOptions }: FastifyRequest,
  fault: { param: string; reason: string },
): GatewayError {
  const isOperators = /^\/(admin|dashboard\/api\/operator)\//.test(routeOptions.url ?? '');
  // An entry of a list of plain values is named by the list; the reason has its value.
  const param = fault.param.replace(/\[\d+\]$/, '');
  return gatewayError(isOperators ? 'field_invalid' : 'settings_field_invalid', { ...fault, param });
}

export function projectChangeOf(fields: z.infer<typeof projectChange>): ProjectChange {
  const { name, budget, requests_per_minute, tokens_per_minute, trust } = fields;
  const limits = {
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
  };
  return {
    ...(name !== undefined && { name }),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(trust !== undefined && { trust: trust.map(trustOf) }),
  };
}

export function budgetOf(sent: NonNullable<z.infer<typeof budgetField>> | null): Budget | null {
  if (sent === null) return null;
  const alertAt = [...new Set(sent.alert_at ?? defaultAlerts)].sort((a, b) => a - b);
  return { limitPico: parseUsd(sent.limit_usd)!, period: sent.period ?? 'monthly', alertAt };
}

export function budgetJson(budget: Budget | null) {
  return budget && { limit_usd: usdText(budget.limitPico), period: budget.period, alert_at: budget.alertAt };
}

function trustOf({ issuer, subject, audience, claims, ...scope }: z.infer<typeof trustEntry>): TrustEntry {
  return {
    ...{ issuer, subject, audience: audience ?? null },
    claims: Object.fromEntries(Object.entries(claims ?? {}).map(([name, value]) => [name, String(value)])),
    ...{ allowedModels: scope.allowed_models ?? null, allowedProviders: scope.allowed_providers ?? null },
  };
}

export function trustJson({ allowedModels, allowedProviders, ...entry }: TrustEntry) {
  return { ...entry, allowed_models: allowedModels, allowed_providers: allowedProviders };
}
