/** The fields of a key that say what it may do and spend: how a request sends them, and what becomes of them. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { expirySchema } from '../../accounts/keys/expiry.js';
import type { NewKey } from '../../accounts/keys/new-key.js';
import { canonicalRange } from '../../base/ip-address.js';
import { parseUsd } from '../../base/money.js';
import { importedFrom, isModelName, namePattern } from '../../catalogue/model-name.js';
import type { Account, KeyTerms } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { bodyFields, decimalAmount, perMinuteLimit, personText, withFaults } from '../admin/fields.js';

const entriesMax = 200;

const amount = decimalAmount
  .nullable()
  .optional()
  .describe(
    'How much may be spent through the key in a period, as an exact decimal; `0` admits nothing, null is no limit.',
  );

const segment = '[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}';
const modelEntry = new RegExp(
  `^(auto/${segment}/${segment}|${segment}/(\\*|${segment})|${segment}/${segment}/${segment}(/${segment})?)$`,
);
/** The words have a meaning in model ids, so nothing else has these names. */
const reserved = /^(alias\/|auto\/[^/]*$|auto\/[^/]*\/[^/]*\/)/;
const modelExpected =
  'must be {provider}/{creator}/{model}/{locode}, {provider}/{creator}/{model}, auto/{creator}/{model}, {creator}/{model}, {creator}/* or a name that the operator has given to a model';

function isModelEntry(text: string): boolean {
  return modelEntry.test(text) && !reserved.test(text);
}

const group = '[0-9A-Fa-f]{1,4}';
/** The eight groups of an address, or fewer with one `::` in their place: with up to six groups before it, and up to seven behind it. */
const ipv6Forms = [
  `(${group}:){7}${group}`,
  `(${group}:){1,7}:`,
  ...[1, 2, 3, 4, 5, 6].map((behind) => `(${group}:){1,${7 - behind}}(:${group}){1,${behind}}`),
  `:(:${group}){1,7}`,
  '::',
];
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const rangeSchema = {
  anyOf: [
    { type: 'string', format: 'ipv4' },
    { type: 'string', format: 'ipv6' },
    { type: 'string', pattern: `^(${octet}\\.){3}${octet}/(3[0-2]|[12]?[0-9])$` },
    { type: 'string', pattern: `^(${ipv6Forms.join('|')})/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$` },
  ],
};

const listOf = (entry: z.ZodType<string>, what: string) =>
  z
    .array(entry, `must be a list of ${what}, or null`)
    .min(1, 'must not be empty; send null for no restriction')
    .max(entriesMax, `must have at most ${entriesMax} entries`)
    .nullable()
    .optional();

const perMinute = (what: string) =>
  perMinuteLimit('must be a whole number or null').describe(
    `${what} a minute through this key, not above the account’s; null is the account’s.`,
  );

export const modelIds = listOf(
  z
    .string('must be text')
    .refine((text) => isModelEntry(text) || isModelName(text), modelExpected)
    .meta({ anyOf: [{ pattern: modelEntry.source, not: { pattern: reserved.source } }, { pattern: namePattern }] }),
  'model ids',
).describe(
  'A four-segment id (that route), a three-segment id (that provider, any region), `auto/{creator}/{model}`, `{creator}/{model}` (any form), `{creator}/*`, or a name of the operator’s for a model. null is every model.',
);
export const providerIds = listOf(
  z.string('must be text').regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be the id of a provider, like "acme"'),
  'provider ids',
).describe('null is every provider.');

