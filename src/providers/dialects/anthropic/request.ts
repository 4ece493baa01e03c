/** A chat request in the words of the Messages API. Only what the caller sent goes out, and `max_tokens`, which must. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import { type Fields, isFields, textOrNull } from '../chat-parts/items.js';
import { beganWithoutReasoning } from '../chat-parts/open-round.js';
import { beside, bodyOf, type Chat, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { messagesOf, systemOf, thinkingBlock } from './blocks.js';

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

/** What a Claude model takes, by the version in its name, whatever the platform writes around it. */

export interface ClaudeTraits {
  /** Takes a budget of tokens for thinking; later models take an effort. Neither understands the other's. */
  readonly takesBudget: boolean;
  /** Refuses `temperature` and `top_p` in one request. */
  readonly samplesByOne: boolean;
  /** What it refuses altogether, for routes of which the catalogue does not say it. */
  readonly unsupported: readonly string[];
}

const unknown: ClaudeTraits = { takesBudget: false, samplesByOne: false, unsupported: [] };
const known = new Map<string, ClaudeTraits>();

/** `claude-3-7-sonnet-…`, `claude-sonnet-4-…`, `claude-opus-4.5`, `eu.anthropic.claude-fable-5-v1:0`. */
export function claudeTraits(model: string): ClaudeTraits {
  let traits = known.get(model);
  if (traits === undefined) {
    traits = traitsOf(model);
    known.set(model, traits);
  }
  return traits;
}

const sampling = ['temperature', 'top_p', 'top_k'];

function traitsOf(model: string): ClaudeTraits {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?/i.exec(model);
  if (!match) return unknown;
  const version = Number(match[1]) * 100 + Number(match[2] ?? 0);
  return { takesBudget: version < 406, samplesByOne: version >= 401, unsupported: version >= 407 ? sampling : [] };
}

// * `reasoning_effort` in the words that a model understands: up to version 4.5 a budget of tokens, from 4.6 on an effort, with
// which the model decides itself how much it thinks. Neither understands the other's.

export interface Thinking {
  thinking?: Fields;
  /** For `output_config`. */
  effort?: string;
}

/** Parts of `max_tokens`, which thinking is counted in. */
const budgetShares: Record<string, number> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95, max: 0.95 };
const budgetMin = 1024;

/**
 * A budget demands that a round of tool calls began with thoughts, and most clients do not send them back: with
 * `thoughtsLost` such a round goes on without thinking. With an effort nothing of the kind is demanded.
 */
export function thinkingOf(effort: string | null, model: string, maxTokens: number, thoughtsLost: boolean): Thinking {
  if (effort === null) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (!claudeTraits(model).takesBudget) {
    return {
      thinking: { type: 'adaptive', display: 'summarized' },
      effort: effort === 'minimal' ? 'low' : effort,
    };
  }
  if (thoughtsLost) return {};
  const budget = Math.max(budgetMin, Math.floor(maxTokens * (budgetShares[effort] ?? 0.5)));
  // An answer too short to think before it is answered without thinking.
  return budget < maxTokens ? { thinking: { type: 'enabled', budget_tokens: budget } } : {};
}
