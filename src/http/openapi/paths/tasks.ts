/** Describes the endpoints that are no chats: `/v1/embeddings` and `/v1/rerank`. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { inputsMax } from '../../../doors/embeddings/read-request.js';
import { documentsMax } from '../../../doors/rerank/read-request.js';
import { routerHeaders } from '../headers.js';
import type { Resource } from '../operations.js';
import { array, boolean, integer, number, object, oneOfValues, open, orNull, ref, text } from '../schema.js';
import type { Example, Schema } from '../types.js';
import { requestPreferencesSchema } from './chat-request.js';

const model = { ...modelIdSchema, description: 'A pin, `auto/…` or `alias/…` of a model of the endpoint’s kind.' };
const fallback = {
  type: ['object', 'null'],
  description: 'As for chat completions, with routes of the same model only. The saved chain does not apply.',
  ...open,
};
const provider = { ...requestPreferencesSchema, description: 'As for chat completions.' };
const sessionId = { type: ['string', 'null'], minLength: 1, maxLength: 256, description: 'As for chat completions.' };
const ours = { fallback, provider, session_id: sessionId };
const ourNames = Object.keys(ours);

const someText = { type: 'string', minLength: 1 };
const tokens = array({ type: 'integer', minimum: 0 }, 'Tokens.', { minItems: 1 });

const usage = object(
  {
    prompt_tokens: integer('Tokens of the input.'),
    total_tokens: integer('The same.'),
    search_units: integer('Searches, where these are billed.'),
    cost: number('US dollars, exact.'),
  },
  { optional: ['search_units'], ...open },
);

const answered = (schema: string, description: string) => ({
  '200': { description, headers: routerHeaders, content: { 'application/json': { schema: ref(schema) } } },
});

const embeddingExamples: Record<string, Example> = {
  text: { summary: 'A text', value: { model: 'sandbox/lodestone/embed', input: 'Hello' } },
  list: {
    summary: 'Two texts, short vectors',
    value: { model: 'sandbox/lodestone/embed', input: ['Hello', 'world'], dimensions: 64 },
  },
};

export const embeddings: Resource = {
  tag: { name: 'Embeddings', description: 'OpenAI’s embeddings API, on every route of an embedding model.' },
  schemas: {
    EmbeddingRequest: object(
      {
        model,
        input: {
          anyOf: [
            someText,
            array(someText, 'Texts.', { minItems: 1, maxItems: inputsMax }),
            tokens,
            array(tokens, 'Lists of tokens.', { minItems: 1, maxItems: inputsMax }),
          ],
          description: 'What to embed.',
        },
        dimensions: { type: ['integer', 'null'], minimum: 1, description: 'The length of the vectors.' },
        encoding_format: oneOfValues(
          ['float', 'base64', null],
          '`base64` has numbers of four bytes, lowest byte first.',
        ),
        user: { type: ['string', 'null'], description: 'Sent on to the provider.' },
        ...ours,
      } as Record<string, Schema>,
      { optional: ['dimensions', 'encoding_format', 'user', ...ourNames], additionalProperties: { type: 'null' } },
    ),
    EmbeddingList: object({
      object: { const: 'list' },
      data: array(
        object({
          object: { const: 'embedding' },
          index: integer('The place of the input.'),
          embedding: { anyOf: [array({ type: 'number' }, 'The vector.'), text('The vector in base64.')] },
        }),
        'A vector for each input, in their order.',
      ),
      model: text('The four-segment id of the route that served.'),
      usage,
      router_metadata: ref('RouterMetadata'),
    }),
  },
  operations: {
    'POST /v1/embeddings': {
      id: 'createEmbedding',
      summary: 'Create embeddings',
      description:
        'Any client of OpenAI’s API works. Where a provider takes fewer inputs in a call, several calls are made; one that fails fails the request, and nothing is billed. Vectors of two models cannot be compared, so no other model ever serves.',
      body: { schema: ref('EmbeddingRequest'), examples: embeddingExamples },
      answers: answered('EmbeddingList', 'The vectors.'),
    },
  },
};

const rerankExamples: Record<string, Example> = {
  order: {
    summary: 'Three documents',
    value: {
      model: 'sandbox/lodestone/rerank',
      query: 'capital of France',
      documents: ['Berlin is in Germany.', 'Paris is the capital of France.', 'Bread is good.'],
      top_n: 2,
    },
  },
};

export const rerank: Resource = {
  tag: {
    name: 'Rerank',
    description: 'Puts documents in order of relevance, in the shape that Cohere and Jina share.',
  },
  schemas: {
    RerankRequest: object(
      {
        model,
        query: { ...someText, description: 'What the documents are compared with.' },
        documents: array({ anyOf: [someText, object({ text: someText }, open)] }, 'Texts, or objects with a `text`.', {
          minItems: 1,
          maxItems: documentsMax,
        }),
        top_n: { type: ['integer', 'null'], minimum: 1, description: 'How many results are wanted; all without it.' },
        return_documents: orNull(boolean('Each result has its document.')),
        ...ours,
      } as Record<string, Schema>,
      { optional: ['top_n', 'return_documents', ...ourNames], additionalProperties: { type: 'null' } },
    ),
    RerankList: object({
      id: text('The generation’s id.'),
      object: { const: 'list' },
      model: text('The four-segment id of the route that served.'),
      results: array(
        object(
          {
            index: integer('The place of the document in the request.'),
            relevance_score: number('As the provider gives it; comparable within one model only.'),
            document: object({ text: text('The document.') }),
          },
          { optional: ['document'] },
        ),
        'The most relevant first.',
      ),
      usage,
      router_metadata: ref('RouterMetadata'),
    }),
  },
  operations: {
    'POST /v1/rerank': {
      id: 'createRerank',
      summary: 'Rerank documents',
      description: 'Billed by input tokens, or by search where the provider counts searches.',
      body: { schema: ref('RerankRequest'), examples: rerankExamples },
      answers: answered('RerankList', 'The documents in order.'),
    },
  },
};
