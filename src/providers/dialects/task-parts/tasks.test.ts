import { describe, expect, it } from 'vitest';
import type { EmbeddingTask } from '../../../wire/task.js';
import type { Target } from '../dialect.js';
import { dialectOf } from '../registry.js';

const target = (baseUrl: string, upstreamModel: string): Target => ({
  ...{ baseUrl, upstreamModel, streamUsage: true, maxOutputTokens: null },
});
const taskOf = (more: Partial<EmbeddingTask> = {}): EmbeddingTask => ({
  ...{ kind: 'embedding', inputs: ['"a"', '"b"'], isTokens: false, format: 'float' },
  ...more,
});

function callOf(dialect: string, to: Target, task = taskOf()) {
  const { path, body } = dialectOf(dialect).embedding!.callOf({ task, inputs: task.inputs, encoding: 'latin1' }, to);
  return { path, body: JSON.parse(String(body)) };
}

const openai = target('https://api.openai.com/v1', 'text-embedding-3-small');
const studio = target('https://generativelanguage.googleapis.com/v1beta', 'gemini-embedding-001');
const vertex = 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google';
const aws = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
const titan = target(aws, 'amazon.titan-embed-text-v2:0');
const short = taskOf({ dimensions: 256 });
const one = taskOf({ inputs: ['"a"'], dimensions: 256 });

describe('the call for embeddings', () => {
  it('of OpenAI is what the client sent', () => {
    const task = taskOf({ dimensions: 256, format: 'base64', isFormatSent: true, user: '"u"' });
    const sent = { model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 256, user: 'u' };
    expect(callOf('openai', openai, task)).toEqual({
      path: '/embeddings',
      body: { ...sent, encoding_format: 'base64' },
    });
    const single = taskOf({ inputs: ['[1,2]'], isTokens: true, isSingle: true });
    expect(callOf('openai', openai, single).body).toEqual({ model: 'text-embedding-3-small', input: [1, 2] });
  });

  it('of Mistral and Voyage has their names, and Voyage may not cut a text', () => {
    const mistral = { ...openai, baseUrl: 'https://api.mistral.ai/v1' };
    expect(callOf('openai', mistral, short).body).toMatchObject({ output_dimension: 256 });
    const voyage = { ...openai, baseUrl: 'https://api.voyageai.com/v1' };
    const spoken = taskOf({ dimensions: 256, isFormatSent: true, user: '"u"' });
    expect(callOf('openai', voyage, spoken).body).toEqual({
      ...{ model: openai.upstreamModel, input: ['a', 'b'], output_dimension: 256, truncation: false },
    });
  });

  it('of Azure has the path of its deployment', () => {
    expect(callOf('azure', target('https://x.openai.azure.com/openai/v1', 'mine')).path).toBe('/embeddings');
    expect(callOf('azure', target('https://x.openai.azure.com?api-version=1', 'mine')).path).toBe(
      '/openai/deployments/mine/embeddings',
    );
  });

  it('of Gemini is a batch in AI Studio, and by model on Vertex AI', () => {
    expect(callOf('gemini', studio, one)).toEqual({
      path: '/models/gemini-embedding-001:batchEmbedContents',
      body: {
        requests: [
          { content: { parts: [{ text: 'a' }] }, model: 'models/gemini-embedding-001', outputDimensionality: 256 },
        ],
      },
    });
    expect(callOf('gemini', target(vertex, 'gemini-embedding-2'), one)).toEqual({
      path: '/models/gemini-embedding-2:embedContent',
      body: { content: { parts: [{ text: 'a' }] }, autoTruncate: false, outputDimensionality: 256 },
    });
    expect(callOf('gemini', target(vertex, 'text-embedding-005'), short)).toEqual({
      path: '/models/text-embedding-005:predict',
      body: {
        instances: [{ content: 'a' }, { content: 'b' }],
        parameters: { autoTruncate: false, outputDimensionality: 256 },
      },
    });
  });

  it('of Bedrock is the one of the model’s maker, and Cohere’s own is the same', () => {
    expect(callOf('bedrock', titan, one)).toEqual({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText: 'a', dimensions: 256 },
    });
    const texts = { texts: ['a', 'b'], input_type: 'search_document', embedding_types: ['float'], truncate: 'NONE' };
    expect(callOf('bedrock', target(aws, 'cohere.embed-v4:0'), short).body).toEqual({
      ...texts,
      output_dimension: 256,
    });
    expect(callOf('cohere', target('https://api.cohere.com/v2', 'embed-v4.0'))).toEqual({
      path: '/embed',
      body: { model: 'embed-v4.0', ...texts },
    });
  });
});

