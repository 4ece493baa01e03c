/** Translates the tools of a Responses request to the chat format. Tools that are not functions exist on native routes only. */
import { containerTool } from '../../wire/container-tools.js';
import { type Fields, isFields } from '../body.js';
import { hostedNames } from '../chat/priced-extras.js';
import { noteMembers, type ToolNotes } from '../tool-members.js';

interface TranslatedTools {
  readonly written: Fields;
  /** The namespace of functions that were in one, by their names. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/** Versions that providers put behind the name of a tool: `web_search_preview_2025_03_11`. */
const version = /_(?:preview(?:_[\d_]+)?|\d{4}_\d{2}_\d{2}|\d{8})$/;
/** Tools that the client runs, though they are not functions. */
const clientTools = new Set([
  'custom',
  'local_shell',
  'shell',
  'apply_patch',
  'computer',
  'computer_use',
  'tool_search',
]);

export function translateTools(
  { tools, tool_choice, parallel_tool_calls }: Fields,
  { inexpressible, optional }: ToolNotes,
): TranslatedTools {
  const { functions, others, namespaces } = sortTools(tools);
  for (const tool of functions) noteMembers(tool, knownMembers, { inexpressible, optional });
  const choice = choiceOf(tool_choice, functions.length);
  for (const name of new Set(others)) {
    if (choice.demands === name || (choice.demands === 'any' && functions.length === 0)) {
      inexpressible.push({ param: 'tools', reason: `cannot run the tool "${name}", which the request demands,` });
    } else optional.push({ name: `tools.${name}`, word: null });
  }
  if (choice.demands !== null && choice.demands !== 'any' && !others.includes(choice.demands)) {
    inexpressible.push({ param: 'tool_choice', reason: `cannot be made to use "${choice.demands}"` });
  }
  const reason = choice.demands === 'any' && others.length === 0 ? noTool : choice.cannot;
  if (reason !== undefined) inexpressible.push({ param: 'tool_choice', reason });
  const written = {
    ...(functions.length > 0 && { tools: functions.map(functionTool) }),
    ...(functions.length > 0 && choice.word !== undefined && { tool_choice: choice.word }),
    ...(functions.length > 0 && parallel_tool_calls === false && { parallel_tool_calls }),
  };
  return { written, namespaces };
}

interface SortedTools {
  readonly functions: readonly Fields[];
  /** The names of all other tools. */
  readonly others: readonly string[];
  readonly namespaces: ReadonlyMap<string, string>;
}

function sortTools(tools: unknown): SortedTools {
  const functions: Fields[] = [];
  const others: string[] = [];
  const namespaces = new Map<string, string>();
  for (const tool of (Array.isArray(tools) ? tools : []).filter(isFields)) {
    if (tool.type === 'function') functions.push(tool);
    else if (tool.type === 'namespace') {
      for (const inner of (Array.isArray(tool.tools) ? tool.tools : []).filter(isFields)) {
        if (inner.type !== 'function' && inner.type !== undefined) {
          others.push(String(inner.type));
          continue;
        }
        functions.push(inner);
        namespaces.set(String(inner.name), String(tool.name));
      }
    } else others.push(containerTool(tool) ?? String(tool.type).replace(version, ''));
  }
  return { functions, others, namespaces };
}

const nothing: readonly string[] = [];

/** Items that bring tools with them. */
const itemsWithTools = ['additional_tools', 'tool_search_output'];

/** All tools of a request: the conversation may add some. */
export function allTools({ tools, input }: Fields): readonly Fields[] {
  const declared = (Array.isArray(tools) ? tools : []).filter(isFields);
  const added = (Array.isArray(input) ? input : []).filter(isFields).flatMap(toolsInItem);
  return added.length === 0 ? declared : [...declared, ...added];
}

/** Tools that an item of a conversation defines. */
export function toolsInItem({ type, tools }: Fields): readonly Fields[] {
  return Array.isArray(tools) && itemsWithTools.includes(String(type)) ? tools.filter(isFields) : [];
}

/** Tools that run at the provider and have a price of their own. */
export function hostedTools(tools: readonly Fields[]): readonly string[] {
  if (tools.length === 0) return nothing;
  return hostedNames(sortTools(tools).others.filter((name) => !clientTools.has(name)));
}

/** Names a tool that runs at the provider and that the request can do without; undefined for any other. */
export function optionalTool({ tools, tool_choice: choice, input }: Fields): (tool: Fields) => string | undefined {
  const given = (Array.isArray(tools) ? tools : []).filter(isFields);
  const inside = [...allTools({ input }), ...given.filter(({ type }) => type === 'namespace')];
  const elsewhere = hostedTools(inside);
  const named = choiceTypes(choice);
  // A tool must be called, and only those of the provider are there.
  if (choice === 'required' && given.every((tool) => hostedName(tool) !== undefined)) return () => undefined;
  return (tool) => {
    const name = hostedName(tool);
    return name === undefined || elsewhere.includes(name) || named.includes(typeOf(tool)) ? undefined : name;
  };
}

/** The types of tools that a choice names: one that must be called, or those that may be. */
function choiceTypes(choice: unknown): readonly string[] {
  if (!isFields(choice)) return nothing;
  return [choice, ...(Array.isArray(choice.tools) ? choice.tools.filter(isFields) : [])].map(typeOf);
}

function hostedName(tool: Fields): string | undefined {
  return tool.type === 'namespace' ? undefined : hostedTools([tool])[0];
}

function typeOf({ type }: Fields): string {
  return String(type).replace(version, '');
}

const knownMembers = ['type', 'name', 'description', 'parameters', 'strict'];

function functionTool({ name, description, parameters, strict }: Fields): Fields {
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      ...(isFields(parameters) && { parameters }),
      ...(strict === true && { strict }),
    },
  };
}

const noTool = 'has no tool that it could be made to use';

interface Choice {
  readonly word?: unknown;
  /** A tool that is no function, `any`, or null where nothing is demanded of such tools. */
  readonly demands: string | null;
  /** Why no route can keep it. */
  readonly cannot?: string;
}

function choiceOf(choice: unknown, functions: number): Choice {
  if (choice === undefined || choice === 'auto' || choice === 'none') return { word: choice, demands: null };
  if (choice === 'required') return { word: choice, demands: functions === 0 ? 'any' : null };
  if (!isFields(choice)) return { demands: null, cannot: `does not support the tool choice "${String(choice)}"` };
  const { type, name, mode, tools } = choice;
  const missing = functions === 0 && { cannot: noTool };
  if (type === 'function') return { word: { type, function: { name } }, demands: null, ...missing };
  if (type !== 'allowed_tools') return { demands: String(type).replace(version, '') };
  const named = (Array.isArray(tools) ? tools : []).filter(isFields).filter((tool) => tool.type === 'function');
  if (named.length === 0) return withoutFunctions(mode, tools);
  const allowed = named.map((tool) => ({ type: 'function', function: { name: tool.name } }));
  const word = { type, allowed_tools: { mode, tools: allowed } };
  return { word, demands: null, ...(mode === 'required' && missing) };
}

/** A choice among tools of which none is a function: where none must be called, the model goes on without any. */
function withoutFunctions(mode: unknown, tools: unknown): Choice {
  if (mode !== 'required') return { word: 'none', demands: null };
  const [first] = (Array.isArray(tools) ? tools : []).filter(isFields);
  if (first !== undefined) return { demands: typeOf(first) };
  return { demands: null, cannot: noTool };
}
