import { describe, expect, it } from 'vitest';
import { broken, costOf, limited, metadataOf, useRouting } from '../../support/routing.js';
import { badRequest, expectError } from '../harness.js';

const routing = useRouting();

describe('200 for an auto/ id: who served, and the way there', () => {
  it('the first candidate serves: one call, exact router_metadata, headers, body, record and charge', async () => {
    const lane = await routing.lane(['beta', 'gamma', 'alpha']);
    const reply = await lane.chat();
    expect(reply.status, reply.text).toBe(200);
    expect(routing.called).toEqual(['alpha']);
    expect(reply.json.router_metadata).toEqual(metadataOf(lane, 'alpha', ['alpha']));
    expect([reply.json.model, reply.json.id]).toEqual([lane.pin('alpha'), reply.headers['x-generation-id']]);
    expect(reply.headers).toMatchObject({ 'x-router-provider': 'alpha', 'x-router-locode': 'defra' });
    expect(await lane.charges()).toEqual([{ generation: reply.json.id, pico: costOf('alpha') }]);
    expect(await lane.record()).toMatchObject({
      ...{ id: reply.json.id, requested_model: lane.auto, served_model: lane.pin('alpha'), status: 200 },
      ...{ provider: 'alpha', locode: 'defra', providers_attempted: ['alpha'], fallback_occurred: false },
      attempts: [{ provider: 'alpha', locode: 'defra', outcome: 'served', status: 200, error: null }],
    });
  });

  it('falls through its ranked candidates in order; each attempt is in the metadata and the record, one is billed', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma', 'delta']);
    routing.on('alpha', broken);
    routing.on('beta', limited);
    const reply = await lane.chat();
    expect(reply.status, reply.text).toBe(200);
    expect(routing.called).toEqual(['alpha', 'beta', 'gamma']);
    expect(reply.json.router_metadata).toEqual(metadataOf(lane, 'gamma', ['alpha', 'beta', 'gamma']));
    expect(reply.json.usage.cost).toBe(Number(costOf('gamma')) / 1e12);
    expect(await lane.charges()).toEqual([{ generation: reply.json.id, pico: costOf('gamma') }]);
    expect(await lane.record()).toMatchObject({
      ...{ served_model: lane.pin('gamma'), provider: 'gamma', locode: 'usnyc', fallback_occurred: true },
      providers_attempted: ['alpha', 'beta', 'gamma'],
      attempts: [
        { provider: 'alpha', locode: 'defra', outcome: 'server_error', status: 500, error: expect.any(String) },
        { provider: 'beta', locode: 'frpar', outcome: 'rate_limit', status: 429, error: expect.any(String) },
        { provider: 'gamma', locode: 'usnyc', outcome: 'served', status: 200, error: null },
      ],
    });
  });

  it('one entry an attempt: two regions of one provider are two entries', async () => {
    const lane = await routing.lane(['alpha', ['alpha', { locode: 'frpar' }], 'zeta']);
    routing.on('alpha', broken);
    const reply = await lane.chat();
    expect(reply.json.router_metadata).toEqual(metadataOf(lane, 'zeta', ['alpha', 'alpha', 'zeta']));
    expect((await lane.record()).attempts).toMatchObject([
      { provider: 'alpha', locode: 'frpar' },
      { provider: 'alpha', locode: 'defra' },
      { provider: 'zeta' },
    ]);
  });

  it('a streamed answer has the same metadata on its first frame, and on its last JSON frame with stream_end', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', broken);
    const reply = await lane.stream();
    expect([reply.status, reply.content, reply.done]).toEqual([200, 'one two three', true]);
    const expected = metadataOf(lane, 'beta', ['alpha', 'beta']);
    const frames = reply.frames.flatMap(({ json }) => (json ? [json as Record<string, unknown>] : []));
    expect(frames[0]!.router_metadata).toEqual(expected);
    expect(frames.at(-1)!.router_metadata).toEqual({ ...expected, stream_end: 'complete' });
    for (const frame of frames) expect(frame).toMatchObject({ model: lane.pin('beta'), id: frames[0]!.id });
    expect(await lane.charges()).toEqual([{ generation: frames[0]!.id, pico: costOf('beta') }]);
    expect(await lane.record()).toMatchObject({ streamed: true, stream_end: 'complete', fallback_occurred: true });
  });

  it('an alias to auto/ walks as the id does, and is named', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const alias = await lane.alias('fast', lane.auto);
    routing.on('alpha', broken);
    const { json } = await lane.chat({ model: alias });
    const expected = { requested_model: alias, alias: 'fast' };
    expect(json.router_metadata).toEqual(metadataOf(lane, 'beta', ['alpha', 'beta'], expected));
    expect((await lane.record()).requested_model).toBe(alias);
  });

  it('each upstream is sent the whole request again, with its own model, and the fallback is never passed on', async () => {
    const lane = await routing.lane({ alpha: { upstream_model: 'up-a' }, beta: {} });
    routing.on('alpha', broken);
    await lane.chat({ temperature: 0.5, seed: 7, fallback: { models: [] } });
    const [first, second] = routing.upstream.calls.map(({ json }) => json);
    expect(first).toEqual({ ...lane.body(), model: 'up-a', temperature: 0.5, seed: 7, stream: false });
    expect(second).toEqual({ ...lane.body(), model: 'upstream-model', temperature: 0.5, seed: 7, stream: false });
  });
});