const termFields = {
  disabled: z.boolean('must be true or false').optional().describe('A disabled key is refused with 401.'),
  limit_usd: amount,
  limit_reset: z
    .enum(['never', 'daily', 'weekly', 'monthly'], 'must be "never", "daily", "weekly" or "monthly"')
    .optional()
    .describe('When a new period begins, at 00:00 UTC; weeks begin on Monday.'),
  allowed_models: modelIds,
  allowed_providers: providerIds,
  allowed_ips: listOf(
    z
      .string('must be text')
      .refine(
        (text) => canonicalRange(text) !== null,
        'must be an address or a range like "10.0.0.0/8" or "2001:db8::/32"',
      )
      .meta(rangeSchema),
    'address ranges',
  ).describe('Addresses and ranges (CIDR) from which the key may be used; null is everywhere.'),
  requests_per_minute: perMinute('Requests'),
  tokens_per_minute: perMinute('Tokens'),
};

const holderField = z
  .string('must be the id of a person, or null')
  .nullable()
  .optional()
  .describe('The member of the account who holds the key; null where it belongs to the project.');

export const newKey = z.strictObject({
  name: personText(100),
  expires: z
    .string('must be text')
    .meta(expirySchema)
    .nullish()
    .describe('`7d`, `90d`, `12mo` (calendar months), `never` or an RFC 3339 time; 90 days where it is left out.'),
  kind: z
    .enum(['inference', 'management'], 'must be "inference" or "management"')
    .optional()
    .describe('A management key changes the keys of its account and can call no model. Cannot be changed later.'),
  project: z
    .string('must be the id of a project, or null')
    .nullish()
    .describe(
      'The id of its project; the default one where it is left out. A management key without one is of the whole account. Cannot be changed later.',
    ),
  ...termFields,
  holder: holderField,
});

/** What only operators can send: a key of another system, which keeps its token. */
const importFields = {
  token_sha256: z
    .string('must be text')
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits, the SHA-256 of the whole token')
    .optional()
    .describe('The SHA-256 of the token that the key keeps. No token is made then, and the answer has none.'),
  last_four: z
    .string('must be text')
    .regex(/^[!-~]{4}$/, 'must be the last 4 characters of the token')
    .optional()
    .describe('The last four characters of that token, for lists.'),
  imported_from: importedFrom.optional().describe('The system that the key comes from, and its id there.'),
  opening_usage_usd: decimalAmount
    .optional()
    .describe('What counts as spent in the current period of the cap, as an exact decimal.'),
};
const ofImports = ['last_four', 'imported_from', 'opening_usage_usd'] as const;

/** A key as operators create it. */
export const newOrBroughtKey = newKey
  .extend(importFields)
  .check((context) => {
    const { value } = context;
    const lonely = value.token_sha256 === undefined && ofImports.find((name) => value[name] !== undefined);
    if (!lonely) return;
    const message = 'is only for a key that keeps its token, which `token_sha256` names';
    context.issues.push({ code: 'custom', input: value, path: [lonely], message });
  })
  .meta({ dependentRequired: Object.fromEntries(ofImports.map((name) => [name, ['token_sha256']])) });

const importedKeysMax = 200;

/** Several keys of another system. */
export const importedKeys = z.strictObject({
  keys: z
    .array(newOrBroughtKey.required({ token_sha256: true }), 'must be a list of keys')
    .min(1, 'must not be empty')
    .max(importedKeysMax, `must have at most ${importedKeysMax} entries`),
});

/** The token and the past of a key of another system; undefined for a key that is made here. */
export function broughtOf(fields: z.infer<typeof newOrBroughtKey>): NewKey['brought'] {
  const { token_sha256: hex, last_four, imported_from, opening_usage_usd: opening } = fields;
  if (hex === undefined) return undefined;
  return {
    hash: Buffer.from(hex, 'hex'),
    lastFour: last_four ?? '',
    importedFrom: imported_from ?? null,
    openingPico: opening === undefined ? 0n : parseUsd(opening)!,
  };
}

/** What is left out stays as it is. */
export const keyChange = z.strictObject({
  name: personText(100).optional(),
  ...termFields,
  holder: holderField,
});

/** Other fields, known or not, have always been a 400 in the admin API and the dashboard. */
const fieldsWith422 = new Set(['kind', 'project', 'holder', ...Object.keys(termFields), ...Object.keys(importFields)]);

