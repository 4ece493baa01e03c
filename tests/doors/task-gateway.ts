/** One gateway before a scripted upstream that embeds texts and puts documents in order, and how each of the two doors is spoken to. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Json, Reply } from '../support/client.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';

export interface TaskBench {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
}

/** What the upstream was asked. */
export interface Asked {
  readonly input?: unknown;
  readonly documents?: readonly string[];
}

export interface TaskDoor {
  readonly name: 'embeddings' | 'rerank';
  readonly path: string;
  readonly kind: 'embedding' | 'rerank';
  /** Asks for two texts. */
  ask(model: string, more?: Json): Json;
  /** An answer to what the upstream was asked; `more` replaces members of it. */
  answer(asked: Asked, more?: Json): Json;
  /** What the client reads: one entry for each text. */
  resultsOf(reply: Reply): unknown[];
  /** Of the answer to `ask`. */
  readonly tokens: number;
}

/** A text, or a list of tokens, is one input. */
export const inputsOf = (input: unknown): readonly unknown[] =>
  Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];

/** Each text has its own length as its vector, so that an order that is wrong shows. */
export const vectorOf = (text: unknown): number[] => [String(text).length, 0.5, -0.25];

export const taskDoors: readonly TaskDoor[] = [
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    kind: 'embedding',
    ask: (model, more) => ({ model, input: ['Grüße 😀', 'b'], ...more }),
    answer: ({ input }, more) => {
      const inputs = inputsOf(input);
      return {
        object: 'list',
        data: inputs.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
        model: 'upstream-model',
        usage: { prompt_tokens: 5 * inputs.length, total_tokens: 5 * inputs.length },
        ...more,
      };
    },
    resultsOf: ({ json: body }) => body.data.map(({ embedding }: Json) => embedding),
    tokens: 10,
  },
  {
    name: 'rerank',
    path: '/v1/rerank',
    kind: 'rerank',
    ask: (model, more) => ({ model, query: 'Grüße', documents: ['a', { text: 'Grüße 😀' }], ...more }),
    answer: ({ documents = [] }, more) => ({
      results: documents.map((text: string, index: number) => ({ index, relevance_score: text.length / 10 })),
      usage: { total_tokens: 10 },
      ...more,
    }),
    resultsOf: ({ json: body }) => body.results.map(({ relevance_score: score }: Json) => score),
    tokens: 10,
  },
];

const route = (provider: string, more: YamlObject = {}): YamlObject => ({
  provider,
  locode: 'defra',
  upstream_model: 'upstream-model',
  price: { input: 3, output: 0 },
  ...more,
});

function catalogue(url: string): YamlObject {
  const provider = (id: string): YamlObject => ({ id, base_url: `${url}/v1`, auth: 'none', headquarters: 'DE' });
  const uses = ['one', 'pin', 'walk', 'policy', 'chain', 'bad', 'gone'];
  return {
    providers: [provider('plain'), provider('spare'), { ...provider('wordless'), dialect: 'cohere' }],
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      { creator: 'acme', model: 'chat', routes: [route('plain')] },
      // One for each use, because breakers remember the failures of a route.
      ...taskDoors.flatMap(({ name, kind }) =>
        uses.map((use) => ({
          creator: 'acme',
          model: `${use}-${name}`,
          kind,
          routes: [route('plain', { carbon: 10 }), route('spare', { carbon: 500 })],
        })),
      ),
      {
        ...{ creator: 'acme', model: 'users', kind: 'embedding' },
        routes: [route('wordless', { carbon: 10 }), route('plain', { carbon: 500 })],
      },
      ...[1_536, 3_072].map((dimensions) => ({
        ...{ creator: 'acme', model: `long-${dimensions}`, kind: 'embedding', dimensions },
        routes: [route('plain')],
      })),
      {
        ...{ creator: 'acme', model: 'by-request', kind: 'embedding' },
        routes: [route('plain', { max_batch: 3, price: { request: 0.002 } })],
      },
      { creator: 'acme', model: 'batch', kind: 'embedding', routes: [route('plain', { max_batch: 3 })] },
      {
        ...{ creator: 'acme', model: 'fixed', kind: 'embedding', dimensions: 3, fixed_dimensions: true },
        routes: [route('plain')],
      },
      {
        ...{ creator: 'acme', model: 'searches', kind: 'rerank', max_input_tokens: 4096 },
        routes: [route('plain', { price: { input: 0, output: 0, request: 0.002 } })],
      },
    ],
  };
}

export function useTaskDoors(config: YamlObject = {}): TaskBench {
  const bench = {} as TaskBench;
  beforeAll(async () => {
    bench.upstream = await startUpstream();
    bench.gateway = await startGateway({ config, catalogue: catalogue(bench.upstream.url) });
  });
  beforeEach(() => {
    bench.upstream.reset();
    bench.upstream.onRequest(({ json: asked }) => json(answerTo(asked as Asked)));
  });
  afterAll(async () => {
    await bench.gateway?.stop();
    await bench.upstream?.stop();
  });
  return bench;
}

export function answerTo(asked: Asked, more?: Json): Json {
  return taskDoors[asked.input === undefined ? 1 : 0]!.answer(asked, more);
}

export const fails: Script = json({ error: { message: 'boom' } }, { status: 500 });
