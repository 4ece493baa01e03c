/** What a Responses WebSocket remembers: the last response, for `previous_response_id`, in memory, as long as it is open. */
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { describe, expect, it } from 'vitest';
import { chunk, json, sse, usage } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { failure, plainStream, type SocketEvent, useSockets } from './socket-client.js';

const bench = useDoors();
const { open } = useSockets(bench);
const pin = 'plain/acme/one/defra';

describe('what is remembered', () => {
  const body = { model: pin, input: 'Hi' };

  it('is of this connection only, and only the last response', async () => {
    for (let at = 0; at < 3; at++) bench.plain.enqueue(plainStream(['Hi']));
    const client = await open();
    const { id } = (await client.ask(body)).at(-1).response;
    const other = await open();
    expect(failure(await other.ask({ ...body, previous_response_id: id })).code).toBe('previous_response_not_found');
    await client.ask(body);
    expect(failure(await client.ask({ ...body, previous_response_id: id })).code).toBe('previous_response_not_found');
    const posted = await bench.gateway.call('POST', '/v1/responses', { ...body, previous_response_id: id });
    expect(posted).toMatchObject({ status: 400, json: { error: { param: 'previous_response_id' } } });
  });

  it('may have megabytes of long texts, which are set aside in what came before too', async () => {
    bench.plain.enqueue(plainStream(['Hi']), plainStream(['Ho']));
    const client = await open();
    const input = Array.from({ length: 10 }, (_, at) => ({ role: 'user', content: `${at}${'x'.repeat(1024 * 1024)}` }));
    const { id } = (await client.ask({ ...body, input })).at(-1).response;
    const more = `y${'z'.repeat(1024 * 1024)}`;
    const events = await client.ask({ ...body, input: more, previous_response_id: id });
    expect(events.at(-1).type).toBe('response.completed');
    const { messages } = bench.plain.calls[1]!.json as { messages: { content: string }[] };
    expect(messages.map(({ content }) => [content.slice(0, 2), content.length])).toEqual([
      ...input.map(({ content }) => [content.slice(0, 2), content.length]),
      ['Hi', 2],
      ['yz', more.length],
    ]);
  });

  it('is forgotten where the response that continues it fails', async () => {
    bench.plain.enqueue(
      plainStream(['Hi']),
      json({ error: { message: 'No.', type: 'invalid_request_error' } }, { status: 400 }),
    );
    const client = await open();
    const { id } = (await client.ask(body)).at(-1).response;
    expect(failure(await client.ask({ ...body, previous_response_id: id })).status).toBe(400);
    expect(failure(await client.ask({ ...body, previous_response_id: id })).code).toBe('previous_response_not_found');
    expect(bench.plain.calls).toHaveLength(2);
  });

  it('has no reasoning that only its id refers to', async () => {
    const { native } = bench;
    const response = { id: 'resp_1', object: 'response', model: 'upstream-model', status: 'completed' };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
    const turn = (reasoning: object) => {
      const output = [{ id: 'rs_1', type: 'reasoning', summary: [], ...reasoning }, message];
      const events = [
        { type: 'response.created', response: { ...response, output: [] } },
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'Hi' },
        {
          type: 'response.completed',
          response: { ...response, output, usage: { input_tokens: 10, output_tokens: 4 } },
        },
      ];
      return sse(
        events.map((event, sequence_number) => ({ ...event, sequence_number })),
        { noDone: true },
      );
    };
    const ask = { model: 'respond/acme/one/defra', input: 'Hi' };
    const sent = async (reasoning: object) => {
      native.reset();
      native.enqueue(turn(reasoning), turn({}));
      const client = await open();
      await client.ask(ask);
      await client.ask({ ...ask, previous_response_id: 'resp_1' });
      return (native.calls[1]!.json as SocketEvent).input;
    };
    expect((await sent({}))[1]).toEqual({ type: 'message', role: 'assistant', content: message.content });
    expect((await sent({ encrypted_content: 'x' })).slice(1, 3)).toEqual([
      { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'x' },
      message,
    ]);
  });
});

it('OpenAI’s client, unchanged, works through a tool call', async () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } };
  bench.plain.enqueue(
    sse([
      chunk({ delta: { role: 'assistant', tool_calls: [call] } }),
      chunk({ delta: {}, finishReason: 'tool_calls' }),
      chunk({ choices: [], usage: usage(10, 4) }),
    ]),
    plainStream(['It is', ' noon.']),
  );
  const ws = new ResponsesWS(
    new OpenAI({ apiKey: (await bench.gateway.account()).key, baseURL: `${bench.gateway.url}/v1` }),
  );
  const tools = [{ type: 'function' as const, name: 'clock', parameters: {}, strict: false }];
  ws.send({ type: 'response.create', model: pin, input: 'What time is it?', tools });
  let text = '';
  for await (const event of ws.stream()) {
    if (event.type === 'error') throw event.error;
    if (event.type !== 'message') continue;
    const { message } = event;
    if (message.type === 'response.output_text.delta') text += message.delta;
    if (message.type !== 'response.completed') continue;
    const { id, output } = message.response;
    const called = output.find((item) => item.type === 'function_call');
    if (!called) break;
    const result = { type: 'function_call_output' as const, call_id: called.call_id, output: '12:00' };
    ws.send({ type: 'response.create', model: pin, previous_response_id: id, input: [result], tools });
  }
  ws.close();
  expect(text).toBe('It is noon.');
});
