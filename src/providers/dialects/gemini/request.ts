/** A chat request in the words of generateContent. Only what the caller sent goes out; the model stands in the path. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import { bodyOf, type Chat, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { contentsOf } from './contents.js';

/** Without `alt=sse` a stream would be one JSON array (wire 4). A name with a slash is a whole resource, as `tunedModels/x`. */
export function contentPath(model: string, stream: boolean): string {
  const resource = (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');
  return `/${resource}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

export function generateBody(request: ChatRequest, target: Target): string | Buffer {
  const { upstreamModel } = target;
  const chat = readChat(request, target.unsupportedParameters);
  const { system, turns } = chat.conversation;
  const { top_k, generationConfig: own, ...rest } = chat.rest;
  const body: Fields = {
    systemInstruction: system.length > 0 ? { parts: system.map(({ text }) => ({ text })) } : undefined,
    contents: contentsOf(turns, chat.fields.messages as unknown[], upstreamModel),
    tools: toolsOf(chat),
    toolConfig: toolConfigOf(chat),
    generationConfig: filled({ ...generationConfigOf(chat, upstreamModel, top_k), ...(isFields(own) && own) }),
    // Words of the provider's own that the caller used win over ours.
    ...rest,
  };
  return bodyOf(body, request.encoding);
}

function generationConfigOf(chat: Chat, model: string, topK: unknown): Fields {
  const { fields, jsonSchema, stop } = chat;
  const format = isFields(fields.response_format) ? fields.response_format.type : undefined;
  return {
    temperature: chat.temperature ?? undefined,
    topP: chat.topP ?? undefined,
    topK: topK ?? undefined,
    candidateCount: typeof fields.n === 'number' && fields.n > 1 ? fields.n : undefined,
    maxOutputTokens: chat.maxTokens ?? undefined,
    stopSequences: stop.length > 0 ? stop : undefined,
    seed: fields.seed ?? undefined,
    presencePenalty: fields.presence_penalty ?? undefined,
    frequencyPenalty: fields.frequency_penalty ?? undefined,
    responseMimeType: jsonSchema || format === 'json_object' ? 'application/json' : undefined,
    responseJsonSchema: jsonSchema?.schema,
    responseLogprobs: fields.logprobs === true ? true : undefined,
    logprobs: fields.logprobs === true ? (fields.top_logprobs ?? undefined) : undefined,
    thinkingConfig: thinkingConfigOf(chat.reasoningEffort, model),
  };
}

function filled(config: Fields): Fields | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}

function toolsOf({ tools, otherTools }: Chat): unknown[] | undefined {
  if (tools.length === 0 && otherTools.length === 0) return undefined;
  const functions = tools.length > 0 ? [{ functionDeclarations: tools.map(declarationOf) }] : [];
  return [...functions, ...otherTools];
}

/** `parameters` would be a subset of OpenAPI, without references and more; this member takes JSON Schema (wire 4). */
function declarationOf({ name, description, parameters }: ToolDefinition): Fields {
  return { name, description: description ?? undefined, parametersJsonSchema: parameters ?? undefined };
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

/** Without tools, `auto` and `none` ask for nothing. */
function toolConfigOf({ toolChoice, tools, otherTools }: Chat): unknown {
  if (toolChoice === null) return undefined;
  if (toolChoice.kind === 'tool') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolChoice.name] } };
  }
  const asksForNothing = tools.length + otherTools.length === 0 && toolChoice.kind !== 'required';
  return asksForNothing ? undefined : { functionCallingConfig: { mode: modes[toolChoice.kind] } };
}

// `reasoning_effort` in the words that a model understands: version 2.5 takes a budget of tokens, version 3 a level.

/** The version of a model by its name, 2.5 for `gemini-2.5-pro`; 0 where the name has none. */
export function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/i.exec(model)?.[1] ?? 0);
}

/** The figures that Google's own endpoint of OpenAI's dialect uses. */
const budgets: Record<string, number> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 };
/** Pro models cannot be kept from thinking; this is the least. */
const proBudgetMin = 128;
const levels: Record<string, string> = { none: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM' };

/** Undefined where nothing was asked, or where the model does not think. */
export function thinkingConfigOf(effort: string | null, model: string): Fields | undefined {
  const generation = generationOf(model);
  if (effort === null || (generation > 0 && generation < 2.5)) return undefined;
  const isPro = /-pro\b/i.test(model);
  if (generation === 2.5) {
    if (effort === 'none') return { thinkingBudget: isPro ? proBudgetMin : 0 };
    return { thinkingBudget: budgets[effort] ?? budgets.high, includeThoughts: true };
  }
  const level = levels[effort] ?? 'HIGH';
  // The least that a pro model has is LOW.
  const thinkingLevel = isPro && level === 'MINIMAL' ? 'LOW' : level;
  return effort === 'none' ? { thinkingLevel } : { thinkingLevel, includeThoughts: true };
}
