/** A chat request in the words of the Messages API. Only what the caller sent goes out, and `max_tokens`, which must. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import { type Fields, isFields, textOrNull } from '../chat-parts/items.js';
import { beganWithoutReasoning } from '../chat-parts/open-round.js';
import { beside, bodyOf, type Chat, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { messagesOf, systemOf, thinkingBlock } from './blocks.js';
import { claudeTraits } from './claude.js';
import { thinkingOf } from './thinking.js';

export const messagesPath = '/messages';

/** For a model whose catalogue entry has no limit. */
const outputTokensAssumed = 4096;

export function messagesBody(request: ChatRequest, target: Target): string | Buffer {
  const { encoding, stream } = request;
  const claude = claudeTraits(target.upstreamModel);
  const chat = readChat(request, target.unsupportedParameters ?? claude.unsupported);
  const { conversation, maxTokens, temperature, topP, stop, fields, rest } = chat;
  const max = maxTokens ?? target.maxOutputTokens ?? outputTokensAssumed;
  const thoughtsLost = beganWithoutReasoning(conversation.turns, (item) => thinkingBlock(item) !== undefined);
  const { thinking, effort } = thinkingOf(chat.reasoningEffort, target.upstreamModel, max, thoughtsLost);
  const body: Fields = {
    model: beside(target.upstreamModel, encoding),
    max_tokens: max,
    stream,
    system: systemOf(conversation.system),
    messages: messagesOf(conversation.turns),
    tools: toolsOf(chat),
    tool_choice: toolChoiceOf(chat),
    stop_sequences: stop.length > 0 ? stop : undefined,
    // Its range is half of OpenAI's: what is above is the most that there is.
    temperature: temperature === null ? undefined : Math.min(temperature, 1),
    top_p: topP === null || (temperature !== null && claude.samplesByOne) ? undefined : topP,
    metadata: metadataOf(fields),
    service_tier: serviceTierOf(fields.service_tier),
    thinking,
    // Words of the provider's own that the caller used win over ours.
    ...rest,
    output_config: outputConfigOf(chat, effort, rest.output_config),
  };
  return bodyOf(body, encoding);
}

function toolsOf({ tools, otherTools }: Chat): unknown[] | undefined {
  if (tools.length === 0 && otherTools.length === 0) return undefined;
  return [...tools.map(toolOf), ...otherTools];
}

function toolOf({ name, description, parameters, strict, cacheControl }: ToolDefinition): Fields {
  return {
    name,
    description: description ?? undefined,
    input_schema: parameters ?? { type: 'object', properties: {} },
    strict: strict ? true : undefined,
    cache_control: cacheControl,
  };
}

/** Without tools, `auto` and `none` ask for nothing, and would be refused. */
function toolChoiceOf({ toolChoice, parallelToolCalls, tools, otherTools }: Chat): unknown {
  const kind = toolChoice?.kind ?? 'auto';
  if (tools.length + otherTools.length === 0 && (kind === 'auto' || kind === 'none')) return undefined;
  if (kind === 'none') return { type: 'none' };
  const oneAtATime = parallelToolCalls === false ? { disable_parallel_tool_use: true } : undefined;
  if (toolChoice === null) return oneAtATime && { type: 'auto', ...oneAtATime };
  if (toolChoice.kind === 'tool') return { type: 'tool', name: toolChoice.name, ...oneAtATime };
  return { type: kind === 'required' ? 'any' : 'auto', ...oneAtATime };
}

function metadataOf({ safety_identifier, user, metadata }: Fields): Fields | undefined {
  const userId =
    textOrNull(safety_identifier) ?? textOrNull(user) ?? (isFields(metadata) ? textOrNull(metadata.user_id) : null);
  return userId === null ? undefined : { user_id: userId };
}

/** `auto` takes what priority was bought; words that others have for cheaper service have no like here. */
const serviceTiers: Record<string, string> = {
  auto: 'auto',
  priority: 'auto',
  default: 'standard_only',
  standard: 'standard_only',
  standard_only: 'standard_only',
};

function serviceTierOf(tier: unknown): string | undefined {
  return typeof tier === 'string' ? serviceTiers[tier] : undefined;
}

function outputConfigOf({ jsonSchema }: Chat, effort: string | undefined, own: unknown): Fields | undefined {
  const config: Fields = {
    ...(effort !== undefined && { effort }),
    ...(jsonSchema && { format: { type: 'json_schema', schema: jsonSchema.schema } }),
    ...(isFields(own) && own),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}
