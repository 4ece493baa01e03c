/** Rerank in the shape of Cohere and Jina: the message is the query. No client library is needed for one call. */
import type { PlaygroundRequest } from '../request.js';
import {
  bearer,
  type Fields,
  field,
  fieldsOf,
  listOf,
  type PlaygroundDoor,
  present,
  type Reading,
  receiptOf,
  textOf,
  usageOf,
} from './door.js';

function body({ model, turns, documents, provider }: PlaygroundRequest): Fields {
  return {
    model,
    query: turns.at(-1)?.content ?? '',
    documents,
    return_documents: true,
    ...field('provider', provider),
  };
}

function readAnswer(answer: Fields): Reading {
  const rows = listOf(answer.results).map(({ index, relevance_score: score, document }, place) => {
    const text = textOf(document) ?? textOf(fieldsOf(document).text) ?? `document ${Number(index) + 1}`;
    return `| ${place + 1} | ${Number(score).toFixed(4)} | ${text.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`;
  });
  return present<Reading>({
    text: ['| Place | Score | Document |', '|---|---|---|', ...rows].join('\n'),
    usage: usageOf(answer.usage),
    receipt: receiptOf(answer.router_metadata),
  });
}

export const rerankDoor: PlaygroundDoor = {
  name: 'rerank',
  label: 'Rerank',
  path: '/v1/rerank',
  kind: 'rerank',
  streams: false,
  input: { label: 'Query', placeholder: 'What the documents are compared with' },
  headers: bearer,
  body,
  readEvent: () => ({}),
  readAnswer,
  python: {
    setUp: (baseUrl, key) => [
      ...(key.startsWith('os.') ? ['import os'] : []),
      'import requests',
      '',
      'def rerank(**body):',
      `    return requests.post(${JSON.stringify(`${baseUrl}/v1/rerank`)}, json=body, headers={"Authorization": f"Bearer {${key.replaceAll('"', "'")}}"}).json()`,
    ],
    call: 'rerank',
    print: () => ['for result in answer["results"]:', '    print(result["relevance_score"], result["index"])'],
  },
  typescript: {
    setUp: (baseUrl, key) => [
      'const rerank = async (body: object) => {',
      `  const answer = await fetch(${JSON.stringify(`${baseUrl}/v1/rerank`)}, {`,
      "    method: 'POST',",
      `    headers: { authorization: \`Bearer \${${key}}\`, 'content-type': 'application/json' },`,
      '    body: JSON.stringify(body),',
      '  });',
      '  return answer.json();',
      '};',
    ],
    call: 'rerank',
    print: () => ['for (const { index, relevance_score } of answer.results) console.log(relevance_score, index);'],
  },
};
