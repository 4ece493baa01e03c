/** A gateway without any provider's key serves every API from its sandbox. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { doorCases } from './doors.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.stop());
const post = (path: string, body: object) => gateway.call('POST', path, body);

describe.each(doorCases.map((door) => [door.name, door] as const))('%s in the sandbox', (_, door) => {
  const { path } = door;

  it('thinks, whole and streamed', async () => {
    const whole = await post(path, door.ask('sandbox/lodestone/thinking'));
    expect(whole.status, whole.text).toBe(200);
    expect(door.textOf(whole)).toMatch(/Hi$/);
    const streamed = await gateway.stream(door.ask('sandbox/lodestone/thinking'), { path });
    expect(door.streamTextOf(streamed)).toBe('Hi');
    expect(streamed.text).toContain('wrote ');
  });

  it('is cut', async () => {
    const reply = await gateway.stream(door.ask('sandbox/lodestone/cut'), { path });
    expect(door.expectEnd(reply)).toMatchObject({ end: 'cut', reason: null });
  });

  it('has an answer that cannot be priced', async () => {
    const model = 'sandbox/lodestone/pricing-fault';
    expect((await gateway.stream(door.ask(model), { path })).text).toContain('cost_unresolvable');
    expect(await post(path, door.ask(model))).toMatchObject({ status: 503 });
  });
});

describe('embeddings and rerank in the sandbox', () => {
  it('walk to the second route where the first fails', async () => {
    const reply = await post('/v1/embeddings', { model: 'auto/lodestone/embed-failover', input: 'Hello' });
    expect(reply.json.router_metadata, reply.text).toMatchObject({
      providers_attempted: ['sandbox', 'sandbox-spare'],
    });
  });

  it('put the document with the words of the query first', async () => {
    const documents = ['Bread is good.', 'Paris is the capital of France.', 'Berlin'];
    const asked = { model: 'auto/lodestone/rerank', query: 'capital of France', documents };
    const { json } = await post('/v1/rerank', { ...asked, top_n: 1, return_documents: true });
    expect(json.results).toMatchObject([{ index: 1, document: { text: documents[1] } }]);
  });

  it('are listed with their kind, and alone where that is asked for', async () => {
    const list = async (query: string) => (await gateway.call('GET', `/v1/models${query}`)).json.data;
    const vectors: { id: string; kind: string }[] = await list('?kind=embedding');
    expect(vectors.map(({ kind }) => kind)).toEqual(vectors.map(() => 'embedding'));
    expect(vectors.find(({ id }) => id === 'auto/lodestone/embed')).toMatchObject({
      ...{ dimensions: 384, context_length: 65_536, architecture: { modality: 'text->embeddings' } },
      supported_parameters: ['dimensions', 'encoding_format', 'user'],
    });
    const all: { id: string; kind: string; architecture: object }[] = await list('');
    expect(all.find(({ id }) => id === 'auto/lodestone/echo')).toMatchObject({
      ...{ kind: 'chat', architecture: { modality: 'text->text' } },
    });
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['chat', 'embedding', 'rerank']));
    expect(await gateway.call('GET', '/v1/models?kind=x')).toMatchObject({
      status: 400,
      json: { error: { param: 'kind' } },
    });
  });
});
