/**
 * OpenAI's own API for chat and embeddings, and the rerank API that compatible servers share with Cohere and Jina. Answers and streams of
 * chat need no translation, so their bytes are passed on unchanged.
 */

import { asLatin1 } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { findMembers, keptMembers } from '../../../wire/json-members.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import type { OutgoingBody } from '../../../wire/outgoing-body.js';
import { type RerankTask, resultsWanted } from '../../../wire/task.js';
import {
  bearerHeader,
  type Dialect,
  type EmbeddingApi,
  type EmbeddingBatch,
  type GivenVectors,
  type RerankApi,
  type Target,
} from '../dialect.js';
import { asciiJson, bodyOfMembers, type Fields, fieldsOf } from '../task-parts/task-parts.js';

const chatPath = '/chat/completions';

type RequestTarget = Pick<Target, 'upstreamModel' | 'streamUsage' | 'unsupportedParameters'>;

const closing = Buffer.from('}');

/**
 * The route's model, then the client's members without parsing them again. Latin1 text where possible, because a socket writes it
 * without an intermediate buffer.
 */
export function requestBody(request: ChatRequest, target: RequestTarget): OutgoingBody {
  const { encoding } = request;
  const unsupported = target.unsupportedParameters;
  const members = unsupported?.length ? membersWithout(request, unsupported) : request.members;
  const head = `{"model":${quoted(target.upstreamModel)},${streamMembers(request, target)}`;
  if (typeof members !== 'string') return [Buffer.from(`${head},`, encoding), members, closing];
  const text = `${head}${members === '' ? '' : ','}${members}}`;
  return encoding === 'latin1' ? asLatin1(text) : Buffer.from(text, 'utf8');
}

/** Where the members cannot be separated, for example because one is repeated, all are sent, and the provider judges. */
function membersWithout({ members }: ChatRequest, names: readonly string[]): ChatRequest['members'] {
  const text = `{${typeof members === 'string' ? members : members.toString('latin1')}}`;
  const found = findMembers(text);
  if (!found?.keys.some((key) => names.includes(key))) return members;
  const kept = keptMembers(text, found, (key) => !names.includes(key));
  return typeof members === 'string' ? kept : Buffer.from(kept, 'latin1');
}

/** The upstream is always asked for usage. `stream` is always sent explicitly. */
function streamMembers({ stream, streamOptionMembers }: ChatRequest, { streamUsage }: RequestTarget): string {
  if (!stream) return '"stream":false';
  if (!streamUsage) return '"stream":true';
  const others = streamOptionMembers === '' ? '' : `,${streamOptionMembers}`;
  return `"stream":true,"stream_options":{"include_usage":true${others}}`;
}

const quotedModels = new Map<string, string>();

