/** OpenAI's embeddings API, and the rerank API that compatible servers share with Cohere and Jina. */
import type { TextEncoding } from '../../../wire/json-text.js';
import { type RerankTask, resultsWanted } from '../../../wire/task.js';
import type { EmbeddingApi, EmbeddingBatch, GivenVectors, RerankApi, Target } from '../dialect.js';
import { asciiJson, bodyOfMembers, type Fields, fieldsOf } from '../task-parts/task-parts.js';

const embeddingsPath = '/embeddings';

/** Servers that are known to answer in base64, which is a third of the size. Any other is asked for numbers. */
const ownServers = /^https?:\/\/[^/]*\bopenai\.(?:com|azure\.com)\b/;
/** Servers with another name for `dimensions`. */
const outputDimensionServers = /^https?:\/\/[^/]*\b(?:mistral\.ai|voyageai\.com)\b/;
/** Cuts inputs that are too long unless it is told not to. OpenAI's API refuses them. */
const truncatingServers = /^https?:\/\/[^/]*\bvoyageai\.com\b/;

/** Servers with another name for `top_n`. */
const topKServers = truncatingServers;

export const openaiEmbedding: EmbeddingApi = {
  inputsMax: () => 2_048,
  obstacleOf: () => null,
  callOf: (batch, target) => ({ path: embeddingsPath, body: embeddingsBody(batch, target) }),
  readVectors: readEmbeddingList,
};

export const openaiRerank: RerankApi = {
  callOf: (task, encoding, target) => ({ path: '/rerank', body: rerankBody(task, encoding, target) }),
};

export function embeddingsBody({ task, inputs, encoding }: EmbeddingBatch, { upstreamModel, baseUrl }: Target) {
  const { dimensions, format, user } = task;
  const members = [`"model":${asciiJson(upstreamModel)}`, `"input":[${inputs.join(',')}]`];
  if (dimensions !== undefined) {
    members.push(`"${outputDimensionServers.test(baseUrl) ? 'output_dimension' : 'dimensions'}":${dimensions}`);
  }
  if (truncatingServers.test(baseUrl)) members.push('"truncation":false');
  if (format === 'base64' && ownServers.test(baseUrl)) members.push('"encoding_format":"base64"');
  if (user !== undefined) members.push(`"user":${user}`);
  return bodyOfMembers(members, encoding);
}

function rerankBody(task: RerankTask, encoding: TextEncoding, { upstreamModel, baseUrl }: Target) {
  const { query, documents, topN } = task;
  const members = [`"model":${asciiJson(upstreamModel)}`, `"query":${query}`, `"documents":[${documents.join(',')}]`];
  if (topN !== undefined) members.push(`"${topKServers.test(baseUrl) ? 'top_k' : 'top_n'}":${resultsWanted(task)}`);
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
