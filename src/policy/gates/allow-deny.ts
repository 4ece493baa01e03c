/** What the gates with two lists share: a route must be in `allow`, where that is not empty, and not in `deny`. */
import type { JsonSchema } from '../../base/json-schema.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';
import type { AllowDeny } from '../policy.js';

export const anything: AllowDeny = Object.freeze({ allow: Object.freeze([]), deny: Object.freeze([]) });

export interface Entries {
  /** In the words of a 400: `provider ids`. */
  readonly expected: string;
  /** What an entry may be, in any case of letters. */
  readonly pattern: RegExp;
  /** Entries of that form that can never match. */
  readonly except?: RegExp;
  /** The form in which an entry is kept and compared. */
  normalised(entry: string): string;
}

/** The lists that `readLists` takes. */
export function listsSchema({ pattern, except }: Entries): JsonSchema {
  const entry = { type: 'string', pattern: pattern.source, ...(except && { not: { pattern: except.source } }) };
  const list = { type: 'array', items: entry };
  return {
    type: 'object',
    required: ['allow', 'deny'],
    properties: { allow: list, deny: list },
    additionalProperties: false,
  };
}

export function readLists(param: string, value: unknown, entries: Entries): AllowDeny {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw gatewayError('field_type', {
      param,
      found: shown(value, 'utf8'),
      expected: 'an object with the lists allow and deny',
    });
  }
  const unknown = Object.keys(value).find((key) => key !== 'allow' && key !== 'deny');
  if (unknown !== undefined) {
    // The name is the caller's text, so only as much of it as a message can bear.
    const field = `${param}.${unknown.slice(0, 100)}`;
    throw gatewayError('field_invalid', { param: field, reason: 'is not a field: there are allow and deny' });
  }
  const lists = value as Partial<Record<keyof AllowDeny, unknown>>;
  return listsOf(
    readList(`${param}.allow`, lists.allow ?? [], entries),
    readList(`${param}.deny`, lists.deny ?? [], entries),
  );
}

function readList(param: string, value: unknown, { expected, pattern, except, normalised }: Entries): string[] {
  if (!Array.isArray(value)) {
    throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected: `an array of ${expected}` });
  }
  const kept = new Set<string>();
  value.forEach((entry: unknown, index) => {
    if (typeof entry !== 'string' || !pattern.test(entry) || except?.test(entry)) {
      const found = `an array whose entry ${index} is ${shown(entry, 'utf8')}`;
      throw gatewayError('field_type', { param, found, expected: `an array of ${expected}` });
    }
    kept.add(normalised(entry));
  });
  return [...kept];
}

/**
 * Entries stay as they were stored: one that matches nothing keeps an allow list closed, and dropping it might empty the list.
 * Lists that cannot be read allow only what no route is called.
 */
export function storedLists(value: unknown): AllowDeny {
  if (value === undefined || value === null) return anything;
  const { allow, deny } = Object(value) as Partial<Record<keyof AllowDeny, unknown>>;
  const lists = { allow: allow ?? [], deny: deny ?? [] };
  const isRead = typeof value === 'object' && areTexts(lists.allow) && areTexts(lists.deny);
  return isRead ? listsOf(lists.allow as string[], lists.deny as string[]) : listsOf(['unreadable'], []);
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function listsOf(allow: string[], deny: string[]): AllowDeny {
  if (allow.length === 0 && deny.length === 0) return anything;
  return Object.freeze({ allow: Object.freeze(allow), deny: Object.freeze(deny) });
}

export function areListsSet({ allow, deny }: AllowDeny): boolean {
  return allow.length > 0 || deny.length > 0;
}

/** `names` are all the names that a route goes by; none where it has none, which an allow list removes. */
export function listsPermit(names: readonly string[], { allow, deny }: AllowDeny): boolean {
  if (allow.length > 0 && !names.some((name) => allow.includes(name))) return false;
  return !names.some((name) => deny.includes(name));
}

/** Lets the first, narrowest of the names in, and takes out of `deny` what keeps it out. `what` is `the provider`. */
export function relaxedLists(names: readonly [string, ...string[]], { allow, deny }: AllowDeny, what: string) {
  const isMissing = allow.length > 0 && !names.some((name) => allow.includes(name));
  const denied = deny.filter((entry) => names.includes(entry));
  const changes: string[] = [];
  if (isMissing) changes.push(`allowing ${what} ${names[0]}`);
  if (denied.length > 0) changes.push(`no longer denying ${what} ${denied.join(' and ')}`);
  const rest = deny.filter((entry) => !denied.includes(entry));
  return { setting: listsOf(isMissing ? [...allow, names[0]] : [...allow], rest), how: changes.join(' and ') };
}

export function withoutAllow({ deny }: AllowDeny): AllowDeny {
  return listsOf([], [...deny]);
}
