/** Rules for the values of fields that chat completions alone have, or check in their own way. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { shown } from '../../wire/json-text.js';
import { oneOf, takeText, takeTexts } from '../../wire/scan-object.js';
import { checkMemberCount, type Fields } from '../body.js';
import { checkInnerNames, isLowerCase } from '../field-table.js';
import { aBoolean, anyObject, entriesOf, limit, type Rule, requestObject } from '../rules.js';
import { stopSequencesMax } from './messages.js';

const openBrace = 0x7b;

export const aCount = limit((value, param, encoding) => {
  if (typeof value !== 'number' || (Number.isFinite(value) && value >= 1)) {
    throw gatewayError('field_type', { param, found: shown(value, encoding), expected: 'an integer' });
  }
  throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range: '1 or greater' });
});

const streamOptionNames: ReadonlySet<string> = new Set(['include_usage']);
const streamOptionsMax = 4096;

export const streamOptions: Rule = {
  scan: (json, levels) => {
    const text = json.peek() === openBrace ? valueText(json, levels) : undefined;
    if (text === undefined || text.length > streamOptionsMax) return undefined;
    const options = JSON.parse(text) as Fields;
    for (const name in options) if (!streamOptionNames.has(name) && !isLowerCase(name)) return undefined;
    const { include_usage: asks = null } = options;
    return asks === null || typeof asks === 'boolean' ? options : undefined;
  },
  check: (options, param, encoding) => {
    anyObject.check(options, param, encoding);
    checkMemberCount(options, param);
    checkInnerNames(options as Fields, () => param, encoding, streamOptionNames);
    // Lodestone writes this one itself, so that no provider could refuse another value.
    const { include_usage: asks } = options as Fields;
    if (asks !== undefined && asks !== null) aBoolean.check(asks, `${param}.include_usage`, encoding);
  },
};

function valueText(json: JsonScanner, levels: number): string | undefined {
  json.peek();
  const start = json.at;
  return json.skipValue(levels) ? json.text.slice(start, json.at) : undefined;
}

/** A scan returns an empty text where nothing is asked for. */
export const stopSequences: Rule = {
  scan: (json) => {
    const start = json.at;
    if (takeText(json)) return json.text.startsWith('""', start) ? '' : 'a';
    const count = takeTexts(json);
    return count === -1 || count > stopSequencesMax ? undefined : 'a'.repeat(count);
  },
  check: (stop, param, encoding) => {
    if (typeof stop === 'string') return;
    const wrong = Array.isArray(stop) ? stop.findIndex((sequence) => typeof sequence !== 'string') : -2;
    if (wrong !== -1) {
      const found =
        wrong === -2
          ? shown(stop, encoding)
          : `an array whose entry ${wrong} is ${shown((stop as unknown[])[wrong], encoding)}`;
      throw gatewayError('field_type', { param, found, expected: 'a string or an array of strings' });
    }
    const { length } = stop as unknown[];
    if (length <= stopSequencesMax) return;
    const range = `at most ${stopSequencesMax} sequences`;
    throw gatewayError('parameter_out_of_range', { param, value: `an array of ${length} sequences`, range });
  },
};

/** A function runs at the client, and needs no price. */
const tool = requestObject({ type: oneOf({ function: 0 }) }, ['type']);

/** Tools are the provider's to judge, but for their types, which have prices. */
export const tools: Rule = { scan: entriesOf(tool.scan) };

/** A longer one asks for something, whatever it says. */
const hintMax = 64;

/** A field of which only some providers know what it means. */
export const aHint: Rule = {
  scan: (json, levels) => {
    const isObject = json.peek() === openBrace;
    const text = valueText(json, levels);
    if (text === undefined) return undefined;
    return isObject || text.length > hintMax ? true : JSON.parse(text);
  },
};

/** Longer ones are left to the parser, which counts what it reads. */
const metadataMax = 64 * 1024;

export const metadata: Rule = {
  scan: (json, levels) => {
    const text = valueText(json, levels);
    return text === undefined || text.length > metadataMax ? undefined : JSON.parse(text);
  },
};
