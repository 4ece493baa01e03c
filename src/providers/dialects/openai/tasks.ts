/** OpenAI's embeddings API, and the rerank API that compatible servers share with Cohere and Jina. */
import type { TextEncoding } from '../../../wire/json-text.js';
import { type RerankTask, resultsWanted } from '../../../wire/task.js';
import type { EmbeddingApi, EmbeddingBatch, GivenVectors, RerankApi, Target } from '../dialect.js';
import { asciiJson, bodyOfMembers, type Fields, fieldsOf } from '../task-parts/task-parts.js';

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

export const openaiRerank: RerankApi = {
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
