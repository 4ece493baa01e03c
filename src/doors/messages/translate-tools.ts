/** Translates the tools of a Messages request to the chat format, and finds those that run at the provider. */
import { entryOf } from '../../wire/json-text.js';
import { type Fields, isFields } from '../body.js';
import { hostedNames } from '../chat/priced-extras.js';
import { noteMembers, type ToolNotes } from '../tool-members.js';

interface TranslatedTools {
  written(marked: boolean): Fields;
}

/** Dates that versions of a tool have: `web_search_20260209`. */
const version = /_\d{8}$/;
/** Tools of Anthropic's that the client runs itself, or that are those of `mcp_servers`. */
const clientTools = /^(?:bash|text_editor|str_replace|memory|computer|browser|mcp_toolset)/;

export function translateTools(
  { tools, tool_choice }: Fields,
  { inexpressible, optional }: ToolNotes,
): TranslatedTools {
  const given = (Array.isArray(tools) ? tools : []).filter(isFields);
  const functions = given.filter(isFunction);
  const choice = isFields(tool_choice) ? tool_choice : undefined;
  for (const tool of given) {
    if (isFunction(tool)) continue;
    const name = nameOf(tool);
    if (clientTools.test(name)) {
      inexpressible.push({ param: 'tools', reason: `does not support the tool "${name}"` });
      continue;
    }
    const isForced = choice?.type === 'any' ? functions.length === 0 : choice?.name === tool.name;
    if (choice !== undefined && isForced && choice.type !== 'auto' && choice.type !== 'none') {
      inexpressible.push({ param: 'tools', reason: `cannot run the tool "${name}", which the request demands,` });
    } else {
      optional.push({ name: `tools.${name}`, word: null });
    }
  }
  for (const tool of functions) noteMembers(tool, knownMembers, { inexpressible, optional });
  noteChoice(choice, { functions: functions.length, tools: given }, { inexpressible, optional });
  const marks = functions.some(({ cache_control }) => isFields(cache_control));
  if (marks) optional.push({ name: 'cache_control', word: 'cache_control' });
  return {
    written: (marked) => ({
      ...(functions.length > 0 && { tools: functions.map((tool) => functionTool(tool, marked)) }),
      ...(functions.length > 0 && choiceOf(choice)),
    }),
  };
}

const nothing: readonly string[] = [];

/** All tools of a request: the conversation may add some. */
export function allTools({ tools, messages }: Fields): readonly Fields[] {
  const declared = (Array.isArray(tools) ? tools : []).filter(isFields);
  const added = (messages as readonly Fields[]).flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isFields).flatMap(toolsInBlock) : [],
  );
  return added.length === 0 ? declared : [...declared, ...added];
}

/** Tools that a block of a conversation defines. */
export function toolsInBlock({ type, tool, tool_changes: changes }: Fields): readonly Fields[] {
  if (type === 'compaction' && Array.isArray(changes)) return changes.filter(isFields).flatMap(toolsInBlock);
  return type === 'tool_addition' && isFields(tool) && isFields(tool.definition) ? [tool.definition] : [];
}

/** Tools that run at the provider and have a price of their own. */
export function hostedTools(tools: readonly Fields[]): readonly string[] {
  if (tools.length === 0) return nothing;
  const others = tools.filter((tool) => !isFunction(tool)).map(nameOf);
  return hostedNames(others.filter((name) => !clientTools.test(name)));
}

/** Names a tool that runs at the provider and that the request can do without; undefined for any other. */
export function optionalTool(fields: Fields): (tool: Fields) => string | undefined {
  const given = (Array.isArray(fields.tools) ? fields.tools : []).filter(isFields);
  const elsewhere = hostedTools(allTools({ messages: fields.messages }));
  const choice = isFields(fields.tool_choice) ? fields.tool_choice : {};
  // A tool must be called, and only those of the provider are there.
  if (choice.type === 'any' && given.every((tool) => hostedTools([tool]).length > 0)) return () => undefined;
  const callers = given.flatMap(({ allowed_callers: allowed }) => (Array.isArray(allowed) ? allowed : []));
  return (tool) => {
    const [name] = hostedTools([tool]);
    const isNeeded = (choice.type === 'tool' && choice.name === tool.name) || callers.includes(tool.type);
    return name === undefined || isNeeded || elsewhere.includes(name) ? undefined : name;
  };
}

function nameOf({ type }: Fields): string {
  return String(type).replace(version, '');
}

const knownMembers = ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'];

interface Offered {
  readonly functions: number;
  readonly tools: readonly Fields[];
}

/** A choice that no translation of the tools can keep. One that demands a tool of the provider is noted with the tool. */
function noteChoice(choice: Fields | undefined, { functions, tools }: Offered, notes: ToolNotes): void {
  if (choice === undefined) return;
  const { type, name } = choice;
  const refuse = (reason: string): void => void notes.inexpressible.push({ param: 'tool_choice', reason });
  if (type === 'tool') {
    if (functions === 0 && !tools.some((tool) => tool.name === name))
      refuse('has no tool that it could be made to use');
  } else if (entryOf(choices, String(type)) === undefined)
    refuse(`does not support a tool choice of the type "${String(type)}"`);
  else if (tools.length === 0 && type === 'any') refuse('has no tool that it could be made to use');
  else if (tools.length === 0) notes.optional.push({ name: 'tool_choice', word: null });
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
    choice.type === 'tool'
      ? { type: 'function', function: { name: choice.name } }
      : entryOf(choices, String(choice.type));
  return {
    ...(word !== undefined && { tool_choice: word }),
    ...(choice.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}