it('says how many inputs a call takes, and what cannot be expressed', () => {
  const of = (dialect: string) => dialectOf(dialect).embedding!;
  expect(of('openai').inputsMax(openai)).toBe(2_048);
  expect(of('gemini').inputsMax(studio)).toBe(100);
  expect(of('bedrock').inputsMax(titan)).toBe(1);
  expect(of('bedrock').obstacleOf(taskOf({ isTokens: true }), titan)).toMatchObject({ param: 'input' });
  expect(of('bedrock').obstacleOf(short, titan)).toBeNull();
  const first = target(aws, 'amazon.titan-embed-text-v1');
  expect(of('bedrock').obstacleOf(short, first)).toMatchObject({ param: 'dimensions' });
  const fixed = target(aws, 'cohere.embed-english-v3');
  expect(of('bedrock').obstacleOf(short, fixed)).toMatchObject({ param: 'dimensions' });
  expect(of('openai').obstacleOf(taskOf({ isTokens: true }), openai)).toBeNull();
});

describe('the answer with vectors', () => {
  const read = (dialect: string, answer: object) =>
    dialectOf(dialect).embedding!.readVectors(answer as Record<string, unknown>);

  it.each([
    [
      'openai',
      {
        data: [
          { index: 1, embedding: [2] },
          { index: 0, embedding: [1] },
        ],
        usage: { total_tokens: 7 },
      },
      7,
    ],
    ['gemini', { embeddings: [{ values: [1] }, { values: [2] }] }, null],
    [
      'gemini',
      { predictions: [1, 2].map((n) => ({ embeddings: { values: [n], statistics: { token_count: 3 } } })) },
      6,
    ],
    ['cohere', { embeddings: { float: [[1], [2]] }, meta: { billed_units: { input_tokens: 4 } } }, 4],
    ['bedrock', { embeddings: [[1], [2]] }, null],
  ])('of %s is read: %j', (dialect, answer, tokens) => {
    expect(read(dialect, answer)).toEqual({ vectors: [[1], [2]], tokens });
  });

  it('of one text is read', () => {
    expect(read('bedrock', { embedding: [1], inputTextTokenCount: 3 })).toEqual({ vectors: [[1]], tokens: 3 });
    const single = { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 2 } };
    expect(read('gemini', single)).toEqual({ vectors: [[1]], tokens: 2 });
  });

  it.each(['openai', 'gemini', 'cohere', 'bedrock'])('of %s may be none', (dialect) => {
    expect(read(dialect, {}).vectors).toBe('its answer has no list of vectors');
  });
});

it('asks for as many results of a rerank as are wanted, and as there are', () => {
  const all = { kind: 'rerank', query: '"q"', documents: ['"a"', '"b"'], returnDocuments: true } as const;
  const sent = (dialect: string, to: Target, topN?: number) => {
    const task = topN === undefined ? all : { ...all, topN };
    const { path, body } = dialectOf(dialect).rerank!.callOf(task, 'latin1', to);
    return { path, body: JSON.parse(String(body)) };
  };
  const asked = { query: 'q', documents: ['a', 'b'] };
  const model = openai.upstreamModel;
  expect(sent('openai', openai)).toEqual({ path: '/rerank', body: { model, ...asked } });
  expect(sent('openai', openai, 9).body).toEqual({ model, ...asked, top_n: 2 });
  const voyage = { ...openai, baseUrl: 'https://api.voyageai.com/v1' };
  expect(sent('openai', voyage, 1).body).toEqual({ model, ...asked, top_k: 1 });
  expect(sent('bedrock', target(aws, 'cohere.rerank-v3-5:0')).body).toEqual({ ...asked, top_n: 2, api_version: 2 });
  expect(sent('bedrock', target(aws, 'amazon.rerank-v1:0'), 1).body).toEqual({ ...asked, top_n: 1 });
});
