/** Holds outlive a restart for auto/ too. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { type SpawnedGateway, spawnGateway } from '../../support/gateway.js';
import { modelOf, routingCatalogue, serving, spent } from '../../support/routing.js';
import { full } from '../../support/scaled.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { messages } from '../harness.js';

let upstream: ScriptedUpstream;
let gateway: SpawnedGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  const models = [modelOf('m1', ['alpha', 'beta'])];
  gateway = await spawnGateway({ catalogue: routingCatalogue(upstream.url, models) });
  await gateway.call('PUT', '/v1/routing-policy', { prefer: 'price' });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

// A stop writes at least what is there after a kill, so it is tried with LODESTONE_FULL=1 alone.
it.each(full ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGKILL'] as const))(
  'after %s the held route is still passed by and not listed',
  async (signal) => {
    const day = dayOf(new Date());
    upstream.onRequest(({ path }) => (path.startsWith('/alpha/') ? spent : serving));
    const chat = async () => (await gateway.chat({ model: 'auto/meta/m1', messages })).json.router_metadata;
    await chat();
    await gateway.kill(signal);
    await gateway.restart();
    upstream.reset();
    upstream.reply(serving);
    const metadata = await chat();
    const { data } = (await gateway.call('GET', '/v1/models')).json;
    // At midnight UTC the hold ends, and nothing can be said.
    if (dayOf(new Date()) !== day) return;
    expect(metadata.providers_attempted).toEqual(['beta']);
    expect(upstream.calls.map(({ path }) => path.split('/')[1])).toEqual(['beta']);
    expect(data.map(({ id }: Json) => id)).toEqual(['beta/meta/m1/frpar', 'auto/meta/m1']);
  },
  180_000,
);
