/** Describes the endpoints that are no chats: `/v1/embeddings` and `/v1/rerank`. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { inputsMax } from '../../../doors/embeddings/read-request.js';
import { documentsMax } from '../../../doors/rerank/read-request.js';
import { routerHeaders } from '../headers.js';
import { routerMetadata } from '../receipt.js';
import { body, component, json, operation, record, resource } from '../resource.js';
import * as s from '../schema.js';
import { requestPreferencesSchema } from './chat-request.js';

const model = { ...modelIdSchema, description: 'A pin, `auto/…` or `alias/…` of a model of the endpoint’s kind.' };
const ours = s.optionals({
  fallback: {
    type: ['object', 'null'],
    description: 'As for chat completions, with routes of the same model only. The saved chain does not apply.',
    ...s.open,
  },
  provider: { ...requestPreferencesSchema, description: 'As for chat completions.' },
  session_id: { type: ['string', 'null'], minLength: 1, maxLength: 256, description: 'As for chat completions.' },
});
const noOthers = { additionalProperties: { type: 'null' } };

const someText = { type: 'string', minLength: 1 };
const tokens = s.array({ type: 'integer', minimum: 0 }, 'Tokens.', { minItems: 1 });

const usage = s.openObject({
  prompt_tokens: s.integer('Tokens of the input.'),
  total_tokens: s.integer('The same.'),
  search_units: s.optional(s.integer('Searches, where these are billed.')),
  cost: s.number('US dollars, exact.'),
});

const embeddingRequest = s.object(
  {
    model,
    input: {
      anyOf: [
        someText,
        s.array(someText, 'Texts.', { minItems: 1, maxItems: inputsMax }),
        tokens,
        s.array(tokens, 'Lists of tokens.', { minItems: 1, maxItems: inputsMax }),
      ],
      description: 'What to embed.',
    },
    ...s.optionals({
      dimensions: { type: ['integer', 'null'], minimum: 1, description: 'The length of the vectors.' },
      encoding_format: s.oneOfValues(
        ['float', 'base64', null],
        '`base64` has numbers of four bytes, lowest byte first.',
      ),
      user: s.textOrNull('Sent on to the provider.'),
    }),
    ...ours,
  },
  noOthers,
);
const embeddingList = record('EmbeddingList', {
  object: { const: 'list' },
  data: s.objectsOf('A vector for each input, in their order.', {
    object: { const: 'embedding' },
    index: s.integer('The place of the input.'),
    embedding: { anyOf: [s.array({ type: 'number' }, 'The vector.'), s.text('The vector in base64.')] },
  }),
  model: s.text('The four-segment id of the route that served.'),
  usage,
  router_metadata: routerMetadata,
});

const aboutEmbeddings = 'OpenAI’s embeddings API, on every route of an embedding model.';
export const embeddings = resource('Embeddings', aboutEmbeddings, 'key', {
  'POST /v1/embeddings': operation('createEmbedding', 'Create embeddings', {
    description:
      'Any client of OpenAI’s API works. Where a provider takes fewer inputs in a call, several calls are made; one that fails fails the request, and nothing is billed. Vectors of two models cannot be compared, so no other model ever serves.',
    body: body(component('EmbeddingRequest', embeddingRequest), {
      text: ['A text', { model: 'sandbox/lodestone/embed', input: 'Hello' }],
      list: [
        'Two texts, short vectors',
        { model: 'sandbox/lodestone/embed', input: ['Hello', 'world'], dimensions: 64 },
      ],
    }),
    answers: json('The vectors.', embeddingList, routerHeaders),
  }),
});

const rerankRequest = s.object(
  {
    model,
    query: { ...someText, description: 'What the documents are compared with.' },
    documents: s.array({ anyOf: [someText, s.openObject({ text: someText })] }, 'Texts, or objects with a `text`.', {
      minItems: 1,
      maxItems: documentsMax,
    }),
    ...s.optionals({
      top_n: { type: ['integer', 'null'], minimum: 1, description: 'How many results are wanted; all without it.' },
      return_documents: s.booleanOrNull('Each result has its document.'),
    }),
    ...ours,
  },
  noOthers,
);
const rerankList = record('RerankList', {
  id: s.text('The generation’s id.'),
  object: { const: 'list' },
  model: s.text('The four-segment id of the route that served.'),
  results: s.objectsOf('The most relevant first.', {
    index: s.integer('The place of the document in the request.'),
    relevance_score: s.number('As the provider gives it; comparable within one model only.'),
    document: s.optional(s.object({ text: s.text('The document.') })),
  }),
  usage,
  router_metadata: routerMetadata,
});

const aboutRerank = 'Puts documents in order of relevance, in the shape that Cohere and Jina share.';
export const rerank = resource('Rerank', aboutRerank, 'key', {
  'POST /v1/rerank': operation('createRerank', 'Rerank documents', {
    description: 'Billed by input tokens, or by search where the provider counts searches.',
    body: body(component('RerankRequest', rerankRequest), {
      order: [
        'Three documents',
        {
          model: 'sandbox/lodestone/rerank',
          query: 'capital of France',
          documents: ['Berlin is in Germany.', 'Paris is the capital of France.', 'Bread is good.'],
          top_n: 2,
        },
      ],
    }),
    answers: json('The documents in order.', rerankList, routerHeaders),
  }),
});
