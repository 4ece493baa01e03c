/** The rerank API, in the shape that Cohere and Jina share. */
import { envelopeOf } from '../../errors/envelope.js';
import { costMembers } from '../../wire/cost.js';
import type { RerankTask } from '../../wire/task.js';
import type { Door, WholeAnswer } from '../door.js';
import { readRequest, rerankFields } from './read-request.js';

export const rerankDoor: Door = {
  name: 'rerank',
  path: '/v1/rerank',
  kind: 'rerank',
  fields: rerankFields,
  readRequest,
  writeAnswer,
  writeError: (error) => JSON.stringify(envelopeOf(error)),
};

function writeAnswer({ request, id, model, parts, usage, cost, metadata }: WholeAnswer): string {
  const { documents, topN, returnDocuments } = request.task as RerankTask;
  const { relevances, requests } = parts.task!;
  const results = relevances.slice(0, topN).map(({ index, score }) => {
    const document = returnDocuments ? `,"document":{"text":${documents[index]}}` : '';
    return `{"index":${index},"relevance_score":${score}${document}}`;
  });
  // Only where searches are what is billed.
  const searches = cost.details.request === undefined ? '' : `"search_units":${requests},`;
  const tokens = `"prompt_tokens":${usage.promptTokens},"total_tokens":${usage.promptTokens}`;
  return (
    `{"id":"${id}","object":"list","model":"${model}","results":[${results.join(',')}]` +
    `,"usage":{${tokens},${searches}${costMembers(cost)}},"router_metadata":${metadata}}`
  );
}
