/** Checks the members of the fields of a Responses request. What a provider may know and Lodestone does not is left to the provider. */
import { gatewayError } from '../../errors/gateway-error.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import {
  checkEntries,
  checkListLength,
  checkMemberCount,
  checkObject,
  checkType,
  type Fields,
  isFields,
  listOfTexts,
  listOfTools,
} from '../body.js';
import { checkInnerNames } from '../field-table.js';

const texts = ['service_tier', 'truncation', 'user', 'safety_identifier', 'prompt_cache_key'];

/** After the types of the fields themselves. */
export function checkMembers(fields: Fields, encoding: TextEncoding): void {
  for (const param of texts) {
    if (fields[param] !== undefined) checkType(fields[param], param, 'string', 'a string', encoding);
  }
  const { max_tool_calls: calls, reasoning, include } = fields;
  if (calls !== undefined && (!Number.isInteger(calls) || (calls as number) < 1)) {
    const expected = 'an integer of 1 or greater';
    throw gatewayError('field_type', { param: 'max_tool_calls', found: shown(calls, encoding), expected });
  }
  checkMemberCount(reasoning, 'reasoning');
  checkMemberCount(fields.text, 'text');
  checkMember(reasoning, 'reasoning.effort', encoding);
  checkMember(reasoning, 'reasoning.summary', encoding);
  checkMember(fields.text, 'text.verbosity', encoding);
  checkFormat((fields.text as Fields | undefined)?.format, encoding);
  checkEntries(include, 'include', listOfTexts, encoding);
  checkListLength(include, 'include');
  checkEntries(fields.tools, 'tools', listOfTools, encoding);
  checkTools((fields.tools ?? []) as Fields[], 'tools', encoding);
  checkChoice(fields.tool_choice, encoding);
}

/** `param` is the name of a field and of its member. */
function checkMember(holder: unknown, param: string, encoding: TextEncoding): void {
  const value = (holder as Fields | undefined)?.[param.slice(param.indexOf('.') + 1)];
  if (value !== undefined && value !== null) checkType(value, param, 'string', 'a string', encoding);
}

function checkFormat(format: unknown, encoding: TextEncoding): void {
  if (format === undefined || format === null) return;
  checkObject(format, 'text.format', encoding);
  const { type, name, schema } = format as Fields;
  if (typeof type !== 'string') throw invalid('text.format', '`text.format` has no `type`, which must be a string.');
  if (type !== 'json_schema') return;
  if (typeof name !== 'string') throw invalid('text.format', '`text.format` has no `name`, which must be a string.');
  if (!isFields(schema)) throw invalid('text.format', '`text.format` has no `schema`, which must be an object.');
}

function checkTools(tools: readonly Fields[], place: string, encoding: TextEncoding): void {
  tools.forEach((tool, at) => {
    checkInnerNames(tool, () => `${place}[${at}]`, encoding);
    const wrong = wrongOf(tool);
    if (wrong) throw invalid('tools', `${place}[${at}] ${wrong}.`);
    if (tool.type === 'namespace') {
      const inner = ((tool.tools ?? []) as Fields[]).map((each) => ({ type: 'function', ...each }));
      checkTools(inner, `${place}[${at}].tools`, encoding);
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

function checkChoice(choice: unknown, encoding: TextEncoding): void {
  if (choice === undefined || typeof choice === 'string') return;
  const param = 'tool_choice';
  if (!isFields(choice)) {
    throw gatewayError('field_type', { param, found: shown(choice, encoding), expected: 'a string or an object' });
  }
  if (typeof choice.type !== 'string') throw invalid(param, '`tool_choice` has no `type`, which must be a string.');
  if (choice.type === 'function' && typeof choice.name !== 'string') {
    throw invalid(param, '`tool_choice` is of the type "function", but has no `name`.');
  }
  if (choice.type === 'allowed_tools' && !(Array.isArray(choice.tools) && choice.tools.every(isFields))) {
    throw invalid(param, '`tool_choice` is of the type "allowed_tools", but has no array of `tools`.');
  }
}

function invalid(param: string, what: string): Error {
  return gatewayError('request_invalid', { param, what });
}
