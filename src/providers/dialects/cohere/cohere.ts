/** Cohere: chat by OpenAI's API, embeddings by its own. */
import type { Dialect } from '../dialect.js';
import { openai } from '../openai/openai.js';
import { cohereEmbedding } from './tasks.js';

export const cohere: Dialect = {
  ...openai,
  embedding: cohereEmbedding,
  protocolNames: `${openai.protocolNames} texts input_type search_document embedding_types truncate NONE output_dimension float`,
};
