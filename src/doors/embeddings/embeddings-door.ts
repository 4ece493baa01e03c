/** OpenAI's embeddings API. */
import { envelopeOf } from '../../errors/envelope.js';
import { costMembers } from '../../wire/cost.js';
import { embeddingsWords } from '../default-words.js';
import type { Door, WholeAnswer } from '../door.js';
import { embeddingsFields, readRequest } from './read-request.js';

export const embeddingsDoor: Door = {
  name: 'embeddings',
  path: '/v1/embeddings',
  kind: 'embedding',
  fields: embeddingsFields,
  defaultWords: embeddingsWords,
  readRequest,
  writeAnswer,
  writeError: (error) => JSON.stringify(envelopeOf(error)),
};

function writeAnswer({ model, parts, usage, cost, metadata }: WholeAnswer): string {
  const data = parts.task!.vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  const tokens = `"prompt_tokens":${usage.promptTokens},"total_tokens":${usage.promptTokens}`;
  return (
    `{"object":"list","data":[${data.join(',')}],"model":"${model}"` +
    `,"usage":{${tokens},${costMembers(cost)}},"router_metadata":${metadata}}`
  );
}
