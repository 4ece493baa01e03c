/** Reads an alias target in any of the accepted shapes and holds it against the routing snapshot (§2.3, contract 4.3). */
import type { Snapshot } from '../../catalogue/route.js';
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { AliasTarget } from '../../storage/records.js';

const fieldNames = ['provider', 'canonical_id', 'locode'] as const;
type TargetFields = Record<(typeof fieldNames)[number], string>;

export const globalLocode = 'global';

/**
 * The target of a body. Absent, null and empty fields are the same: empty. An empty `locode` means `global` (nothing for
 * `auto`), on a repoint too: it never means "leave unchanged" (§2.3).
 */
export function parseAliasTarget(body: Record<string, unknown>): AliasTarget {
  const flat = fieldNames.some((name) => present(body[name]));
  const nested = body.target;
  if (flat && present(nested)) throw refused('more than one shape was sent');
  if (flat) return targetOf(fieldsOf(body));
  if (typeof nested === 'string') return targetOf(fieldsOfText(nested));
  if (isObject(nested)) return targetOf(fieldsOf(nested));
  throw refused(present(nested) ? 'target is neither an object nor a string' : 'no target was sent');
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(source: Record<string, unknown>): TargetFields {
  const fields: TargetFields = { provider: '', canonical_id: '', locode: '' };
  for (const name of fieldNames) {
    const value = source[name];
    if (!present(value)) continue;
    if (typeof value !== 'string') throw refused(`${name} is not a string`);
    fields[name] = value;
  }
  return fields;
}

function fieldsOfText(text: string): TargetFields {
  const segments = text.split('/');
  const [provider = '', creator = '', model = '', locode = ''] = segments;
  if (segments.includes('')) throw refused(`"${quoted(text)}" has an empty segment`);
  if (provider !== 'auto' && segments.length === 3) throw refused(`"${quoted(text)}" does not name a region`);
  if (segments.length !== (provider === 'auto' ? 3 : 4)) {
    const rule = provider === 'auto' ? 'an auto target takes 3 and no region' : '4 are expected';
    throw refused(`"${quoted(text)}" has ${segments.length} segments, but ${rule}`);
  }
  return { provider, canonical_id: `${creator}/${model}`, locode };
}

function targetOf({ provider, canonical_id: canonicalId, locode }: TargetFields): AliasTarget {
  if (provider === '') throw refused('provider is missing or empty');
  if (canonicalId === '') throw refused('canonical_id is missing or empty');
  if (provider !== 'auto') return { provider, canonicalId, locode: locode.toLowerCase() || globalLocode };
  if (locode !== '') throw refused('provider "auto" takes no locode');
  return { provider, canonicalId, locode: null };
}

/** Throws the 422 that says why the target is not routable: unknown model or provider, region not served or missing. */
export function checkAliasTarget(snapshot: Snapshot, { provider, canonicalId, locode }: AliasTarget): void {
  const model = snapshot.models.get(canonicalId);
  if (provider !== 'auto' && !snapshot.providers.has(provider))
    throw refused(`the provider "${quoted(provider)}" is not known`);
  if (!model) throw refused(`the model "${quoted(canonicalId)}" is not known; canonical_id is creator/model`);
  if (provider === 'auto') {
    if (model.routes.length === 0) throw refused(`the model "${canonicalId}" has no routes`);
    return;
  }
  const locodes = model.routes.filter((route) => route.provider.id === provider).map((route) => route.locode);
  if (locodes.length === 0) throw refused(`the provider "${provider}" does not offer "${canonicalId}"`);
  if (locode !== null && locodes.includes(locode)) return;
  const served = `it is served in: ${locodes.join(', ')}`;
  if (locode === globalLocode)
    throw refused(`"${provider}/${canonicalId}" has no region-less endpoint, so a region is required; ${served}`);
  throw refused(`"${provider}/${canonicalId}" is not served in "${quoted(locode ?? '')}"; ${served}`);
}

/** The model id that an alias stands for. */
export function targetModelId({ provider, canonicalId, locode }: AliasTarget): string {
  return locode === null ? `${provider}/${canonicalId}` : `${provider}/${canonicalId}/${locode}`;
}

function quoted(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function refused(reason: string): GatewayError {
  return gatewayError('invalid_alias_target', { reason });
}
