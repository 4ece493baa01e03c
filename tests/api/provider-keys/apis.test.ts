/** Several keys of the operator at every API, and the shares of keys with weights under rate limits. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SocketClient } from '../../doors/socket-client.js';
import { scaled } from '../../faults/fixture.js';
import { completion, json, type Script, sse, streamOf, type UpstreamCallLog } from '../../support/scripted-upstream.js';
import { clock, keyedRig, keyOf, limited, pin, prompt, rowOf, startAnew, weights } from './rig.js';

const rig = keyedRig();
const called = () => rig.upstream.calls.map(keyOf).join(' ');

beforeEach(() => startAnew(rig));

describe('every API', () => {
  const stream = sse(streamOf(['Hel', 'lo']));
  const message = {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'upstream-model', stop_reason: 'end_turn' },
    ...{ stop_sequence: null, content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const vectors = {
    object: 'list',
    model: 'upstream-model',
    data: [{ object: 'embedding', index: 0, embedding: [1, 2] }],
  };
  const response = {
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'upstream-model', error: null },
    output: [
      {
        ...{ type: 'message', id: 'o', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const maxTokens = { max_tokens: 5 };

  it.each<[string, string, object, Script]>([
    ['chat', '/v1/chat/completions', { model: pin, messages: prompt }, json(completion())],
    ['a stream', '/v1/chat/completions', { model: pin, messages: prompt, stream: true }, stream],
    ['messages, translated', '/v1/messages', { model: pin, messages: prompt, ...maxTokens }, json(completion())],
    [
      'messages, as they are',
      '/v1/messages',
      { model: 'claude/meta/llama/defra', messages: prompt, ...maxTokens },
      json(message),
    ],
    [
      'a count of tokens',
      '/v1/messages/count_tokens',
      { model: 'claude/meta/llama/defra', messages: prompt },
      json({ input_tokens: 7 }),
    ],
    ['responses, as they are', '/v1/responses', { model: 'respond/meta/llama/defra', input: 'Hi' }, json(response)],
    [
      'embeddings',
      '/v1/embeddings',
      { model: 'pair/meta/vectors/defra', input: 'Hi' },
      json({ ...vectors, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    ],
  ])('goes on with the next key: %s', async (_, path, body, answer) => {
    rig.upstream.enqueue(limited());
    rig.upstream.reply(answer);
    const reply = await rig.gateway.call('POST', path, body);
    expect(reply.status, reply.text).toBe(200);
    const names = called().split(' ');
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(2);
    if (path.endsWith('count_tokens')) expect(reply.json).toEqual({ input_tokens: 7 });
  });

  it('goes on with the next key: the WebSocket of responses', async () => {
    rig.upstream.enqueue(limited());
    rig.upstream.reply(stream);
    const socket = await SocketClient.open(rig.gateway.url, {
      authorization: `Bearer ${(await rig.gateway.createAccount()).key}`,
    });
    const events = await socket.ask({ model: pin, input: 'Hi' });
    expect(events.at(-1).type).toBe('response.completed');
    socket.ws.close();
    expect(new Set(called().split(' ')).size).toBe(2);
  });

  it('with a batch of embeddings: all calls of an attempt carry one key, and a later one that is limited begins anew', async () => {
    const inputs = ['a', 'b', 'c', 'd', 'e'];
    const answer = (call: UpstreamCallLog): Script => {
      const count = (call.json as { input: unknown[] }).input.length;
      const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: [1, 2] }));
      return json({ ...vectors, data, usage: { prompt_tokens: count, total_tokens: count } });
    };
    rig.upstream.onRequest((call) => (rig.upstream.calls.length === 3 ? limited() : answer(call)));
    const reply = await rig.gateway.call('POST', '/v1/embeddings', { model: 'pair/meta/batches/defra', input: inputs });
    expect([reply.status, reply.json.data?.length]).toEqual([200, 5]);
    const names = called().split(' ');
    const [first] = names;
    const last = names.at(-1)!;
    expect(last).not.toBe(first);
    expect(names.filter((name) => name === last)).toHaveLength(5);
  });
});

it('four keys with weights under 429s: no request fails while one key is left, and shares are within 10 % of the weights', async () => {
  const names = Object.keys(weights);
  const served: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const slotMs = 1_000;
  let limits = 0;
  // Each key is limited for an eighth of the time, and never two at once.
  rig.upstream.onRequest((call) => {
    const slot = Math.floor(clock.now() / slotMs);
    if (names[slot % 8] === keyOf(call)) {
      limits++;
      return limited({ 'retry-after-ms': String((slot + 1) * slotMs - clock.now()) });
    }
    served[keyOf(call)]!++;
    return undefined;
  });
  const total = scaled(400, 20_000);
  const atOnce = 12;
  const { key } = await rig.gateway.createAccount({ credit: '1000.00' });
  let left = total;
  const failures: unknown[] = [];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        const reply = await rig.gateway.chat({ model: 'quad/meta/llama/defra', messages: prompt }, { key });
        if (reply.status !== 200) failures.push(reply.json);
        clock.advance(75);
      }
    }),
  );
  expect(failures).toEqual([]);
  expect(limits).toBeGreaterThan(10);
  console.log(`${total} requests, ${limits} of 429; served by key: ${JSON.stringify(served)}`);
  for (const [name, weight] of Object.entries(weights)) {
    const share = (served[name]! / total) * 10;
    expect(Math.abs(share / weight - 1), `${name} had ${share} of its ${weight}`).toBeLessThan(0.1);
  }
  expect(await rowOf(rig, 'quad/meta/llama/defra')).toMatchObject({ breaker: 'closed', error_rate: 0 });
});
