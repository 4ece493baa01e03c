/** Parses a validated chat request for dialects that translate it. A null value counts as absent. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { type Conversation, type Fields, isFields, textOrNull } from './conversation.js';
import { readMessages } from './read-messages.js';
import { booleanOrNull, type ReadTools, readTools } from './read-tools.js';

export type { ToolDefinition } from './read-tools.js';

export interface JsonSchemaFormat {
  name: string | null;
  description: string | null;
  schema: Fields;
  strict: boolean | null;
}

export interface ChatFields extends ReadTools {
  conversation: Conversation;
  /** `max_completion_tokens`, else `max_tokens`. */
  maxTokens: number | null;
  temperature: number | null;
  topP: number | null;
  stop: string[];
  /** Only of a `response_format` of type `json_schema`. */
  jsonSchema: JsonSchemaFormat | null;
  /** As the client wrote it: `none`, `minimal`, `low`, … */
  reasoningEffort: string | null;
  /** Every field of the request. */
  fields: Fields;
  /** Fields that are not OpenAI's: they go to the provider unchanged. */
  rest: Fields;
}

/** OpenAI's fields: those that are read above, those that a dialect may translate, and hints that may be dropped. */
const openAiFields = new Set(
  (
    'messages tools tool_choice functions function_call parallel_tool_calls max_completion_tokens max_tokens temperature top_p stop response_format ' +
    'reasoning_effort n logprobs top_logprobs logit_bias seed frequency_penalty presence_penalty user safety_identifier ' +
    'metadata store service_tier prediction verbosity prompt_cache_key prompt_cache_retention prompt_cache_options'
  ).split(' '),
);

/** `unsupported` names parameters that the route does not accept: they are dropped. */
export function readChat(
  { members, encoding }: Pick<ChatRequest, 'members' | 'encoding'>,
  unsupported: readonly string[] = [],
): ChatFields {
  const text = typeof members === 'string' ? members : members.toString(encoding);
  const fields = JSON.parse(`{${text}}`) as Fields;
  for (const name of unsupported) delete fields[name];
  return {
    conversation: readMessages(fields.messages as unknown[]),
    ...readTools(fields),
    maxTokens: numberOrNull(fields.max_completion_tokens) ?? numberOrNull(fields.max_tokens),
    temperature: numberOrNull(fields.temperature),
    topP: numberOrNull(fields.top_p),
    stop: stopSequences(fields.stop),
    jsonSchema: jsonSchema(fields.response_format),
    reasoningEffort: textOrNull(fields.reasoning_effort),
    fields,
    rest: Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isOpenAiField(name, value))),
  };
}

/** `modalities: ["text"]` asks for nothing. */
function isOpenAiField(name: string, value: unknown): boolean {
  return value === null || openAiFields.has(name) || (name === 'modalities' && String(value) === 'text');
}

/** The body to send: latin1 text, or UTF-8 bytes where the request was read as UTF-8. */
export function bodyOf(value: unknown, encoding: TextEncoding): Latin1Text | Buffer {
  const text = JSON.stringify(value);
  return encoding === 'latin1' ? asLatin1(text) : Buffer.from(text, 'utf8');
}

/** An ordinary string in the encoding of the request's strings. */
export function asEncoded(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? encodeLatin1(text) : text;
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
