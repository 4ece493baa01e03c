/** OpenAI's embeddings: each line of the message is one text. */
import type { PlaygroundRequest } from '../request.js';
import {
  bearer,
  type Fields,
  field,
  listOf,
  openaiClients,
  type PlaygroundDoor,
  present,
  type Reading,
  receiptOf,
  usageOf,
} from './door.js';

function body({ model, turns, provider }: PlaygroundRequest): Fields {
  const lines = (turns.at(-1)?.content ?? '').split('\n').filter((line) => line.trim() !== '');
  return { model, input: lines, ...field('provider', provider) };
}

const shownNumbers = 8;

/** The beginning of each vector, as a table. */
function readAnswer(answer: Fields): Reading {
  const vectors = listOf(answer.data).map(({ embedding }) => (Array.isArray(embedding) ? embedding.map(Number) : []));
  const rows = vectors.map((vector, index) => {
    const start = vector.slice(0, shownNumbers).map((value) => value.toFixed(4));
    return `| ${index + 1} | ${vector.length} | ${start.join(', ')}${vector.length > shownNumbers ? ', …' : ''} |`;
  });
  return present<Reading>({
    text: ['| Text | Dimensions | Vector |', '|---|---|---|', ...rows].join('\n'),
    usage: usageOf(answer.usage),
    receipt: receiptOf(answer.router_metadata),
  });
}

export const embeddingsDoor: PlaygroundDoor = {
  name: 'embeddings',
  label: 'Embeddings',
  path: '/v1/embeddings',
  kind: 'embedding',
  streams: false,
  input: { label: 'Texts', placeholder: 'One text on each line' },
  headers: bearer,
  body,
  readEvent: () => ({}),
  readAnswer,
  ...openaiClients('embeddings.create', {
    python: () => ['print(len(answer.data), "vectors of", len(answer.data[0].embedding))'],
    typescript: () => ["console.log(answer.data.length, 'vectors of', answer.data[0].embedding.length);"],
  }),
};
