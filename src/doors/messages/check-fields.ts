/** Checks the fields of a Messages request other than its messages. What a provider may know and Lodestone does not is left to the provider. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { TextEncoding } from '../../wire/json-text.js';
import {
  checkEntries,
  checkLimit,
  checkMemberCount,
  checkObject,
  checkRange,
  checkType,
  type Fields,
  isFields,
  listOfTexts,
  listOfTools,
} from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { checkSystem } from './check-messages.js';

export function checkFields(fields: Fields, encoding: TextEncoding, needsLimit: boolean): void {
  const { max_tokens: limit } = fields;
  if (limit === undefined && needsLimit) {
    throw invalid('max_tokens', '`max_tokens` is missing. Say how many tokens the answer may have.');
  }
  checkLimit(limit, 'max_tokens', encoding);
  checkRange(fields.temperature, 'temperature', 1, encoding);
  checkRange(fields.top_p, 'top_p', 1, encoding);
  checkRange(fields.top_k, 'top_k', Number.MAX_SAFE_INTEGER, encoding);
  if (fields.stream !== undefined) checkType(fields.stream, 'stream', 'boolean', 'a boolean', encoding);
  if (fields.service_tier !== undefined) checkType(fields.service_tier, 'service_tier', 'string', 'a string', encoding);
  for (const param of ['thinking', 'tool_choice', 'metadata', 'output_config', 'context_management']) {
    if (fields[param] !== undefined) checkObject(fields[param], param, encoding);
  }
  checkMemberCount(fields.output_config, 'output_config');
  checkSystem(fields.system, encoding);
  checkEntries(fields.stop_sequences, 'stop_sequences', listOfTexts, encoding);
  checkMembers(fields, encoding);
  checkTools(fields, encoding);
}

/** Members of objects, with the type that each must have. */
const members: readonly (readonly [
  field: string,
  member: string,
  type: 'string' | 'number' | 'object',
  expected: string,
])[] = [
  ['metadata', 'user_id', 'string', 'a string'],
  ['thinking', 'type', 'string', 'a string'],
  ['thinking', 'budget_tokens', 'number', 'a number'],
  ['output_config', 'effort', 'string', 'a string'],
  ['output_config', 'format', 'object', 'an object'],
];

function checkMembers(fields: Fields, encoding: TextEncoding): void {
  for (const [field, member, type, expected] of members) {
    const value = (fields[field] as Fields | undefined)?.[member];
    if (value === undefined || value === null) continue;
    const param = `${field}.${member}`;
    if (type === 'object') checkObject(value, param, encoding);
    else checkType(value, param, type, expected, encoding);
  }
}

function checkTools({ tools, tool_choice: choice }: Fields, encoding: TextEncoding): void {
  checkEntries(tools, 'tools', listOfTools, encoding);
  ((tools ?? []) as Fields[]).forEach((tool, at) => {
    checkInnerNames(tool, () => `tools[${at}]`, encoding);
    const wrong = wrongOf(tool);
    if (wrong) throw invalid('tools', `tools[${at}] ${wrong}.`);
  });
  if (!isFields(choice)) return;
  if (typeof choice.type !== 'string')
    throw invalid('tool_choice', '`tool_choice` has no `type`, which must be a string.');
  if (choice.type === 'tool' && typeof choice.name !== 'string') {
    throw invalid('tool_choice', '`tool_choice` is of the type "tool", but has no `name`.');
  }
}

/** A tool without a type is a function of the client, which has a name and a schema. Others have what their type needs. */
function wrongOf({ type, name, description, input_schema }: Fields): string | null {
  if (type !== undefined && type !== null && typeof type !== 'string') return 'has a `type` that is not a string';
  if (typeof type === 'string' && type !== 'custom') return null;
  if (typeof name !== 'string' || name === '') return 'has no `name`';
  if (!isFields(input_schema)) return 'has no `input_schema`, which must be an object';
  if (description === undefined || description === null || typeof description === 'string') return null;
  return 'has a `description` that is not a string';
}

function invalid(param: string, what: string): Error {
  return gatewayError('request_invalid', { param, what });
}
