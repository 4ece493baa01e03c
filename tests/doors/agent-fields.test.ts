/** Fields that coding agents send with every request, on a route that does not speak their API. */
import { describe, expect, it } from 'vitest';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const model = 'plain/acme/one/defra';
const message = { model, max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] };

describe('Claude Code on a translated route', () => {
  it.each([
    ['an id of 64 characters is sent', 'u'.repeat(64), undefined],
    ['a longer one, which OpenAI refuses, is left out and named', 'u'.repeat(65), ['metadata']],
  ])('%s', async (_, user_id, omitted) => {
    const reply = await bench.gateway.call('POST', '/v1/messages', { ...message, metadata: { user_id } });
    expect(reply.status, reply.text).toBe(200);
    expect((bench.plain.calls[0]!.json as { user?: string }).user).toBe(omitted ? undefined : user_id);
    expect(reply.json.router_metadata.omitted).toEqual(omitted);
  });

  it('a longer id is refused where the request is strict', async () => {
    const body = { ...message, metadata: { user_id: 'u'.repeat(65) } };
    const reply = await bench.gateway.call('POST', '/v1/messages', body, {
      headers: { 'x-lodestone-strict': 'true' },
    });
    expect(reply).toMatchObject({ status: 400, json: { error: { param: 'metadata' } } });
    expect(bench.plain.calls).toHaveLength(0);
  });
});

describe('Codex on a translated route', () => {
  it('what it says of itself is left out and named', async () => {
    const body = { model, input: 'Hi', client_metadata: { session_id: 's' } };
    const reply = await bench.gateway.call('POST', '/v1/responses', body);
    expect(reply.status, reply.text).toBe(200);
    expect(bench.plain.calls[0]!.json).not.toHaveProperty('client_metadata');
    expect(reply.json.router_metadata.omitted).toEqual(['client_metadata']);
  });
});
