/** Translates the tools of a Messages request to the chat format, and finds those that run at the provider. */
import type { Inexpressible, OptionalField } from '../../wire/chat-request.js';
import { type Fields, isFields } from '../body.js';

interface TranslatedTools {
  written(marked: boolean): Fields;
  /** Tools that run at the provider and have a price of their own. */
  readonly hosted: readonly string[];
}

/** Dates that versions of a tool have: `web_search_20260209`. */
const version = /_\d{8}$/;
/** Tools of Anthropic's that the client runs itself. */
const clientTools = /^(?:bash|text_editor|str_replace|memory|computer|browser)/;

export function translateTools(
  { tools, tool_choice }: Fields,
  { inexpressible, optional }: { inexpressible: Inexpressible[]; optional: OptionalField[] },
): TranslatedTools {
  const given = (Array.isArray(tools) ? tools : []).filter(isFields);
  const functions = given.filter(isFunction);
  const hosted: string[] = [];
  const choice = isFields(tool_choice) ? tool_choice : undefined;
  for (const tool of given) {
    if (isFunction(tool)) continue;
    const name = String(tool.type).replace(version, '');
    if (clientTools.test(name)) {
      inexpressible.push({ param: 'tools', reason: `has no word for the tool "${name}"` });
      continue;
    }
    hosted.push(name);
    const isForced = choice?.type === 'any' ? functions.length === 0 : choice?.name === tool.name;
    if (choice !== undefined && isForced && choice.type !== 'auto' && choice.type !== 'none') {
      inexpressible.push({ param: 'tools', reason: `cannot run the tool "${name}", which the request demands,` });
    } else {
      optional.push({ name: `tools.${name}`, word: null });
    }
  }
  const marks = functions.some(({ cache_control }) => isFields(cache_control));
  if (marks) optional.push({ name: 'cache_control', word: 'cache_control' });
  return {
    hosted: [...new Set(hosted)],
    written: (marked) => ({
      ...(functions.length > 0 && { tools: functions.map((tool) => functionTool(tool, marked)) }),
      ...(functions.length > 0 && choiceOf(choice)),
    }),
  };
}

function isFunction({ type }: Fields): boolean {
  return type === undefined || type === null || type === 'custom';
}

function functionTool({ name, description, input_schema, strict, cache_control }: Fields, marked: boolean): Fields {
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      parameters: input_schema,
      ...(strict === true && { strict }),
    },
    ...(marked && isFields(cache_control) && { cache_control }),
  };
}

const choices: Record<string, string> = { auto: 'auto', any: 'required', none: 'none' };

function choiceOf(choice: Fields | undefined): Fields {
  if (choice === undefined) return {};
  const word =
    choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choices[String(choice.type)];
  return {
    ...(word !== undefined && { tool_choice: word }),
    ...(choice.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}