/** The model as a JSON string, cached. It is ASCII only, so that it fits any encoding. */
function quoted(model: string): string {
  let text = quotedModels.get(model);
  if (text === undefined) {
    text = JSON.stringify(model).replace(
      /[^\u0020-\u007e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    quotedModels.set(model, text);
  }
  return text;
}

const embeddingsPath = '/embeddings';

/** Servers that are known to answer in base64, which is a third of the size, where they are asked to. */
const ownServers = /^https?:\/\/[^/]*\bopenai\.(?:com|azure\.com)\b/;
/** Servers with another name for `dimensions`. They refuse fields that they do not know, and `user` is one. */
const outputDimensionServers = /^https?:\/\/[^/]*\b(?:mistral\.ai|voyageai\.com)\b/;
/**
 * Voyage cuts inputs that are too long unless it is told not to, where OpenAI's API refuses them. It names `top_n` differently, and
 * gives numbers only where no `encoding_format` is sent.
 */
const voyageServers = /^https?:\/\/[^/]*\bvoyageai\.com\b/;

export const openaiEmbedding: EmbeddingApi = {
  inputsMax: () => 2_048,
  obstacleOf: () => null,
  callOf: (batch, target) => ({ path: embeddingsPath, body: embeddingsBody(batch, target) }),
  readVectors: readEmbeddingList,
  takesUser,
  givesBase64: ({ format }, { baseUrl }) => format === 'base64' && ownServers.test(baseUrl),
};

const openaiRerank: RerankApi = {
  callOf: (task, encoding, target) => ({ path: '/rerank', body: rerankBody(task, encoding, target) }),
};

/** As the client wrote it, where one call has all inputs. */
export function embeddingsBody({ task, inputs, encoding }: EmbeddingBatch, { upstreamModel, baseUrl }: Target) {
  const { dimensions, format, user } = task;
  const input = task.isSingle ? inputs[0]! : `[${inputs.join(',')}]`;
  const members = [`"model":${asciiJson(upstreamModel)}`, `"input":${input}`];
  if (dimensions !== undefined) {
    members.push(`"${outputDimensionServers.test(baseUrl) ? 'output_dimension' : 'dimensions'}":${dimensions}`);
  }
  const isVoyage = voyageServers.test(baseUrl);
  if (isVoyage) members.push('"truncation":false');
  if (task.isFormatSent && !(isVoyage && format === 'float')) members.push(`"encoding_format":"${format}"`);
  if (user !== undefined && takesUser(baseUrl)) members.push(`"user":${user}`);
  return bodyOfMembers(members, encoding);
}

function takesUser(baseUrl: string): boolean {
  return !outputDimensionServers.test(baseUrl);
}

function rerankBody(task: RerankTask, encoding: TextEncoding, { upstreamModel, baseUrl }: Target) {
  const { query, documents, topN } = task;
  const members = [`"model":${asciiJson(upstreamModel)}`, `"query":${query}`, `"documents":[${documents.join(',')}]`];
  if (topN !== undefined) members.push(`"${voyageServers.test(baseUrl) ? 'top_k' : 'top_n'}":${resultsWanted(task)}`);
  return bodyOfMembers(members, encoding);
}

/** Vectors come in any order, so each has its index. */
function readEmbeddingList({ data, usage }: Fields): GivenVectors {
  const { prompt_tokens: prompt, total_tokens: total } = fieldsOf(usage);
  const tokens = prompt ?? total ?? null;
  if (!Array.isArray(data)) return { vectors: 'its answer has no list of vectors', tokens };
  const vectors: unknown[] = new Array(data.length).fill(undefined);
  for (const entry of data) {
    const { index, embedding } = fieldsOf(entry);
    if (typeof index !== 'number' || !(index in vectors)) {
      return { vectors: 'its answer has a vector without an index, or with one that was not asked for', tokens };
    }
    if (vectors[index] !== undefined) return { vectors: `its answer has two vectors of index ${index}`, tokens };
    vectors[index] = embedding ?? null;
  }
  return { vectors, tokens };
}

export const openai: Dialect = {
  callOf: (request, target) => ({ path: chatPath, body: requestBody(request, target) }),
  readAnswer: null,
  createStreamTranslator: null,
  inapplicableParameter: () => null,
  speaks: 'chat',
  words: new Set([
    ...['reasoning_effort', 'verbosity', 'metadata', 'user', 'safety_identifier'],
    ...['prompt_cache_key', 'prompt_cache_retention', 'service_tier', 'file'],
  ]),
  embedding: openaiEmbedding,
  rerank: openaiRerank,
  keyHeader: bearerHeader,
  needsBaseUrl: true,
  canSign: false,
  defaultAuth: () => 'key',
  protocolNames:
    'messages role content name user assistant system developer tool type text image_url url detail input_audio data format file file_id filename tools function functions function_call parameters strict tool_choice auto none tool_calls tool_call_id id arguments index stream stream_options include_usage temperature top_p top_k min_p n stop max_tokens max_completion_tokens presence_penalty frequency_penalty repetition_penalty logit_bias logprobs top_logprobs seed response_format json_object json_schema schema reasoning reasoning_effort reasoning_content effort low medium high minimal metadata store service_tier parallel_tool_calls modalities audio voice prediction safety_identifier prompt_cache_key verbosity refusal input dimensions encoding_format float base64 query documents top_n output_dimension truncation',
};
