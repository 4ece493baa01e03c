/** Rules for the values of fields as the Messages API has them. What a provider may know and Lodestone does not is left to the provider. */
import { anObject, aText, oneOf, someText, takeTexts } from '../../wire/scan-object.js';
import { type Fields, isFields } from '../body.js';
import { checkInnerNames, refusal } from '../field-table.js';
import {
  anyObject,
  checkTexts,
  checkTools,
  entriesOf,
  type Rule,
  requestObject,
  scanned,
  typedObject,
} from '../rules.js';

export const stopSequences: Rule = { scan: scanned(takeTexts), check: checkTexts };

/** A function of the client. Tools of other types may run at the provider, and have a price. */
const tool = requestObject(
  { type: oneOf({ custom: 0 }), name: someText(0), description: aText(0), input_schema: anObject(0) },
  ['name', 'input_schema'],
);

export const tools: Rule = {
  scan: entriesOf(tool.scan),
  checkInside: (list, param, encoding) => {
    checkTools(list, param, encoding);
    (list as Fields[]).forEach((each, at) => {
      checkInnerNames(each, () => `tools[${at}]`, encoding);
      const wrong = wrongOf(each);
      if (wrong) throw refusal('tools', `tools[${at}] ${wrong}.`);
    });
  },
};

/** A tool without a type is a function of the client, which has a name and a schema. Others have what their type needs. */
function wrongOf({ type, name, description, input_schema }: Fields): string | null {
  if (type !== undefined && type !== null && typeof type !== 'string') return 'has a `type` that is not a string';
  if (typeof type === 'string' && type !== 'custom') return null;
  if (typeof name !== 'string' || name === '') return 'has no `name`';
  if (!isFields(input_schema)) return 'has no `input_schema`, which must be an object';
  if (description === undefined || description === null || typeof description === 'string') return null;
  return 'has a `description` that is not a string';
}

const choice = typedObject({ auto: [], any: [], none: [], tool: ['name'] }, { name: aText(0) });

export const toolChoice: Rule = {
  scan: scanned(choice.scan),
  check: anyObject.check,
  checkInside: (value, param) => {
    const { type, name } = value as Fields;
    if (typeof type !== 'string') throw refusal(param, '`tool_choice` has no `type`, which must be a string.');
    if (type !== 'tool' || typeof name === 'string') return;
    throw refusal(param, '`tool_choice` is of the type "tool", but has no `name`.');
  },
};
