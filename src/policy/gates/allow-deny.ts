/** The gates with two lists: a route must be in `allow`, unless that is empty, and must not be in `deny`. */
import type { JsonSchema } from '../../base/json-schema.js';
import type { Route } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { shown } from '../../wire/json-text.js';
import type { AllowDeny } from '../routing-policy.js';
import type { Gate } from './gate.js';

const anything: AllowDeny = Object.freeze({ allow: Object.freeze([]), deny: Object.freeze([]) });

interface Entries {
  /** Names the entries in a 400: `provider ids`. */
  readonly expected: string;
  /** The form of an entry, in upper or lower case. */
  readonly pattern: RegExp;
  /** Entries of that form that can never match. */
  readonly except?: RegExp;
  /** The form in which an entry is stored and compared. */
  normalise(entry: string): string;
}

interface Listed {
  readonly entries: Entries;
  /** All names of a route, the narrowest first. An allow list removes a route without a name. */
  namesOf(route: Route): readonly string[];
  /** As it is named in a sentence: `the provider`. */
  readonly what: string;
  /** How a route without a name passes an allow list, as the beginning of a sentence; for gates that may meet one. */
  readonly nameless?: string;
}

/** What these gates have in common; a gate adds what it says of itself. */
export function listsGate<Name extends 'providers' | 'creators' | 'regions'>(name: Name, listed: Listed) {
  const { entries, namesOf, what, nameless = '' } = listed;
  const gate: Omit<Gate<'providers'>, 'name' | 'takes' | 'removes' | 'card'> = {
    defaultSetting: anything,
    schema: listsSchema(entries),
    read: (value, param = name) => readLists(param, value, entries),
    readStored: readStoredLists,
    isSet: ({ allow, deny }) => allow.length > 0 || deny.length > 0,
    permits: (route, lists) => listsPermit(namesOf(route), lists),
    relaxationFor(route, lists) {
      const [narrowest, ...wider] = namesOf(route);
      if (narrowest === undefined) return { setting: listsOf([], [...lists.deny]), how: nameless };
      return listsRelaxation([narrowest, ...wider], lists, what);
    },
  };
  return { name, ...gate };
}

/** The lists that `readLists` takes. */
function listsSchema({ pattern, except }: Entries): JsonSchema {
  const entry = { type: 'string', pattern: pattern.source, ...(except && { not: { pattern: except.source } }) };
  const list = { type: 'array', items: entry };
  return {
    type: 'object',
    required: ['allow', 'deny'],
    properties: { allow: list, deny: list },
    additionalProperties: false,
  };
}

function readLists(param: string, value: unknown, entries: Entries): AllowDeny {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw gatewayError('field_type', {
      param,
      found: shown(value, 'utf8'),
      expected: 'an object with the lists allow and deny',
    });
  }
  const unknown = Object.keys(value).find((key) => key !== 'allow' && key !== 'deny');
  if (unknown !== undefined) {
    // The caller chooses the name, so the message shows only its beginning.
    const field = `${param}.${unknown.slice(0, 100)}`;
    throw gatewayError('field_invalid', { param: field, reason: 'is not a field: there are allow and deny' });
  }
  const lists = value as Partial<Record<keyof AllowDeny, unknown>>;
  return listsOf(
    readList(`${param}.allow`, lists.allow ?? [], entries),
    readList(`${param}.deny`, lists.deny ?? [], entries),
  );
}

function readList(param: string, value: unknown, { expected, pattern, except, normalise }: Entries): string[] {
  if (!Array.isArray(value)) {
    throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected: `an array of ${expected}` });
  }
  const kept = new Set<string>();
  value.forEach((entry: unknown, index) => {
    if (typeof entry !== 'string' || !pattern.test(entry) || except?.test(entry)) {
      const found = `an array whose entry ${index} is ${shown(entry, 'utf8')}`;
      throw gatewayError('field_type', { param, found, expected: `an array of ${expected}` });
    }
    kept.add(normalise(entry));
  });
  return [...kept];
}

/**
 * Stored entries stay, also those that match nothing: dropping one might empty an allow list and so open it. Lists that cannot
 * be read allow only a name that no route has.
 */
function readStoredLists(value: unknown): AllowDeny {
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

function listsPermit(names: readonly string[], { allow, deny }: AllowDeny): boolean {
  if (allow.length > 0 && !names.some((name) => allow.includes(name))) return false;
  return !names.some((name) => deny.includes(name));
}

/** Allows the first name, which is the narrowest, and removes the route's names from `deny`. */
function listsRelaxation(names: readonly [string, ...string[]], { allow, deny }: AllowDeny, what: string) {
  const isMissing = allow.length > 0 && !names.some((name) => allow.includes(name));
  const denied = deny.filter((entry) => names.includes(entry));
  const changes: string[] = [];
  if (isMissing) changes.push(`allowing ${what} ${names[0]}`);
  if (denied.length > 0) changes.push(`no longer denying ${what} ${denied.join(' and ')}`);
  const rest = deny.filter((entry) => !denied.includes(entry));
  return { setting: listsOf(isMissing ? [...allow, names[0]] : [...allow], rest), how: changes.join(' and ') };
}
