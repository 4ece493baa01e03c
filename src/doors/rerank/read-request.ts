/** Reads a request of the rerank API, in the shape that Cohere and Jina share: a query, and documents to put in order. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import type { RerankTask } from '../../wire/task.js';
import { type Fields, isFields } from '../body.js';
import { FieldTable, passed, read, refusal, routing, unknownHere } from '../field-table.js';
import { type ReadTask, readCount, readTaskRequest, type TaskApi } from '../task-fields.js';

/** More would fill the memory; providers take fewer. */
export const documentsMax = 10_000;

/** The table of the API. */
export const rerankFields = new FieldTable({
  ...routing,
  model: read('Replaced by the model of the route.'),
  query: passed(),
  documents: passed('As texts.'),
  top_n: passed('As sent. The answer is cut here too.'),
  trace: unknownHere('OpenRouter'),
  user: unknownHere('OpenRouter'),
  return_documents: read('The documents are added here.', 'Cohere'),
});

const rerankApi: TaskApi = {
  fields: rerankFields,
  own: 'documents',
  read: readTask,
};

export function readRequest(bytes: Buffer, large = false): ChatRequest {
  return readTaskRequest(rerankApi, bytes, large);
}

function readTask(fields: Fields, encoding: TextEncoding): ReadTask {
  const { query, return_documents: returned = false } = fields;
  if (query === undefined || query === '') {
    throw refusal('query', '`query` is missing or empty. Send the text that the documents are compared with.');
  }
  if (typeof query !== 'string') {
    throw gatewayError('field_type', { param: 'query', found: shown(query, encoding), expected: 'a string' });
  }
  if (typeof returned !== 'boolean') {
    const found = shown(returned, encoding);
    throw gatewayError('field_type', { param: 'return_documents', found, expected: 'a boolean' });
  }
  const topN = readCount(fields.top_n, 'top_n', encoding);
  const documents = readDocuments(fields.documents, encoding);
  const task: RerankTask = {
    kind: 'rerank',
    query: JSON.stringify(query),
    documents,
    ...(topN !== undefined && { topN }),
    returnDocuments: returned,
  };
  return { task, members: `"query":${task.query},"documents":[${documents.join(',')}]` };
}

function readDocuments(documents: unknown, encoding: TextEncoding): readonly string[] {
  const param = 'documents';
  const expected = 'a list of texts, or of objects with a `text`';
  if (documents === undefined) throw refusal(param, '`documents` is missing. Send the texts to put in order.');
  if (!Array.isArray(documents)) {
    throw gatewayError('field_type', { param, found: shown(documents, encoding), expected });
  }
  if (documents.length === 0) throw refusal(param, '`documents` is an empty list. Send at least one text.');
  if (documents.length > documentsMax) {
    const value = `a list of ${documents.length} entries`;
    throw gatewayError('parameter_out_of_range', { param, value, range: `at most ${documentsMax} entries` });
  }
  return documents.map((document: unknown, index) => {
    const text = isFields(document) ? document.text : document;
    if (text === '') throw refusal(param, `\`documents[${index}]\` is an empty text. Leave it out.`);
    if (typeof text === 'string') return JSON.stringify(text);
    const found = `a list whose entry ${index} is ${shown(document, encoding)}`;
    throw gatewayError('field_type', { param, found, expected });
  });
}
