/** Tools that run at the provider: what is billed of them, and where they are left out. */
import { describe, expect, it } from 'vitest';
import { json, sse } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const pin = 'respond/acme/one/defra';
const ask = (more: object) => ({ model: pin, input: 'Hi', max_output_tokens: 100, ...more });

describe('searches of a response', () => {
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
  const call = (type: string) => ({ type: 'web_search_call', id: type, status: 'completed', action: { type } });
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'upstream-model',
    output: [call('search'), call('open_page'), call('find_in_page'), message],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  // One search at 10 USD, a token of 3 and one of 15 USD a million.
  const bill = { cost: 10.000018, cost_details: { input: '0.000003', output: '0.000015', tools: '10' } };
  const tools = [{ type: 'web_search' }];

  it('are billed, and the pages that it opened are not', async () => {
    bench.native.enqueue(json(response));
    const reply = await bench.gateway.call('POST', '/v1/responses', ask({ tools }));
    expect(reply.json.usage, reply.text).toMatchObject(bill);
  });

  it('are billed alike in a stream', async () => {
    const delta = { type: 'response.output_text.delta', delta: 'Hi', item_id: 'm', output_index: 3, content_index: 0 };
    const events = [{ type: 'response.created', response }, delta, { type: 'response.completed', response }];
    bench.native.enqueue(sse(events, { noDone: true }));
    const reply = await bench.gateway.stream(ask({ tools, stream: true }), { path: '/v1/responses' });
    expect(reply.frames.at(-1)!.json, reply.text).toMatchObject({ response: { usage: bill } });
  });
});
