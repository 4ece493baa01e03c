import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { broken, everything, expectReceipt, useRouting } from '../../support/routing.js';

const routing = useRouting();

const parameters: [string, unknown][] = [
  ['response_format', { type: 'json_object' }],
  ['logprobs', true],
  ['logit_bias', { '5': 1 }],
  ['n', 2],
];
const without = (param: string) => ({ capabilities: everything.filter((capability) => capability !== param) });

describe('a route that cannot apply a parameter, under auto/', () => {
  it.each(parameters)('%s: the routes that can are tried first and only, in their order', async (param, value) => {
    const lane = await routing.lane({ alpha: without(param), beta: {}, gamma: without(param), delta: {} });
    routing.on('beta', broken);
    const { json } = await lane.chat({ [param]: value });
    expect(json.router_metadata.providers_attempted).toEqual(['beta', 'delta']);
    expect(routing.called).toEqual(['beta', 'delta']);
    expect((routing.upstream.calls[1]!.json as Json)[param]).toEqual(value);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it.each(parameters)('%s: where the others failed, their failure answers, not the 400', async (param, value) => {
    const lane = await routing.lane({ alpha: without(param), beta: {}, gamma: without(param) });
    routing.on('beta', broken);
    const reply = await lane.chat({ [param]: value });
    expectReceipt(reply, 'provider_error', { attempted: ['beta'], last: 'out of order (HTTP 500)' });
    expect(routing.called).toEqual(['beta']);
  });

  it('a route must be able to apply all of them', async () => {
    const lane = await routing.lane({ alpha: without('n'), beta: without('logprobs'), gamma: {} });
    expect((await lane.chat({ n: 2, logprobs: true })).json.router_metadata.provider).toBe('gamma');
  });

  it('where each cannot apply another one, the 400 names the first route’s', async () => {
    const lane = await routing.lane({ alpha: without('n'), beta: without('logprobs') });
    const { status, json } = await lane.chat({ n: 2, logprobs: true });
    expect([status, json.error.param, json.error.code]).toEqual([400, 'n', undefined]);
    expect(json.error.message).toContain('alpha');
  });

  it.each<[string, unknown]>([
    ['n', 1],
    ['response_format', { type: 'text' }],
    ['logprobs', false],
    ['logit_bias', {}],
    ['tools', [{ type: 'function', function: { name: 'f' } }]],
    ['n', null],
    ['response_format', null],
  ])('%s: %j needs nothing of a route', async (param, value) => {
    const lane = await routing.lane({ alpha: { capabilities: [] }, beta: {} });
    expect((await lane.chat({ [param]: value })).json.router_metadata.provider).toBe('alpha');
  });

  it('a 400 for a parameter that no route can apply affects no breaker and calls nobody, however often it comes', async () => {
    const lane = await routing.lane({ alpha: { capabilities: [] } });
    for (let i = 0; i < 20; i++) expect((await lane.chat({ n: 2 })).status).toBe(400);
    expect(await lane.route('alpha')).toMatchObject({ breaker: 'closed', error_rate: null });
    expect(routing.called).toEqual([]);
  });
});
