/** Embeddings and rerank of Bedrock's InvokeModel, whose bodies are those of the models' makers. */
import { resultsWanted } from '../../../wire/task.js';
import { cohereInputsMax, cohereObstacle, readCohereVectors, textMembers } from '../cohere/tasks.js';
import type { EmbeddingApi, EmbeddingBatch, GivenVectors, RerankApi, Target } from '../dialect.js';
import { bodyOfMembers, type Fields, tokensNotTaken } from '../task-parts/task-parts.js';

/** With or without the region that an inference profile puts before the name. */
const cohereModel = /(?:^|[./])cohere\./;
const firstTitan = /titan-embed-text-v1|titan-embed-g1/;

/** Model ids may be ARNs, whose slashes must be encoded. */
const invokePath = ({ upstreamModel }: Target): string => `/model/${encodeURIComponent(upstreamModel)}/invoke`;
const isCohere = ({ upstreamModel }: Target): boolean => cohereModel.test(upstreamModel);

export const bedrockEmbedding: EmbeddingApi = {
  inputsMax: (target) => (isCohere(target) ? cohereInputsMax : 1),
  obstacleOf(task, target) {
    if (task.isTokens) return tokensNotTaken;
    if (isCohere(target)) return cohereObstacle(task, target);
    if (task.dimensions === undefined || !firstTitan.test(target.upstreamModel)) return null;
    return { param: 'dimensions', reason: 'has vectors of one length only' };
  },
  callOf: (batch, target) => ({
    path: invokePath(target),
    body: bodyOfMembers(isCohere(target) ? textMembers(batch) : titanMembers(batch), batch.encoding),
  }),
  readVectors,
  // Cohere's models count only here.
  tokensHeader: 'x-amzn-bedrock-input-token-count',
};

export const bedrockRerank: RerankApi = {
  callOf: (task, encoding, target) => ({
    path: invokePath(target),
    body: bodyOfMembers(
      [
        `"query":${task.query}`,
        `"documents":[${task.documents.join(',')}]`,
        `"top_n":${resultsWanted(task)}`,
        ...(isCohere(target) ? ['"api_version":2'] : []),
      ],
      encoding,
    ),
  }),
};

function titanMembers({ task: { dimensions }, inputs: [text] }: EmbeddingBatch): string[] {
  return [`"inputText":${text}`, ...(dimensions === undefined ? [] : [`"dimensions":${dimensions}`])];
}

function readVectors(answer: Fields): GivenVectors {
  const { embedding, inputTextTokenCount: tokens = null } = answer;
  return embedding === undefined ? readCohereVectors(answer) : { vectors: [embedding], tokens };
}
