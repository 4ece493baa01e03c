/** Rules for the values of fields as the Responses API has them. What a provider may know and Lodestone does not is left to the provider. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import { anObject, anyValue, aText, someText, takeText } from '../../wire/scan-object.js';
import { checkListLength, type Fields, isFields } from '../body.js';
import { checkInnerNames, refusal } from '../field-table.js';
import { anyObject, checkTexts, checkTools, entriesOf, leftToParser, limit, type Rule, typedObject } from '../rules.js';

export const toolCallLimit = limit((value, param, encoding) => {
  const expected = 'an integer of 1 or greater';
  throw gatewayError('field_type', { param, found: shown(value, encoding), expected });
});

/** Of `include`, as a scan finds it: the client sends signed reasoning back. */
export const keepsReasoning = 1;
export const signedReasoning = 'reasoning.encrypted_content';

function scanIncluded(json: JsonScanner): number {
  const start = json.takePlainString();
  if (start === -1) return -1;
  return json.text.slice(start, json.at - 1) === signedReasoning ? keepsReasoning : 0;
}

export const included: Rule = {
  scan: entriesOf(scanIncluded),
  checkInside: (list, param, encoding) => {
    checkTexts(list, param, encoding);
    checkListLength(list, param);
  },
};

/** The format of the answer, which a scan does not look into. */
export const textFormat: Rule = {
  scan: leftToParser,
  check: (format, param, encoding) => {
    anyObject.check(format, param, encoding);
    const { type, name, schema } = format as Fields;
    if (typeof type !== 'string') throw refusal(param, '`text.format` has no `type`, which must be a string.');
    if (type !== 'json_schema') return;
    if (typeof name !== 'string') throw refusal(param, '`text.format` has no `name`, which must be a string.');
    if (!isFields(schema)) throw refusal(param, '`text.format` has no `schema`, which must be an object.');
  },
};

/** Tools of other types may run at the provider, and have a price. */
const tool = typedObject(
  { function: ['name'], custom: [] },
  { name: someText(0), description: aText(0), parameters: anObject(0), strict: anyValue },
);

export const tools: Rule = {
  scan: entriesOf(tool.scan),
  checkInside: (list, param, encoding) => {
    checkTools(list, param, encoding);
    checkEach(list as Fields[], 'tools', encoding);
  },
};

function checkEach(tools: readonly Fields[], place: string, encoding: TextEncoding): void {
  tools.forEach((tool, at) => {
    checkInnerNames(tool, () => `${place}[${at}]`, encoding);
    const wrong = wrongOf(tool);
    if (wrong) throw refusal('tools', `${place}[${at}] ${wrong}.`);
    if (tool.type === 'namespace') {
      const inner = ((tool.tools ?? []) as Fields[]).map((each) => ({ type: 'function', ...each }));
      checkEach(inner, `${place}[${at}].tools`, encoding);
    }
  });
}

function wrongOf({ type, name, parameters, description, tools }: Fields): string | null {
  if (typeof type !== 'string') return 'has no `type`, which must be a string';
  if (type === 'namespace' && tools !== undefined && !(Array.isArray(tools) && tools.every(isFields))) {
    return 'has `tools` that are not an array of tools';
  }
  if (type !== 'function') return null;
  if (typeof name !== 'string' || name === '') return 'has no `name`';
  if (parameters !== undefined && parameters !== null && !isFields(parameters)) {
    return 'has `parameters` that are not an object';
  }
  if (description === undefined || description === null || typeof description === 'string') return null;
  return 'has a `description` that is not a string';
}

const choice = typedObject({ function: ['name'] }, { name: aText(0) });

export const toolChoice: Rule = {
  scan: (json, levels) => (takeText(json) || choice.scan(json, levels) !== -1 ? true : undefined),
  checkInside: (value, param, encoding) => {
    if (typeof value === 'string') return;
    if (!isFields(value)) {
      throw gatewayError('field_type', { param, found: shown(value, encoding), expected: 'a string or an object' });
    }
    if (typeof value.type !== 'string') throw refusal(param, '`tool_choice` has no `type`, which must be a string.');
    if (value.type === 'function' && typeof value.name !== 'string') {
      throw refusal(param, '`tool_choice` is of the type "function", but has no `name`.');
    }
    if (value.type === 'allowed_tools' && !(Array.isArray(value.tools) && value.tools.every(isFields))) {
      throw refusal(param, '`tool_choice` is of the type "allowed_tools", but has no array of `tools`.');
    }
  },
};
