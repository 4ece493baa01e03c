/** Rules for the values of fields. Each serves both readers of a body: the scan of the usual one, and the check of any other. */
import { gatewayError } from '../errors/gateway-error.js';
import type { JsonScanner } from '../wire/json-scanner.js';
import { shown, type TextEncoding } from '../wire/json-text.js';
import { ObjectScan, oneOf, scanEntries, takeBoolean, takeText, type ValueScan } from '../wire/scan-object.js';
import { isOrdinaryTier } from '../wire/usage.js';
import { checkMemberCount, type Fields, isFields } from './body.js';
import { cacheKeyMax } from './routing-fields.js';

export type Check = (value: unknown, param: string, encoding: TextEncoding) => void;

export interface Rule {
  /**
   * Moves behind a usual value, which may have so many levels. Returns it, or what a door needs to know of it; undefined where it is unusual
   * or not valid.
   */
  readonly scan: (json: JsonScanner, levels: number) => unknown;
  /** Throws where the value is not valid. Absent where the provider is the judge. The value is not null. */
  readonly check?: Check;
  /** Throws where something inside of the value is not valid. Called when the types of all fields are right. */
  readonly checkInside?: Check;
}

function checkRight(isRight: boolean, value: unknown, param: string, expected: string, encoding: TextEncoding): void {
  if (!isRight) throw gatewayError('field_type', { param, found: shown(value, encoding), expected });
}

/** A rule for values of one type. */
function typed(expected: string, isRight: (value: unknown) => boolean, scan: Rule['scan']): Rule & { check: Check } {
  return { scan, check: (value, param, encoding) => checkRight(isRight(value), value, param, expected, encoding) };
}

export const aText = typed(
  'a string',
  (value) => typeof value === 'string',
  (json) => takeText(json) || undefined,
);

export const aBoolean = typed(
  'a boolean',
  (value) => typeof value === 'boolean',
  (json) => {
    const isTrue = json.peek() === 0x74;
    return takeBoolean(json) ? isTrue : undefined;
  },
);

/** Where it is true, something would have to be stored. */
export const usuallyFalse: Rule = {
  ...aBoolean,
  scan: (json) => (aBoolean.scan(json, 0) === false ? false : undefined),
};

export const anyNumber = typed(
  'a number',
  (value) => typeof value === 'number',
  (json) => {
    const value = json.takeNumber();
    return Number.isNaN(value) ? undefined : value;
  },
);

export const anyObject = typed('an object', isFields, (json, levels) =>
  json.peek() === 0x7b && json.skipValue(levels) ? true : undefined,
);

export const leftToParser: Rule['scan'] = () => undefined;
/** What a scan does not look into. */
export const parsed = (rule: Rule): Rule => ({ ...rule, scan: leftToParser });

export function numberFrom(low: number, high: number): Rule {
  const range = high === Number.MAX_SAFE_INTEGER ? `${low} or greater` : `from ${low} to ${high}`;
  return {
    scan: (json) => {
      const value = json.takeNumber();
      return value >= low && value <= high ? value : undefined;
    },
    check: (value, param, encoding) => {
      anyNumber.check(value, param, encoding);
      if ((value as number) >= low && (value as number) <= high) return;
      throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range });
    },
  };
}

const isLimit = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;

/** A whole number of 1 or more; `check` says what is wrong with another one. */
export function limit(check: Check): Rule {
  return {
    scan: (json) => {
      const value = json.takeNumber();
      return isLimit(value) ? value : undefined;
    },
    check: (value, param, encoding) => {
      if (!isLimit(value)) check(value, param, encoding);
    },
  };
}

export const outputLimit = limit((value, param, encoding) => {
  checkRight(typeof value === 'number', value, param, 'an integer', encoding);
  const range = 'an integer of 1 or greater';
  throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range });
});

/** The tier that has the ordinary price; the parser finds the price of another one. */
export const aTier: Rule = {
  ...aText,
  scan: (json) => {
    const text = plainText(json);
    return text !== undefined && isOrdinaryTier(text) ? text : undefined;
  },
};

const plainCharacters = /^[\x20-\x7e]+$/;

/** The name of a conversation. */
export const aCacheKey: Rule = {
  ...aText,
  scan: (json) => {
    const text = plainText(json);
    return text !== undefined && text.length <= cacheKeyMax && plainCharacters.test(text) ? text : undefined;
  },
};

/** The inside of a string without escapes. */
function plainText(json: JsonScanner): string | undefined {
  const start = json.takePlainString();
  return start === -1 ? undefined : json.text.slice(start, json.at - 1);
}

/** What a scan of objects or entries found, as a rule has it. */
export const scanned =
  (scan: ValueScan): Rule['scan'] =>
  (json, levels) => {
    const found = scan(json, levels);
    return found === -1 ? undefined : found;
  };

/** An object with rules for some of its members. A scan returns which of them there are, as bits in their order. */
export function objectOf(members: Readonly<Record<string, Rule>>, isCounted = false): Rule {
  const entries = Object.entries(members);
  const scans = entries.map(([name, { scan }], index): [string, ValueScan] => [
    name,
    (json, levels) => (scan(json, levels) === undefined ? -1 : 1 << index),
  ]);
  return {
    scan: scanned(requestObject(Object.fromEntries(scans)).scan),
    check: anyObject.check,
    checkInside: (value, param, encoding) => {
      if (isCounted) checkMemberCount(value, param);
      for (const [name, { check }] of entries) {
        const member = (value as Fields)[name];
        if (member !== undefined && member !== null) check?.(member, `${param}.${name}`, encoding);
      }
    },
  };
}

/** At least one entry. */
export const entriesOf = (scanEntry: ValueScan): Rule['scan'] =>
  scanned((json, levels) => scanEntries(json, levels, scanEntry));

/** A list of which every entry is right. */
const checkEntries =
  (expected: string, isRight: (entry: unknown) => boolean): Check =>
  (list, param, encoding) => {
    checkRight(Array.isArray(list), list, param, expected, encoding);
    const wrong = (list as unknown[]).findIndex((entry) => !isRight(entry));
    if (wrong === -1) return;
    const found = `an array whose entry ${wrong} is ${shown((list as unknown[])[wrong], encoding)}`;
    throw gatewayError('field_type', { param, found, expected });
  };

export const checkTexts = checkEntries('an array of strings', (entry) => typeof entry === 'string');
export const checkTools = checkEntries('an array of tools', isFields);

/** An object of a request. Names in other case than those of its rules are left to the parser, because some providers ignore case. */
export function requestObject(rules: Readonly<Record<string, ValueScan>>, needs: readonly string[] = []): ObjectScan {
  return new ObjectScan(rules, 'lowerCase', needs);
}

/** An object whose `type` says which members it needs; `untyped` is that of one without. Its other rules return no bits. */
export function typedObject(
  types: Readonly<Record<string, readonly string[]>>,
  rules: Readonly<Record<string, ValueScan>>,
  untyped?: string,
): ObjectScan {
  const type = oneOf(Object.fromEntries(Object.keys(types).map((name, index) => [name, index + 1])));
  const needs = [untyped === undefined ? undefined : types[untyped], ...Object.values(types)];
  return new ObjectScan({ type, ...rules }, 'lowerCase', [], needs);
}
