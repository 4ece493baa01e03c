/** The fields of a project and of the account's settings: how a request sends them, what becomes of them, and how they are shown. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { importedFrom } from '../../catalogue/model-name.js';
import type { TrustEntry } from '../../domain/organisation.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { ProjectChange } from '../../storage/store.js';
import { bodyFields, type FieldFault, isOperators, perMinuteLimit, personText, withFaults } from '../admin/fields.js';
import { budgetFields, openingSpent } from '../keys/budget-fields.js';
import { type Bounds, modelIds, modelsOf, providerIds, providersOf, unknownName } from '../keys/key-fields.js';

const trustMax = 50;

const perMinute = (what: string) =>
  perMinuteLimit('must be a whole number or null').describe(
    `${what} a minute through all of its keys together; null is no limit of its own.`,
  );

/** Without control characters and half characters, which no claim has and a store may refuse. */
const shortText = (max: number) =>
  z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(max, `must be at most ${max} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must not have control characters');

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
  budget: budgetFields,
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

/** Operators may say where a project was before, and what was spent there. */
export const newImportedProject = newProject.extend({
  opening_spent_usd: openingSpent,
  imported_from: importedFrom.optional().describe('The system that the project comes from, and its id there.'),
});
export const importedProjectChange = projectChange.extend({ opening_spent_usd: openingSpent });

/** The fields of a body. A fault is a 422, in the operators' APIs a 400. */
export function settingsFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  return withFaults(
    () => bodyFields(request, schema),
    (fault) => settingsFault(request, fault),
  );
}

function settingsFault(request: FastifyRequest, fault: FieldFault): GatewayError {
  // An entry of a list of plain values is named by the list; the reason has its value.
  const param = fault.param.replace(/\[\d+\]$/, '');
  return gatewayError(isOperators(request) ? 'field_invalid' : 'settings_field_invalid', { ...fault, param });
}

interface TrustRules {
  /** Whether the operator allows an issuer. */
  allows(issuer: string): boolean;
  /** The names that an entry of `allowed_models` may be. */
  names: Bounds['names'];
}

/** Throws for an issuer that the operator does not allow, and for a name that is given to no model. */
export function checkTrust(
  request: FastifyRequest,
  { trust = [] }: Pick<z.infer<typeof projectChange>, 'trust'>,
  { allows, names }: TrustRules,
): void {
  for (const [at, { issuer, allowed_models }] of trust.entries()) {
    if (!allows(issuer)) {
      const reason = `is "${issuer.slice(0, 100)}", which is none of the issuers that the operator allows (workload_issuers)`;
      throw settingsFault(request, { param: `trust[${at}].issuer`, reason });
    }
    const unknown = unknownName(allowed_models ?? [], names);
    if (unknown) throw settingsFault(request, { param: `trust[${at}].allowed_models`, reason: unknown.reason });
  }
}

export function projectChangeOf(fields: z.infer<typeof projectChange>): ProjectChange {
  const { name, requests_per_minute, tokens_per_minute, trust } = fields;
  const limits = {
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
  };
  return {
    ...(name !== undefined && { name }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(trust !== undefined && { trust: trust.map(trustOf) }),
  };
}

function trustOf({ issuer, subject, audience, claims, ...scope }: z.infer<typeof trustEntry>): TrustEntry {
  return {
    ...{ issuer, subject, audience: audience ?? null },
    claims: Object.fromEntries(Object.entries(claims ?? {}).map(([name, value]) => [name, String(value)])),
    allowedModels: modelsOf(scope.allowed_models) ?? null,
    allowedProviders: providersOf(scope.allowed_providers) ?? null,
  };
}

export function trustJson({ allowedModels, allowedProviders, ...entry }: TrustEntry) {
  return { ...entry, allowed_models: allowedModels, allowed_providers: allowedProviders };
}
