/** Reads an alias target in any of the accepted shapes and checks it against the routing snapshot. */
import type { JsonSchema } from '../../base/json-schema.js';
import { modelRetirement } from '../../catalogue/retirement.js';
import type { Snapshot } from '../../catalogue/route.js';
import type { AliasTarget } from '../../domain/account.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';

const fieldNames = ['provider', 'canonical_id', 'locode'] as const;
type TargetFields = Record<(typeof fieldNames)[number], string>;

const globalLocode = 'global';

const providerPattern = '[a-z0-9._-]{1,64}';
const canonicalPattern = '[^/]+/[^/]+';
const locodePattern = '([A-Za-z0-9]{5}|[Gg][Ll][Oo][Bb][Aa][Ll])';
const notAProvider = '(auto|alias)';

const canonicalId: JsonSchema = {
  type: 'string',
  pattern: `^${canonicalPattern}$`,
  description: '`{creator}/{model}`.',
};

const pinSchema: JsonSchema = {
  provider: {
    type: 'string',
    pattern: `^${providerPattern}$`,
    not: { pattern: `^${notAProvider}$` },
    description: 'A provider’s id.',
  },
  canonical_id: canonicalId,
  locode: {
    type: ['string', 'null'],
    pattern: `^${locodePattern}?$`,
    description: 'The region; `global` where it is left out.',
  },
};

const autoSchema: JsonSchema = {
  provider: { const: 'auto', description: 'The route is chosen for each request.' },
  canonical_id: canonicalId,
  locode: { type: ['string', 'null'], maxLength: 0, description: '`auto` takes none.' },
};

const required = ['provider', 'canonical_id'];
const notSent = { type: 'null' };
const noFields = Object.fromEntries(fieldNames.map((name) => [name, notSent]));

/**
 * The shapes that `parseAliasTarget` takes; each excludes the others. A later check asks whether the catalogue has the
 * target.
 */
export const aliasTargetSchemas: readonly JsonSchema[] = [
  ...[pinSchema, autoSchema].map((fields) => ({
    type: 'object',
    required,
    properties: { ...fields, target: notSent },
  })),
  ...[pinSchema, autoSchema].map((fields) => ({
    type: 'object',
    required: ['target'],
    properties: { target: { type: 'object', required, properties: fields }, ...noFields },
  })),
  {
    type: 'object',
    required: ['target'],
    properties: {
      target: {
        anyOf: [
          {
            type: 'string',
            pattern: `^${providerPattern}/${canonicalPattern}/${locodePattern}$`,
            not: { pattern: `^${notAProvider}/` },
          },
          { type: 'string', pattern: `^auto/${canonicalPattern}$` },
        ],
        description: '`provider/creator/model/locode`, or `auto/creator/model`.',
        examples: ['auto/lodestone/echo'],
      },
      ...noFields,
    },
  },
];

/**
 * Reads the target from a body. Absent, null and empty fields all count as empty. An empty `locode` means `global` (and
 * nothing for `auto`), on a repoint too: it never means "leave unchanged".
 */
export function parseAliasTarget(body: Record<string, unknown>): AliasTarget {
  const flat = fieldNames.some((name) => isPresent(body[name]));
  const nested = body.target;
  if (flat && isPresent(nested)) throw targetError('more than one shape was sent');
  if (flat) return targetOf(fieldsOf(body));
  if (typeof nested === 'string') return targetOf(fieldsOfText(nested));
  if (isObject(nested)) return targetOf(fieldsOf(nested));
  throw targetError(isPresent(nested) ? 'target is neither an object nor a string' : 'no target was sent');
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(source: Record<string, unknown>): TargetFields {
  const fields: TargetFields = { provider: '', canonical_id: '', locode: '' };
  for (const name of fieldNames) {
    const value = source[name];
    if (!isPresent(value)) continue;
    if (typeof value !== 'string') throw targetError(`${name} is not a string`);
    fields[name] = value;
  }
  return fields;
}

function fieldsOfText(text: string): TargetFields {
  const segments = text.split('/');
  const [provider = '', creator = '', model = '', locode = ''] = segments;
  if (segments.includes('')) throw targetError(`"${shorten(text)}" has an empty segment`);
  if (provider !== 'auto' && segments.length === 3) throw targetError(`"${shorten(text)}" does not name a region`);
  if (segments.length !== (provider === 'auto' ? 3 : 4)) {
    const rule = provider === 'auto' ? 'an auto target takes 3 and no region' : '4 are expected';
    throw targetError(`"${shorten(text)}" has ${segments.length} segments, but ${rule}`);
  }
  return { provider, canonical_id: `${creator}/${model}`, locode };
}

function targetOf({ provider, canonical_id: canonicalId, locode }: TargetFields): AliasTarget {
  if (provider === '') throw targetError('provider is missing or empty');
  if (canonicalId === '') throw targetError('canonical_id is missing or empty');
  if (provider !== 'auto') return { provider, canonicalId, locode: locode.toLowerCase() || globalLocode };
  if (locode !== '') throw targetError('provider "auto" takes no locode');
  return { provider, canonicalId, locode: null };
}

/** Throws the 422 that says why no route fits the target: unknown model or provider, region missing or not served. */
export function checkAliasTarget(snapshot: Snapshot, { provider, canonicalId, locode }: AliasTarget): void {
  const model = snapshot.models.get(canonicalId);
  if (provider !== 'auto' && !snapshot.providers.has(provider))
    throw targetError(`the provider "${shorten(provider)}" is not known`);
  if (!model) throw targetError(`the model "${shorten(canonicalId)}" is not known; canonical_id is creator/model`);
  if (provider === 'auto') {
    const retirement = modelRetirement(snapshot, canonicalId);
    if (retirement) throw targetError(`the model "${canonicalId}" was retired on ${retirement.date}`);
    if (model.routes.length === 0) throw targetError(`the model "${canonicalId}" has no routes`);
    return;
  }
  const locodes = model.routes.filter((route) => route.provider.id === provider).map((route) => route.locode);
  const retired = snapshot.retired?.get(`${provider}/${canonicalId}/${locode}`)?.life?.retires;
  if (retired) throw targetError(`"${provider}/${canonicalId}/${locode}" was retired on ${retired.date}`);
  if (locodes.length === 0) throw targetError(`the provider "${provider}" does not offer "${canonicalId}"`);
  if (locode !== null && locodes.includes(locode)) return;
  const served = `it is served in: ${locodes.join(', ')}`;
  if (locode === globalLocode)
    throw targetError(`"${provider}/${canonicalId}" has no region-less endpoint, so a region is required; ${served}`);
  throw targetError(`"${provider}/${canonicalId}" is not served in "${shorten(locode ?? '')}"; ${served}`);
}

/** The model id that an alias stands for. */
export function targetModelId({ provider, canonicalId, locode }: AliasTarget): string {
  return locode === null ? `${provider}/${canonicalId}` : `${provider}/${canonicalId}/${locode}`;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function targetError(reason: string): GatewayError {
  return gatewayError('invalid_alias_target', { reason });
}
