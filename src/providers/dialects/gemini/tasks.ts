/** Google's embeddings: batchEmbedContents in AI Studio; predict and embedContent, by model, on Vertex AI. */
import type { EmbeddingApi, EmbeddingBatch, GivenVectors, Target } from '../dialect.js';
import { asciiJson, bodyOfMembers, type Fields, fieldsOf, tokensNotTaken } from '../task-parts/task-parts.js';
import { isVertex } from './vertex.js';

type Method = 'batchEmbedContents' | 'embedContent' | 'predict';

/** What one call takes. The limit of AI Studio is the one that client libraries keep. */
const inputsByMethod: Record<Method, number> = { batchEmbedContents: 100, embedContent: 1, predict: 250 };
/** The model of this name takes one text, unlike the others of `predict`. */
const singleInput = /^gemini-embedding-001$/;
const predicted = /^(?:text-|textembedding-|gemini-embedding-001$)/;

export const geminiEmbedding: EmbeddingApi = {
  inputsMax: (target) =>
    singleInput.test(target.upstreamModel) && isVertex(target.baseUrl) ? 1 : inputsByMethod[methodOf(target)],
  obstacleOf: ({ isTokens }) => (isTokens ? tokensNotTaken : null),
  callOf(batch, target) {
    const method = methodOf(target);
    return {
      path: `/${resourceOf(target)}:${method}`,
      body: bodyOfMembers(members[method](batch, target), batch.encoding),
    };
  },
  readVectors,
};

function methodOf({ upstreamModel, baseUrl }: Target): Method {
  if (!isVertex(baseUrl)) return 'batchEmbedContents';
  return predicted.test(upstreamModel) ? 'predict' : 'embedContent';
}

function resourceOf({ upstreamModel: model }: Target): string {
  return (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');
}

const contentOf = (text: string): string => `"content":{"parts":[{"text":${text}}]}`;

function lengthMember(name: string, { task: { dimensions } }: EmbeddingBatch): string[] {
  return dimensions === undefined ? [] : [`"${name}":${dimensions}`];
}

/** A text that is too long is refused, as it is by OpenAI, and not cut. */
const members: Record<Method, (batch: EmbeddingBatch, target: Target) => string[]> = {
  batchEmbedContents(batch, target) {
    const model = `"model":${asciiJson(decodeURIComponent(resourceOf(target)))}`;
    const rest = [model, ...lengthMember('outputDimensionality', batch)].join(',');
    return [`"requests":[${batch.inputs.map((text) => `{${contentOf(text)},${rest}}`).join(',')}]`];
  },
  embedContent: (batch) => [
    contentOf(batch.inputs[0]!),
    '"autoTruncate":false',
    ...lengthMember('outputDimensionality', batch),
  ],
  predict: (batch) => [
    `"instances":[${batch.inputs.map((text) => `{"content":${text}}`).join(',')}]`,
    `"parameters":{${['"autoTruncate":false', ...lengthMember('outputDimensionality', batch)].join(',')}}`,
  ],
};

function readVectors({ embeddings, embedding, predictions, usageMetadata }: Fields): GivenVectors {
  const tokens = fieldsOf(usageMetadata).promptTokenCount ?? null;
  if (Array.isArray(predictions)) return readPredictions(predictions);
  const entries = Array.isArray(embeddings) ? embeddings : embedding === undefined ? null : [embedding];
  if (entries === null) return { vectors: 'its answer has no list of vectors', tokens };
  return { vectors: entries.map((entry) => fieldsOf(entry).values ?? null), tokens };
}

function readPredictions(predictions: readonly unknown[]): GivenVectors {
  const entries = predictions.map((prediction) => fieldsOf(fieldsOf(prediction).embeddings));
  const counts = entries.map(({ statistics }) => fieldsOf(statistics).token_count);
  const tokens = counts.every((count) => typeof count === 'number')
    ? (counts as number[]).reduce((sum, count) => sum + count, 0)
    : null;
  return { vectors: entries.map(({ values }) => values ?? null), tokens };
}
