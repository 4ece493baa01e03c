import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { broken, excludedCountry, expectReceipt, type Lane, metadataOf, useRouting } from '../../support/routing.js';
import { expectError } from '../harness.js';

/** The terms of alpha and delta exclude callers from there. */
const routing = useRouting({ config: { server: { trusted_proxies: ['127.0.0.0/8'], country_header: 'x-country' } } });
const headers = { 'x-country': excludedCountry };
const from = (lane: Lane, more: Json = {}) => routing.gateway.chat(lane.body(more), { key: lane.key, headers });
const row = { status: 451, type: 'permission_error', code: 'unavailable_for_legal_reasons', param: 'model' };
const chain = (...models: string[]) => ({ fallback: { models } });

describe('providers whose terms exclude the caller’s territory', () => {
  it('are no candidates of auto/: another provider serves, and they are not asked, whatever fails', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'delta']);
    expect((await from(lane)).json.router_metadata).toEqual(metadataOf(lane, 'beta', ['beta']));
    routing.on('beta', broken);
    const receipt = { attempted: ['beta'], last: 'out of order (HTTP 500)' };
    expectReceipt(await from(lane), 'provider_error', receipt);
    expect(routing.called).toEqual(['beta', 'beta']);
    expect((await lane.chat()).json.router_metadata.provider).toBe('alpha');
  });

  it('451 where every candidate is one, and for the pin of one; nobody is called, and no chain is walked', async () => {
    const lane = await routing.lane(['alpha', 'delta', 'beta'], { policy: { providers: { deny: ['beta'] } } });
    expectError(await from(lane, chain(lane.pin('beta'))), row);
    expectError(await from(lane, { model: lane.pin('alpha'), ...chain(lane.pin('beta')) }), row);
    expect(routing.called).toEqual([]);
  });

  it('an entry of a chain that is stopped by territory is passed over', async () => {
    const lane = await routing.lane(['beta', 'alpha', 'gamma']);
    routing.on('beta', broken);
    const pinned = { model: lane.pin('beta') };
    const reply = await from(lane, { ...pinned, ...chain(lane.pin('alpha'), lane.pin('gamma')) });
    expect(reply.json.router_metadata.providers_attempted).toEqual(['beta', 'gamma']);
    const failed = await from(lane, { ...pinned, ...chain(lane.pin('alpha')) });
    expect([failed.status, failed.json.error.code]).toEqual([503, 'provider_error']);
    expect(routing.called).toEqual(['beta', 'gamma', 'beta']);
  });

  it('are explained as territory, and the explanation is what the chat does', async () => {
    const lane = await routing.lane(['alpha', 'beta', 'delta']);
    const explain = async (more: Json = {}) =>
      (await routing.gateway.call('POST', '/v1/routes/explain', lane.body(more), { key: lane.key, headers })).json;
    const { candidates, would_serve } = await explain();
    expect(candidates.map(({ id, verdict, rank }: Json) => [id, verdict, rank])).toEqual([
      [lane.pin('beta'), 'eligible', 1],
      [lane.pin('alpha'), 'territory', null],
      [lane.pin('delta'), 'territory', null],
    ]);
    expect(would_serve).toBe(lane.pin('beta'));
    const pinned = { model: lane.pin('delta') };
    expect((await explain(pinned)).error).toEqual((await from(lane, pinned)).json);
  });

  it('are not listed for that caller', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    const { data } = (await routing.gateway.call('GET', '/v1/models', undefined, { key: lane.key, headers })).json;
    const ids = data.map(({ id }: Json) => id);
    expect([ids.includes(lane.pin('alpha')), ids.includes(lane.pin('beta'))]).toEqual([false, true]);
  });
});
