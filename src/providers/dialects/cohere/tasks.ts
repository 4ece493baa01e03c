/** Cohere's embed API, on its own servers and on Bedrock. */
import type { EmbeddingApi, EmbeddingBatch, GivenVectors, Target } from '../dialect.js';
import { asciiJson, bodyOfMembers, type Fields, fieldsOf, tokensNotTaken } from '../task-parts/task-parts.js';

export const cohereInputsMax = 96;

/** The first models have one length of vectors. */
const fixedLength = /embed-(?:english|multilingual)-(?:light-)?v[23]\b/;

export const cohereEmbedding: EmbeddingApi = {
  inputsMax: () => cohereInputsMax,
  obstacleOf: (task, target) => (task.isTokens ? tokensNotTaken : cohereObstacle(task, target)),
  callOf: (batch, target) => ({ path: '/embed', body: bodyOfMembers(embedMembers(batch, target), batch.encoding) }),
  readVectors: readCohereVectors,
};

export function cohereObstacle({ dimensions }: EmbeddingBatch['task'], { upstreamModel }: Target) {
  if (dimensions === undefined || !fixedLength.test(upstreamModel)) return null;
  return { param: 'dimensions', reason: 'has vectors of one length only' };
}

function embedMembers(batch: EmbeddingBatch, { upstreamModel }: Target): string[] {
  return [`"model":${asciiJson(upstreamModel)}`, ...textMembers(batch)];
}

/**
 * The API needs to know what the vectors are for, which OpenAI's requests do not say: they are taken as documents of a search. A text
 * that is too long is refused, as it is by OpenAI, and not cut.
 */
export function textMembers({ task: { dimensions }, inputs }: EmbeddingBatch): string[] {
  return [
    `"texts":[${inputs.join(',')}]`,
    '"input_type":"search_document"',
    '"embedding_types":["float"]',
    '"truncate":"NONE"',
    ...(dimensions === undefined ? [] : [`"output_dimension":${dimensions}`]),
  ];
}

/** Version 1 has the list itself, later ones have it by type. */
export function readCohereVectors({ embeddings, meta }: Fields): GivenVectors {
  const { input_tokens: tokens = null } = fieldsOf(fieldsOf(meta).billed_units);
  const vectors = Array.isArray(embeddings) ? embeddings : fieldsOf(embeddings).float;
  return { vectors: Array.isArray(vectors) ? vectors : 'its answer has no list of vectors', tokens };
}
