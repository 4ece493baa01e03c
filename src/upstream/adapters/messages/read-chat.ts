/** A validated chat request taken apart for a dialect that has words of its own for all of it. Nulls are the same as nothing. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { type Conversation, type Fields, isFields, textOrNull } from './items.js';
import { readMessages } from './read-messages.js';

export interface ToolDefinition {
  name: string;
  description: string | null;
  /** A JSON schema; null where the function takes nothing. */
  parameters: Fields | null;
  strict: boolean | null;
  cacheControl?: unknown;
}

export type ToolChoice =
  | { kind: 'auto' | 'none' | 'required' }
  | { kind: 'tool'; name: string }
  /** A shape that not every dialect has, as the caller wrote it. */
  | { kind: 'other'; value: unknown };

export interface JsonSchemaFormat {
  name: string | null;
  description: string | null;
  schema: Fields;
  strict: boolean | null;
}

export interface Chat {
  conversation: Conversation;
  tools: ToolDefinition[];
  /** Tools that are no functions, as the caller wrote them. */
  otherTools: unknown[];
  toolChoice: ToolChoice | null;
  parallelToolCalls: boolean | null;
  /** `max_completion_tokens`, else `max_tokens`. */
  maxTokens: number | null;
  temperature: number | null;
  topP: number | null;
  stop: string[];
  /** Only of a `response_format` of type `json_schema`. */
  jsonSchema: JsonSchemaFormat | null;
  /** As it was written: `none`, `minimal`, `low`, … */
  reasoningEffort: string | null;
  /** Every field that the caller sent, for what is not above. */
  fields: Fields;
  /** Fields that are not OpenAI's: they go to the provider as they are (contract 4.1). */
  rest: Fields;
}

/** OpenAI's fields that are read above, or that a dialect may have a word for, or that are hints which change no answer's meaning. */
const ownFields = new Set(
  (
    'messages tools tool_choice parallel_tool_calls max_completion_tokens max_tokens temperature top_p stop response_format ' +
    'reasoning_effort n logprobs top_logprobs logit_bias seed frequency_penalty presence_penalty user safety_identifier ' +
    'metadata store service_tier prediction verbosity prompt_cache_key prompt_cache_retention'
  ).split(' '),
);

export function readChat({ members, encoding }: Pick<ChatRequest, 'members' | 'encoding'>): Chat {
  const text = typeof members === 'string' ? members : members.toString(encoding);
  const fields = JSON.parse(`{${text}}`) as Fields;
  const tools = Array.isArray(fields.tools) ? fields.tools : [];
  const functions = tools.map(toolDefinition);
  return {
    conversation: readMessages(fields.messages as unknown[]),
    tools: functions.filter((tool) => tool !== null),
    otherTools: tools.filter((_, index) => functions[index] === null),
    toolChoice: toolChoice(fields.tool_choice),
    parallelToolCalls: booleanOrNull(fields.parallel_tool_calls),
    maxTokens: numberOrNull(fields.max_completion_tokens) ?? numberOrNull(fields.max_tokens),
    temperature: numberOrNull(fields.temperature),
    topP: numberOrNull(fields.top_p),
    stop: stopSequences(fields.stop),
    jsonSchema: jsonSchema(fields.response_format),
    reasoningEffort: textOrNull(fields.reasoning_effort),
    fields,
    rest: Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isOwn(name, value))),
  };
}

/** `modalities: ["text"]` asks for nothing. */
function isOwn(name: string, value: unknown): boolean {
  return value === null || ownFields.has(name) || (name === 'modalities' && String(value) === 'text');
}

/** A body as it is sent: latin1 text, or UTF-8 bytes where the request was read as UTF-8. */
export function bodyOf(value: unknown, encoding: TextEncoding): string | Buffer {
  const text = JSON.stringify(value);
  return encoding === 'latin1' ? text : Buffer.from(text, 'utf8');
}

/** A string of ours beside strings of the request. */
export function beside(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? Buffer.from(text, 'utf8').toString('latin1') : text;
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

function toolChoice(choice: unknown): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  const name = isFields(choice) && isFields(choice.function) ? choice.function.name : undefined;
  if (typeof name === 'string') return { kind: 'tool', name };
  return choice === undefined || choice === null ? null : { kind: 'other', value: choice };
}

function stopSequences(stop: unknown): string[] {
  const sequences = Array.isArray(stop) ? stop : [stop];
  return sequences.filter((sequence): sequence is string => typeof sequence === 'string' && sequence !== '');
}

function jsonSchema(format: unknown): JsonSchemaFormat | null {
  if (!isFields(format) || format.type !== 'json_schema') return null;
  const { name, description, schema, strict } = isFields(format.json_schema) ? format.json_schema : {};
  return {
    name: textOrNull(name),
    description: textOrNull(description),
    schema: isFields(schema) ? schema : {},
    strict: booleanOrNull(strict),
  };
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function booleanOrNull(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
