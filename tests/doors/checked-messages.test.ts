/** What a Messages request may hold: fields that are wrong are refused before a provider is asked, and nothing is dropped in silence. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { completion, json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const path = '/v1/messages';
const plain = 'plain/acme/one/defra';
const claude = 'claude/acme/one/defra';
const answer = { id: 'm', type: 'message', role: 'assistant', model: 'upstream-model', stop_reason: 'end_turn' };
const ask = (model: string, more: Json = {}): Json => ({
  model,
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const post = (body: unknown, headers = {}) => bench.gateway.call('POST', path, body, { headers });
const sent = () => [...bench.plain.calls, ...bench.native.calls];

describe('service_tier', () => {
  it.each([plain, claude])('%s: a tier without a price is refused', async (model) => {
    const reply = await post(ask(model, { service_tier: 'priority' }));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'service_tier' } } });
    expect(reply.json.error).not.toHaveProperty('code');
    expect(sent()).toHaveLength(0);
  });

  it.each(['auto', 'default', 'standard', 'standard_only'])('"%s" needs no price', async (service_tier) => {
    bench.native.enqueue(json({ ...answer, content: [], usage: { input_tokens: 1, output_tokens: 1 } }));
    bench.plain.enqueue(json(completion()));
    for (const model of [plain, claude]) {
      const reply = await post(ask(model, { service_tier }));
      expect(reply.status, reply.text).toBe(200);
    }
    expect(bench.native.calls[0]!.json).toMatchObject({ service_tier });
  });

  it('a tier with a price is sent on a translated route', async () => {
    bench.plain.enqueue(json(completion()));
    const reply = await post(ask('plain/acme/tiered/defra', { service_tier: 'flex' }));
    expect(reply.status, reply.text).toBe(200);
    expect(bench.plain.calls[0]!.json).toMatchObject({ service_tier: 'flex' });
  });

  it.each([plain, claude])('%s: another type than text is refused', async (model) => {
    const reply = await post(ask(model, { service_tier: 5 }));
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'service_tier' } } });
    expect(sent()).toHaveLength(0);
  });
});
