import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { hang, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { chatCatalogue, model, route } from '../catalogue.js';
import { ask, expectError, useGateway } from '../harness.js';

describe('POST /admin/v1/catalogue/reload', () => {
  let gateway: TestGateway;
  let upstream: ScriptedUpstream;
  const reload = () => gateway.admin('POST', '/catalogue/reload');
  const extra = 'acme/meta/extra/defra';

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalogue: chatCatalogue(upstream.url) });
  });
  afterEach(async () => {
    upstream.reset();
    gateway.files.writeCatalogue(chatCatalogue(upstream.url));
    expect((await reload()).status).toBe(200);
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  it('200 with the counts; the new routes serve at once', async () => {
    expect((await gateway.chat(ask({ model: extra }))).status).toBe(404);
    gateway.files.writeCatalogue(chatCatalogue(upstream.url, [model('extra', [route()])]));
    const reply = await reload();
    expect([reply.status, reply.json]).toMatchObject([200, { models: 7, routes: 10, providers: 3 }]);
    expect((await gateway.chat(ask({ model: extra }))).status).toBe(200);
    const { json } = await gateway.call('GET', '/v1/models');
    expect(json.data.map(({ id }: { id: string }) => id)).toContain(extra);
  });

  it('422 with every fault, and the old snapshot stays in use', async () => {
    const before = (await gateway.call('GET', '/v1/models')).json;
    const faulty = chatCatalogue(upstream.url, [
      model('extra', [route(), route({ provider: 'nobody' })]),
      model('worse', [route({ locode: 'zzzzz', price: { input: -1, output: 1 } })]),
      { creator: 'meta', model: 'no-routes', routes: [] },
    ]);
    gateway.files.writeCatalogue(faulty);
    const reply = await reload();
    expectError(reply, {
      status: 422,
      type: 'invalid_request_error',
      code: 'catalogue_invalid',
      says: ['catalogue.yaml:', 'nobody', 'zzzzz', 'input', 'routes', 'stays in use'],
    });
    expect((await gateway.call('GET', '/v1/models')).json).toEqual(before);
    expect((await gateway.chat(ask())).status).toBe(200);
    expect((await gateway.chat(ask({ model: extra }))).status).toBe(404);
  });

  it('422 for a file that is no YAML, or gone', async () => {
    const { writeFileSync, rmSync } = await import('node:fs');
    writeFileSync(gateway.files.catalogueFile, 'models: [{');
    expect((await reload()).json.error.code).toBe('catalogue_invalid');
    rmSync(gateway.files.catalogueFile);
    expect((await reload()).json.error.code).toBe('catalogue_invalid');
    expect((await gateway.chat(ask())).status).toBe(200);
  });

  it('a price changed by a reload is the price of the next answer, not of the last', async () => {
    const cost = async () => (await gateway.chat(ask({ model: extra }))).json.usage.cost;
    gateway.files.writeCatalogue(
      chatCatalogue(upstream.url, [model('extra', [route({ price: { input: 1, output: 1 } })])]),
    );
    await reload();
    expect(await cost()).toBe(0.000012);
    gateway.files.writeCatalogue(
      chatCatalogue(upstream.url, [model('extra', [route({ price: { input: 2, output: 2 } })])]),
    );
    await reload();
    expect(await cost()).toBe(0.000024);
  });

  it('a request that is under way keeps the snapshot that it began with', async () => {
    gateway.files.writeCatalogue(chatCatalogue(upstream.url, [model('extra', [route()])]));
    await reload();
    upstream.enqueue(async (exchange) => {
      await exchange.sleep(300);
      const body = JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      });
      await exchange.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      exchange.done();
    }, hang());
    const running = gateway.chat(ask({ model: extra }));
    await upstream.waitForCalls(1);
    gateway.files.writeCatalogue(chatCatalogue(upstream.url));
    expect((await reload()).status).toBe(200);
    expect((await running).json.model).toBe(extra);
    expect((await gateway.chat(ask({ model: extra }))).status).toBe(404);
  });
});

describe('PUT /admin/v1/models/{creator}/{model}/availability', () => {
  const bench = useGateway();
  const put = (body: unknown, id = 'meta/llama') => bench.gateway.admin('PUT', `/models/${id}/availability`, body);
  const answer = async () => {
    const { status, json } = await bench.gateway.chat(ask());
    return [status, json.error?.code];
  };

  it('goes from each state to each other, and the next request follows', async () => {
    const answers = {
      available: [200, undefined],
      soft_disabled: [503, 'model_unavailable'],
      disabled: [404, 'model_not_found'],
    } as const;
    const states = Object.keys(answers) as (keyof typeof answers)[];
    for (const from of states) {
      for (const to of states) {
        expect((await put({ state: from })).status).toBe(200);
        const reply = await put({ state: to, reason: 'because' });
        expect([reply.status, reply.json]).toEqual([200, expect.objectContaining({ state: to })]);
        expect(await answer(), `${from} → ${to}`).toEqual(answers[to]);
      }
    }
    await put({ state: 'available' });
  });

  it('404 for a model that the catalogue does not have, 400 for a state that there is not', async () => {
    expect((await put({ state: 'disabled' }, 'meta/none')).status).toBe(404);
    for (const body of [{ state: 'off' }, {}, { state: null }]) {
      const reply = await put(body);
      expect([reply.status, reply.json.error.param]).toEqual([400, 'state']);
    }
    expect(await answer()).toEqual([200, undefined]);
  });

  it('outlives a reload of the catalogue', async () => {
    await put({ state: 'disabled' });
    expect((await bench.gateway.admin('POST', '/catalogue/reload')).status).toBe(200);
    expect(await answer()).toEqual([404, 'model_not_found']);
    await put({ state: 'available' });
  });
});
