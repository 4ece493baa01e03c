/** Reads the tools of a chat request, and which of them the model may or must call, in every shape that clients send. */
import { type Fields, isFields, textOrNull } from './conversation.js';

export interface ToolDefinition {
  name: string;
  description: string | null;
  /** A JSON schema; null where the function takes no arguments. */
  parameters: Fields | null;
  strict: boolean | null;
  cacheControl?: unknown;
}

type ToolChoice = { kind: 'auto' | 'none' | 'required' } | { kind: 'tool'; name: string };

export interface ReadTools {
  tools: ToolDefinition[];
  /** Tools that are not functions, as the client wrote them. */
  otherTools: unknown[];
  /** Null where the request leaves the choice to the model, or has an unknown shape. */
  toolChoice: ToolChoice | null;
  parallelToolCalls: boolean | null;
}

export function readTools(fields: Fields): ReadTools {
  const given = Array.isArray(fields.tools) ? fields.tools : [];
  // `functions` and `function_call` are OpenAI's older names.
  const older = Array.isArray(fields.functions) ? fields.functions.map((each) => ({ function: each })) : [];
  const definitions = [...given, ...older].map(toolDefinition);
  const tools = definitions.filter((tool) => tool !== null);
  const choice = fields.tool_choice ?? fields.function_call;
  return {
    tools: allowedTools(tools, choice),
    otherTools: given.filter((_, index) => definitions[index] === null),
    toolChoice: toolChoice(choice, tools),
    parallelToolCalls: booleanOrNull(fields.parallel_tool_calls) ?? oneAtATime(choice),
  };
}

function toolDefinition(tool: unknown): ToolDefinition | null {
  if (!isFields(tool) || !isFields(tool.function) || typeof tool.function.name !== 'string') return null;
  const { name, description, parameters, strict, cache_control } = tool.function;
  const read: ToolDefinition = {
    name,
    description: textOrNull(description),
    parameters: isFields(parameters) ? parameters : null,
    strict: booleanOrNull(strict),
  };
  const marker = tool.cache_control ?? cache_control;
  if (isFields(marker)) read.cacheControl = marker;
  return read;
}

/** The names of the three choices, of OpenAI, Mistral, Anthropic, Bedrock and Gemini. */
const kinds: Record<string, 'auto' | 'none' | 'required'> = {
  auto: 'auto',
  none: 'none',
  required: 'required',
  any: 'required',
};

function toolChoice(choice: unknown, tools: readonly ToolDefinition[]): ToolChoice | null {
  if (typeof choice === 'string') {
    // Some clients send the name of the tool.
    return tools.some(({ name }) => name === choice) ? { kind: 'tool', name: choice } : kindOf(choice);
  }
  if (!isFields(choice)) return null;
  const name = toolNameIn(choice);
  if (name !== null) return { kind: 'tool', name };
  const { type, mode, auto, any, functionCallingConfig } = choice;
  if (type === 'allowed_tools') return kindOf(isFields(choice.allowed_tools) ? choice.allowed_tools.mode : mode);
  if (isFields(auto)) return { kind: 'auto' };
  if (isFields(any)) return { kind: 'required' };
  return kindOf(isFields(functionCallingConfig) ? functionCallingConfig.mode : type);
}

function kindOf(word: unknown): ToolChoice | null {
  const kind = typeof word === 'string' ? kinds[word.toLowerCase()] : undefined;
  return kind === undefined ? null : { kind };
}

/** The name in `{type: 'function', function: {name}}` and in the shapes of other protocols. */
function toolNameIn(choice: Fields): string | null {
  for (const holder of [choice.function, choice.custom, choice.tool, choice]) {
    if (isFields(holder) && typeof holder.name === 'string' && holder.name !== '') return holder.name;
  }
  return null;
}

/** Other dialects cannot restrict the choice to some tools, so only those are declared; all of them where none is left. */
function allowedTools(tools: ToolDefinition[], choice: unknown): ToolDefinition[] {
  if (!isFields(choice) || choice.type !== 'allowed_tools') return tools;
  const list = isFields(choice.allowed_tools) ? choice.allowed_tools.tools : choice.tools;
  const names = new Set(Array.isArray(list) ? list.filter(isFields).map(toolNameIn) : []);
  const allowed = tools.filter(({ name }) => names.has(name));
  return allowed.length > 0 ? allowed : tools;
}

/** Anthropic's tool choice has its own flag for this. */
function oneAtATime(choice: unknown): boolean | null {
  return isFields(choice) && choice.disable_parallel_tool_use === true ? false : null;
}

export function booleanOrNull(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
