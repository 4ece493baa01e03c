/** Translates a chat request to the Messages API. Only what the client sent goes out, and `max_tokens`, which is required. */
import type { Latin1Text } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { partialBits } from '../../../wire/partial-fields.js';
import { beganWithoutReasoning, type Fields, isFields, textOrNull } from '../chat-parts/conversation.js';
import { asEncoded, bodyOf, type ChatFields, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { messagesOf, systemOf, thinkingBlock } from './blocks.js';
import { claudeTraits, thinkingOf } from './claude.js';

export const messagesPath = '/messages';

/** The limit for a model whose catalogue entry has none. */
const defaultMaxTokens = 4096;

/** `head` is the member that names the model, or what a platform has in its place. */
export function messagesBody(
  request: ChatRequest,
  target: Target,
  head: Fields = { model: asEncoded(target.upstreamModel, request.encoding) },
): Latin1Text | Buffer {
  const { encoding, stream } = request;
  const claude = claudeTraits(target.upstreamModel);
  const chat = readChat(request, target.unsupportedParameters ?? claude.unsupported);
  const { conversation, maxTokens, temperature, topP, stop, fields, rest } = chat;
  const max = maxTokens ?? target.maxOutputTokens ?? defaultMaxTokens;
  const thoughtsLost = beganWithoutReasoning(conversation.turns, (item) => thinkingBlock(item) !== undefined);
  const { thinking, effort } = thinkingOf(chat.reasoningEffort, target.upstreamModel, max, thoughtsLost);
  const body: Fields = {
    ...head,
    max_tokens: max,
    stream,
    system: systemOf(conversation.system),
    messages: messagesOf(conversation.turns),
    tools: toolsOf(chat),
    tool_choice: toolChoiceOf(chat),
    stop_sequences: stop.length > 0 ? stop : undefined,
    // The maximum is 1, and 2 with OpenAI.
    temperature: temperature === null ? undefined : Math.min(temperature, 1),
    top_p: topP === null || (temperature !== null && claude.samplesByOne) ? undefined : topP,
    metadata: metadataOf(fields),
    service_tier: serviceTierOf(fields.service_tier),
    thinking,
    // Fields of the provider's own API that the client sent win over translated ones.
    ...rest,
    output_config: outputConfigOf(chat, effort, rest.output_config),
  };
  return bodyOf(body, encoding);
}

function toolsOf({ tools, otherTools }: ChatFields): unknown[] | undefined {
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

/** Without tools, Anthropic rejects `auto` and `none`, which then ask for nothing. */
function toolChoiceOf({ toolChoice, parallelToolCalls, tools, otherTools }: ChatFields): unknown {
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

/** `auto` uses priority capacity where there is any. Cheaper tiers of other providers have no equivalent. */
const serviceTiers: Record<string, string> = {
  auto: 'auto',
  priority: 'auto',
  default: 'standard_only',
  standard: 'standard_only',
  standard_only: 'standard_only',
};

/** The bit of a tier that has no equivalent. */
export function unknownTier({ extras }: Pick<ChatRequest, 'extras'>): number {
  return extras?.tier != null && serviceTiers[extras.tier] === undefined ? partialBits.service_tier : 0;
}

function serviceTierOf(tier: unknown): string | undefined {
  return typeof tier === 'string' ? serviceTiers[tier] : undefined;
}

function outputConfigOf({ jsonSchema }: ChatFields, effort: string | undefined, own: unknown): Fields | undefined {
  const config: Fields = {
    ...(effort !== undefined && { effort }),
    ...(jsonSchema && { format: { type: 'json_schema', schema: jsonSchema.schema } }),
    ...(isFields(own) && own),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}
