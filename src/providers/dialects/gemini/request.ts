/** Translates a chat request to generateContent. Only what the client sent goes out; the model is in the path. */
import type { Latin1Text } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { bodyOf, type ChatFields, readChat, type ToolDefinition } from '../chat-parts/read-chat.js';
import type { Target } from '../dialect.js';
import { contentsOf } from './contents.js';
import { thinkingConfigOf } from './thinking.js';

/** Without `alt=sse` a stream would be one JSON array. A name with a slash is a full resource name, such as `tunedModels/x`. */
export function contentPath(model: string, stream: boolean): string {
  const resource = (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');
  return `/${resource}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

export function generateBody(request: ChatRequest, target: Target): Latin1Text | Buffer {
  const { upstreamModel } = target;
  const chat = readChat(request, target.unsupportedParameters);
  const { system, turns } = chat.conversation;
  const { top_k, generationConfig: own, ...rest } = chat.rest;
  const body: Fields = {
    systemInstruction: system.length > 0 ? { parts: system.map(({ text }) => ({ text })) } : undefined,
    contents: contentsOf(turns, chat.fields.messages as unknown[], upstreamModel),
    tools: toolsOf(chat),
    toolConfig: toolConfigOf(chat),
    generationConfig: unlessEmpty({ ...generationConfigOf(chat, upstreamModel, top_k), ...(isFields(own) && own) }),
    // Fields of the provider's own API that the client sent win over translated ones.
    ...rest,
  };
  return bodyOf(body, request.encoding);
}

function generationConfigOf(chat: ChatFields, model: string, topK: unknown): Fields {
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

function unlessEmpty(config: Fields): Fields | undefined {
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}

function toolsOf({ tools, otherTools }: ChatFields): unknown[] | undefined {
  if (tools.length === 0 && otherTools.length === 0) return undefined;
  const functions = tools.length > 0 ? [{ functionDeclarations: tools.map(declarationOf) }] : [];
  return [...functions, ...otherTools];
}

/** `parametersJsonSchema` takes JSON Schema; `parameters` would take only a subset of OpenAPI, without references. */
function declarationOf({ name, description, parameters }: ToolDefinition): Fields {
  return { name, description: description ?? undefined, parametersJsonSchema: parameters ?? undefined };
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

/** Without tools, `auto` and `none` ask for nothing. */
function toolConfigOf({ toolChoice, tools, otherTools }: ChatFields): unknown {
  if (toolChoice === null) return undefined;
  if (toolChoice.kind === 'tool') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolChoice.name] } };
  }
  const asksForNothing = tools.length + otherTools.length === 0 && toolChoice.kind !== 'required';
  return asksForNothing ? undefined : { functionCallingConfig: { mode: modes[toolChoice.kind] } };
}
