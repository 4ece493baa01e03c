/** Translates a chat request to Converse. Only what the client sent goes out, and what the API requires. */
import type { Latin1Text } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { partialBits } from '../../../wire/partial-fields.js';
import { claudeTraits, thinkingOf } from '../anthropic/claude.js';
import { beganWithoutReasoning, type Fields, isFields } from '../chat-parts/conversation.js';
import {
  bodyOf,
  type ChatFields,
  type JsonSchemaFormat,
  readChat,
  type ToolDefinition,
} from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { cachePoint, messagesOf, reasoningBlock, systemOf } from './blocks.js';
import { encodedName } from './names.js';

/** Model ids may be ARNs, whose slashes must be encoded. */
export function conversePath(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

/** The limit for a model whose catalogue entry has none. */
const defaultMaxTokens = 4096;

export function converseBody(request: ChatRequest, target: Target): Latin1Text | Buffer {
  const { encoding } = request;
  const claude = claudeTraits(target.upstreamModel);
  const chat = readChat(request, target.unsupportedParameters ?? claude.unsupported);
  const max = chat.maxTokens ?? target.maxOutputTokens ?? defaultMaxTokens;
  const thoughtsLost = beganWithoutReasoning(chat.conversation.turns, (item) => reasoningBlock(item) !== undefined);
  const { additional, effort } = effortOf(chat.reasoningEffort, target.upstreamModel, max, thoughtsLost);
  const { own, others } = splitFields(chat.rest);
  const body: Fields = {
    system: systemOf(chat.conversation.system, encoding),
    messages: messagesOf(chat.conversation.turns, encoding),
    toolConfig: toolConfigOf(chat, encoding),
    serviceTier: serviceTierOf(chat.fields.service_tier),
    // Fields of the provider's own API that the client sent win over translated ones.
    ...own,
    // A thinking budget is a part of the limit, so the limit must be sent with it.
    inferenceConfig: mergeFields(
      inferenceConfigOf(chat, additional?.thinking ? max : undefined, claude.samplesByOne),
      own.inferenceConfig,
    ),
    outputConfig: mergeFields({ textFormat: textFormatOf(chat.jsonSchema), effort }, own.outputConfig),
    additionalModelRequestFields: mergeFields({ ...additional, ...others }, own.additionalModelRequestFields),
  };
  return bodyOf(body, encoding);
}

const converseMembers = new Set(
  (
    'inferenceConfig outputConfig additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig ' +
    'performanceConfig promptVariables requestMetadata serviceTier toolConfig'
  ).split(' '),
);

/** Fields that are neither OpenAI's nor Converse's belong to the model: they go to `additionalModelRequestFields`. */
function splitFields(rest: Fields): { own: Fields; others: Fields } {
  const entries = Object.entries(rest);
  return {
    own: Object.fromEntries(entries.filter(([name]) => converseMembers.has(name))),
    others: Object.fromEntries(entries.filter(([name]) => !converseMembers.has(name))),
  };
}

function mergeFields(ours: Fields, own: unknown): Fields | undefined {
  const all: Fields = { ...ours, ...(isFields(own) && own) };
  return Object.values(all).some((value) => value !== undefined) ? all : undefined;
}

const serviceTiers: Record<string, string> = {
  default: 'default',
  standard: 'default',
  flex: 'flex',
  priority: 'priority',
  reserved: 'reserved',
};

/** The bit of a tier that has no equivalent. */
export function unknownTier({ extras }: Pick<ChatRequest, 'extras'>): number {
  return extras?.tier != null && serviceTiers[extras.tier] === undefined ? partialBits.service_tier : 0;
}

/** `auto` and unknown tiers leave the choice to the provider. */
function serviceTierOf(tier: unknown): Fields | undefined {
  const type = typeof tier === 'string' ? serviceTiers[tier] : undefined;
  return type === undefined ? undefined : { type };
}

/** `samplesByOne` is explained in anthropic/claude.ts. */
function inferenceConfigOf(
  { maxTokens, temperature, topP, stop }: ChatFields,
  requiredMax: number | undefined,
  samplesByOne: boolean,
): Fields {
  return {
    maxTokens: maxTokens ?? requiredMax,
    // The maximum is 1, and 2 with OpenAI.
    temperature: temperature === null ? undefined : Math.min(temperature, 1),
    topP: topP === null || (temperature !== null && samplesByOne) ? undefined : topP,
    stopSequences: stop.length > 0 ? stop : undefined,
  };
}

function textFormatOf(format: JsonSchemaFormat | null): Fields | undefined {
  if (format === null) return undefined;
  const { name, description } = format;
  const schema = JSON.stringify(format.schema);
  const jsonSchema = { schema, name: name ?? undefined, description: description ?? undefined };
  return { type: 'json_schema', structure: { jsonSchema } };
}

/**
 * Converse has no tool choice `none`: then no tools are declared, unless the conversation has called one, because called tools
 * must be declared. A called tool that the client no longer declares is declared without a description.
 */
function toolConfigOf(chat: ChatFields, encoding: TextEncoding): Fields | undefined {
  const called = calledNames(chat);
  const wanted = chat.toolChoice?.kind !== 'none' || called.size > 0;
  const tools: unknown[] = [...chat.tools.flatMap((tool) => toolsOf(tool, encoding)), ...chat.otherTools];
  if (tools.length > 0 && wanted) return { tools, toolChoice: toolChoiceOf(chat, encoding) };
  if (called.size === 0) return undefined;
  const names = [...called].map((name) => ({ name, description: null, parameters: null, strict: null }));
  return { tools: names.flatMap((tool) => toolsOf(tool, encoding)) };
}

function calledNames({ conversation }: ChatFields): Set<string> {
  const names = new Set<string>();
  for (const { items } of conversation.turns) {
    for (const item of items) if (item.kind === 'tool_call') names.add(item.name);
  }
  return names;
}

function toolsOf(tool: ToolDefinition, encoding: TextEncoding): Fields[] {
  const toolSpec = {
    name: encodedName(tool.name, encoding),
    description: tool.description ?? undefined,
    inputSchema: { json: tool.parameters ?? { type: 'object', properties: {} } },
    strict: tool.strict ? true : undefined,
  };
  return [{ toolSpec }, ...cachePoint(tool)];
}

function toolChoiceOf({ toolChoice }: ChatFields, encoding: TextEncoding): unknown {
  switch (toolChoice?.kind) {
    case 'auto':
      return { auto: {} };
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: encodedName(toolChoice.name, encoding) } };
    default:
      return undefined;
  }
}

interface Effort {
  /** Goes into `additionalModelRequestFields`. */
  additional?: Fields;
  /** Goes into `outputConfig`, Converse's own field. */
  effort?: string;
}

/** `reasoning_effort` in the terms of the model's maker. `thoughtsLost` is explained in anthropic/claude.ts. */
function effortOf(effort: string | null, model: string, maxTokens: number, thoughtsLost: boolean): Effort {
  if (effort === null) return {};
  if (/claude/i.test(model)) {
    const { thinking, effort: level } = thinkingOf(effort, model, maxTokens, thoughtsLost);
    return { additional: { thinking, ...(level !== undefined && { output_config: { effort: level } }) } };
  }
  if (/gpt-oss/i.test(model)) return { additional: { reasoning_effort: effort } };
  if (/nova-2/i.test(model)) return { additional: { reasoningConfig: novaReasoning(effort) } };
  return { effort };
}

function novaReasoning(effort: string): Fields {
  if (effort === 'none') return { type: 'disabled' };
  const level = effort === 'low' || effort === 'medium' ? effort : effort === 'minimal' ? 'low' : 'high';
  return { type: 'enabled', maxReasoningEffort: level };
}