/** The fields of a body about a key. A fault is a 422; that of a field outside `fieldsWith422` only at `/v1/keys`. */
export function keyFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  return withKeyFaults(request, () => bodyFields(request, schema));
}

/** Runs a check of fields of a key, and gives its faults the status that the caller's API has for them. */
export function withKeyFaults<T>({ routeOptions }: FastifyRequest, check: () => T): T {
  return withFaults(check, (fault) => {
    const [field = ''] = fault.param.split(/[.[]/);
    const is422 = fieldsWith422.has(field) || routeOptions.url?.startsWith('/v1/');
    // `param` is a field of the key; the message names the entry of its list, too.
    return is422
      ? gatewayError('key_field_invalid', { ...fault, param: field, entry: fault.param })
      : gatewayError('field_invalid', fault);
  });
}

type TermFields = Omit<z.infer<typeof newKey>, 'name' | 'expires' | 'project' | 'holder'>;
export interface Bounds {
  requestsPerMinute: number;
  tokensPerMinute: number;
  /** The names that an entry of `allowed_models` may be. */
  names: { get(name: string): unknown };
}

/** The terms that the fields set, and no others. Throws key_field_invalid for a limit above the account's, and for an unknown name. */
export function termsOf(fields: TermFields, { limits }: Account, defaults: Bounds): Partial<KeyTerms> {
  const { kind, disabled, limit_usd, limit_reset, requests_per_minute, tokens_per_minute } = fields;
  checkBound('requests_per_minute', requests_per_minute, limits.requestsPerMinute ?? defaults.requestsPerMinute);
  checkBound('tokens_per_minute', tokens_per_minute, limits.tokensPerMinute ?? defaults.tokensPerMinute);
  checkNames(fields.allowed_models ?? [], defaults);
  const terms = {
    ...{ kind, disabled, limitReset: limit_reset },
    limitPico: typeof limit_usd === 'string' ? parseUsd(limit_usd) : limit_usd,
    allowedModels: modelsOf(fields.allowed_models),
    allowedProviders: providersOf(fields.allowed_providers),
    allowedIps: eachOnce(fields.allowed_ips, (range) => canonicalRange(range)!),
    ...{ requestsPerMinute: requests_per_minute, tokensPerMinute: tokens_per_minute },
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function checkBound(param: string, value: number | null | undefined, most: number): void {
  if (typeof value !== 'number' || value <= most) return;
  const reason = `is ${value}, but must not be above the account’s limit of ${most}`;
  throw gatewayError('key_field_invalid', { param, reason });
}

function checkNames(entries: readonly string[], { names }: Bounds): void {
  const unknown = unknownName(entries, names);
  if (unknown === null) return;
  const entry = `allowed_models[${unknown.at}]`;
  throw gatewayError('key_field_invalid', { param: 'allowed_models', entry, reason: unknown.reason });
}

/** The first entry that is a name, and one that the operator has given to no model. */
export function unknownName(entries: readonly string[], names: Bounds['names']) {
  const at = entries.findIndex((entry) => !isModelEntry(entry) && names.get(entry) === undefined);
  return at < 0 ? null : { at, reason: `is ${JSON.stringify(entries[at]!.slice(0, 100))}: ${modelExpected}` };
}

/** As they are compared: each once, the locode and ids of providers in lower case. */
export const modelsOf = (entries: readonly string[] | null | undefined) => eachOnce(entries, withLowerLocode);
export const providersOf = (entries: readonly string[] | null | undefined) =>
  eachOnce(entries, (id) => id.toLowerCase());

function eachOnce(list: readonly string[] | null | undefined, normalise: (entry: string) => string) {
  return list ? [...new Set(list.map(normalise))] : list;
}

/** The locode of a model id may be written in any case; the other segments are exact. */
function withLowerLocode(entry: string): string {
  const segments = entry.split('/');
  return segments.length === 4 ? [...segments.slice(0, 3), segments[3]!.toLowerCase()].join('/') : entry;
}
