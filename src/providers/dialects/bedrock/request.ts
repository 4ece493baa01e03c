/** A chat request in the words of Converse. Only what the caller sent goes out, and what the protocol demands. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { claudeTraits, thinkingOf } from '../anthropic/request.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import { beganWithoutReasoning } from '../chat-parts/open-round.js';
import { bodyOf, type Chat, type JsonSchemaFormat, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { cachePoint, messagesOf, reasoningBlock, systemOf } from './blocks.js';
import { writtenName } from './names.js';

/** Identifiers may be ARNs, whose slashes belong to them (wire 5). */
export function conversePath(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

/** For a model whose catalogue entry has no limit. */
const outputTokensAssumed = 4096;

export function converseBody(request: ChatRequest, target: Target): string | Buffer {
  const { encoding } = request;
  const claude = claudeTraits(target.upstreamModel);
  const chat = readChat(request, target.unsupportedParameters ?? claude.unsupported);
  const max = chat.maxTokens ?? target.maxOutputTokens ?? outputTokensAssumed;
  const thoughtsLost = beganWithoutReasoning(chat.conversation.turns, (item) => reasoningBlock(item) !== undefined);
  const { additional, effort } = effortOf(chat.reasoningEffort, target.upstreamModel, max, thoughtsLost);
  const { own, others } = sorted(chat.rest);
  const body: Fields = {
    system: systemOf(chat.conversation.system, encoding),
    messages: messagesOf(chat.conversation.turns, encoding),
    toolConfig: toolConfigOf(chat, encoding),
    serviceTier: serviceTierOf(chat.fields.service_tier),
    // Words of the provider's own that the caller used win over ours.
    ...own,
    // A budget for thinking is a part of the limit, so that must be said then.
    inferenceConfig: merged(
      inferenceConfigOf(chat, additional?.thinking ? max : undefined, claude.samplesByOne),
      own.inferenceConfig,
    ),
    outputConfig: merged({ textFormat: textFormatOf(chat.jsonSchema), effort }, own.outputConfig),
    additionalModelRequestFields: merged({ ...additional, ...others }, own.additionalModelRequestFields),
  };
  return bodyOf(body, encoding);
}

const converseMembers = new Set(
  (
    'inferenceConfig outputConfig additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig ' +
    'performanceConfig promptVariables requestMetadata serviceTier toolConfig'
  ).split(' '),
);

/** Fields that are neither OpenAI's nor Converse's are the model's own, and have a place of their own. */
function sorted(rest: Fields): { own: Fields; others: Fields } {
  const entries = Object.entries(rest);
  return {
    own: Object.fromEntries(entries.filter(([name]) => converseMembers.has(name))),
    others: Object.fromEntries(entries.filter(([name]) => !converseMembers.has(name))),
  };
}

function merged(ours: Fields, own: unknown): Fields | undefined {
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

/** `auto` leaves it to the provider, and so do words that Converse does not have. */
function serviceTierOf(tier: unknown): Fields | undefined {
  const type = typeof tier === 'string' ? serviceTiers[tier] : undefined;
  return type === undefined ? undefined : { type };
}

/** `samplesByOne` is Claude's: see anthropic/claude. */
function inferenceConfigOf(
  { maxTokens, temperature, topP, stop }: Chat,
  demandedMax: number | undefined,
  samplesByOne: boolean,
): Fields {
  return {
    maxTokens: maxTokens ?? demandedMax,
    // Its range is half of OpenAI's: what is above is the most that there is.
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
 * There is no choice of no tool: then none is declared, unless the conversation has called one, which must be declared
 * (wire 5). A tool that was called and is not declared any more is declared without a description.
 */
function toolConfigOf(chat: Chat, encoding: TextEncoding): Fields | undefined {
  const called = calledNames(chat);
  const wanted = chat.toolChoice?.kind !== 'none' || called.size > 0;
  const tools: unknown[] = [...chat.tools.flatMap((tool) => toolsOf(tool, encoding)), ...chat.otherTools];
  if (tools.length > 0 && wanted) return { tools, toolChoice: toolChoiceOf(chat, encoding) };
  if (called.size === 0) return undefined;
  const names = [...called].map((name) => ({ name, description: null, parameters: null, strict: null }));
  return { tools: names.flatMap((tool) => toolsOf(tool, encoding)) };
}

function calledNames({ conversation }: Chat): Set<string> {
  const names = new Set<string>();
  for (const { items } of conversation.turns) {
    for (const item of items) if (item.kind === 'tool_call') names.add(item.name);
  }
  return names;
}

function toolsOf(tool: ToolDefinition, encoding: TextEncoding): Fields[] {
  const toolSpec = {
    name: writtenName(tool.name, encoding),
    description: tool.description ?? undefined,
    inputSchema: { json: tool.parameters ?? { type: 'object', properties: {} } },
    strict: tool.strict ? true : undefined,
  };
  return [{ toolSpec }, ...cachePoint(tool)];
}

function toolChoiceOf({ toolChoice }: Chat, encoding: TextEncoding): unknown {
  switch (toolChoice?.kind) {
    case 'auto':
      return { auto: {} };
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: writtenName(toolChoice.name, encoding) } };
    default:
      return undefined;
  }
}

// `reasoning_effort` in the words of a model's maker: Converse passes them on without knowing them.

export interface Effort {
  /** For `additionalModelRequestFields`. */
  additional?: Fields;
  /** For `outputConfig`, where Converse has a word of its own. */
  effort?: string;
}

/** `thoughtsLost` is Claude's: see anthropic/thinking. */
export function effortOf(effort: string | null, model: string, maxTokens: number, thoughtsLost: boolean): Effort {
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