describe('what is never substituted', () => {
  it.each(['four segments', 'three segments', 'an alias'])('a pin of %s is not retried elsewhere', async (form) => {
    const lane = await routing.lane(['alpha', 'beta']);
    const pins = {
      ...{ 'four segments': lane.pin('alpha'), 'three segments': `alpha/meta/${lane.model}` },
      'an alias': form === 'an alias' ? await lane.alias('pinned', lane.pin('alpha')) : '',
    };
    routing.on('alpha', broken);
    const reply = await lane.chat({ model: pins[form as keyof typeof pins] });
    expectError(reply, {
      status: 503,
      type: 'provider_error',
      code: 'provider_error',
      says: ['alpha', 'out of order'],
    });
    expect(routing.called).toEqual(['alpha']);
  });

  it('a pin whose region is not served is a 404, whatever else could serve it', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const row = { status: 404, type: 'not_found', code: 'not_found', param: 'model' };
    expectError(await lane.chat({ model: lane.pin('alpha', 'frpar') }), row);
    expect(routing.called).toEqual([]);
  });
});

describe('auto/ ids that name nothing', () => {
  it('404 not_found for a model that the catalogue has not', async () => {
    const lane = await routing.lane(['alpha']);
    const row = { status: 404, type: 'not_found', code: 'not_found', param: 'model', says: ['meta/none'] };
    expectError(await lane.chat({ model: 'auto/meta/none' }), row);
  });

  it.each([
    ['auto/meta', 2],
    ['auto/meta/m1/defra', 4],
  ])('400 for %s, with the segment count: auto/ ids have 3', async (model, count) => {
    const lane = await routing.lane(['alpha']);
    expectError(await lane.chat({ model }), badRequest('model', `${count} segments`));
  });

  it('a fully disabled model is 404 model_not_found, a soft-disabled one 503 with its reason; nobody is called', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    await lane.state('disabled');
    const gone = { status: 404, type: 'internal_server_error', code: 'model_not_found' };
    expect((await lane.chat()).json.error).toMatchObject({ type: gone.type, code: gone.code });
    await lane.state('soft_disabled', 'under repair');
    const row = { status: 503, type: 'provider_unavailable', code: 'model_unavailable', param: 'model' };
    expectError(await lane.chat(), { ...row, says: ['under repair'] });
    expect(routing.called).toEqual([]);
    await lane.state('available');
    expect((await lane.chat()).status).toBe(200);
  });
});
