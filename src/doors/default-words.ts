/** What a field of chat completions, as names of the operator have them for their defaults, is called in each client API. */
import { entryOf } from '../wire/json-text.js';
import { type Fields, isFields } from './body.js';

/** A default in the words of an API; null where the API has no word for it. */
export type DefaultWords = (field: string, value: unknown) => Word | null;

/** With the name of the field's member that it is, where it is one. */
type Word = readonly [field: string, value: unknown, member?: string];

/** For chat completions, in whose words defaults are stored. */
export const chatWords: DefaultWords = (field, value) => [field, value];

/** For an API that has some of the fields under the same name. */
function wordsOf(
  same: readonly string[],
  others: Readonly<Record<string, (value: unknown) => Word | null>> = {},
): DefaultWords {
  const kept = new Set(same);
  return (field, value) => {
    if (value === null) return null;
    if (kept.has(field)) return [field, value];
    return Object.hasOwn(others, field) ? others[field]!(value) : null;
  };
}

export const embeddingsWords = wordsOf(['dimensions', 'encoding_format', 'user', 'session_id']);

const outputLimit = (value: unknown): Word => ['max_output_tokens', value];

export const responsesWords = wordsOf(
  [
    ...['temperature', 'top_p', 'top_logprobs', 'service_tier', 'metadata', 'safety_identifier', 'session_id'],
    ...['parallel_tool_calls', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ],
  {
    user: (user) => (typeof user === 'string' ? ['user', user] : null),
    max_tokens: outputLimit,
    max_completion_tokens: outputLimit,
    reasoning: (reasoning) => reasoningOf(reasoning),
    reasoning_effort: (effort) => reasoningOf({ effort }),
    verbosity: (verbosity) => ['text', verbosity, 'verbosity'],
    response_format: (format) => ['text', responsesFormat(format as Fields), 'format'],
    tools: (tools) => eachFunction(tools, 'tools', (tool) => ({ type: 'function', ...tool })),
    tool_choice: (choice) => {
      const name = functionName(choice);
      if (name !== undefined) return ['tool_choice', { type: 'function', name }];
      return typeof choice === 'string' ? ['tool_choice', choice] : null;
    },
  },
);

/** Of what servers of chat completions take, the API has the effort. */
function reasoningOf(reasoning: unknown): Word | null {
  const { effort } = reasoning as Fields;
  return typeof effort === 'string' ? ['reasoning', effort, 'effort'] : null;
}

function responsesFormat(format: Fields): Fields {
  const { json_schema: schema, ...rest } = format;
  return { ...rest, ...(schema as Fields | undefined) };
}

/** `max_tokens` is missing on purpose: the API demands it of the client. */
export const messagesWords = wordsOf(['top_p', 'top_k', 'session_id', 'cache_control', 'thinking'], {
  metadata: (metadata) => userOf((metadata as Fields).user_id),
  user: (user) => userOf(user),
  // The API ends at 1, and chat completions at 2.
  temperature: (value) => ['temperature', Math.min(value as number, 1)],
  stop: (stop) => ['stop_sequences', [stop].flat()],
  reasoning_effort: (effort) =>
    effort === 'none'
      ? ['thinking', { type: 'disabled' }]
      : ['output_config', effort === 'minimal' ? 'low' : effort, 'effort'],
  response_format: (format) => {
    const { type, json_schema: schema } = format as { type?: unknown; json_schema?: Fields };
    return type === 'json_schema' ? ['output_config', { type, schema: schema?.schema }, 'format'] : null;
  },
  tools: (tools) =>
    eachFunction(tools, 'tools', ({ name, description, parameters }) => ({
      ...{ name, input_schema: parameters ?? { type: 'object' } },
      ...(description !== undefined && { description }),
    })),
  tool_choice: (choice) => {
    const name = functionName(choice);
    if (name !== undefined) return ['tool_choice', { type: 'tool', name }];
    const type = entryOf(choiceTypes, String(choice));
    return type === undefined ? null : ['tool_choice', { type }];
  },
});

const choiceTypes: Record<string, string> = { auto: 'auto', none: 'none', required: 'any' };

function userOf(user: unknown): Word | null {
  return typeof user === 'string' ? ['metadata', user, 'user_id'] : null;
}

/** Tools that are no functions belong to one API alone. */
function eachFunction(tools: unknown, field: string, write: (tool: Fields) => Fields): Word | null {
  if (!Array.isArray(tools)) return null;
  const functions = tools.map((tool) => (isFields(tool) && tool.type === 'function' ? tool.function : undefined));
  return functions.every(isFields) ? [field, functions.map(write)] : null;
}

function functionName(choice: unknown): unknown {
  return (choice as { function?: { name?: unknown } } | null)?.function?.name;
}
