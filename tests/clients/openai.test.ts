/** The official client, unchanged: only its base address and its key are ours. */
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { llama, useGateway } from '../api/harness.js';
import { shortTimeouts } from '../support/gateway-files.js';
import { chunk, completion, hang, json, sse, streamOf, usage } from '../support/scripted-upstream.js';

const bench = useGateway({ config: { timeouts: shortTimeouts } });
let client: OpenAI;
const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${bench.gateway.url}/v1`, apiKey, maxRetries: 0 });
const request = { model: llama, messages: [{ role: 'user' as const, content: 'Say hello.' }] };

beforeAll(async () => {
  client = clientOf((await bench.gateway.account()).key);
});

describe('chat.completions of the official client', () => {
  it('create gives a typed completion, with our additions beside it', async () => {
    bench.upstream.reply(json(completion({ content: 'Grüße 👋', usage: usage(9, 3) })));
    const answer = await client.chat.completions.create(request);
    expect(answer.object).toBe('chat.completion');
    expect(answer.choices[0]!.message.content).toBe('Grüße 👋');
    expect(answer.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cost: 0.0000078 });
    expect(answer.model).toBe(llama);
    expect(answer).toHaveProperty('router_metadata.provider', 'acme');
  });

  it('withResponse gives the request id and the headers', async () => {
    const { data, response, request_id } = await client.chat.completions.create(request).withResponse();
    expect(request_id).toMatch(/^req-/);
    expect(response.headers.get('x-generation-id')).toBe(data.id);
  });

  it('stream: true is read by for await, chunk by chunk', async () => {
    bench.upstream.reply(sse(streamOf(['Hel', 'lo ', '👋'])));
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let figures: OpenAI.CompletionUsage | null | undefined;
    const ids = new Set<string>();
    for await (const part of stream) {
      ids.add(part.id);
      text += part.choices[0]?.delta.content ?? '';
      figures = part.usage ?? figures;
    }
    expect(text).toBe('Hello 👋');
    expect(figures).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 });
    expect(ids.size).toBe(1);
  });

  it('a stream can be broken off from the client’s side', async () => {
    bench.upstream.reply(sse(streamOf(Array(50).fill('x')), { gapMs: 20 }));
    const stream = await client.chat.completions.create({ ...request, stream: true });
    for await (const part of stream) if (part.choices[0]?.delta.content) break;
    await bench.upstream.waitFor(() => bench.upstream.calls[0]!.aborted);
  });

  it('the stream helper puts a final completion together', async () => {
    bench.upstream.reply(sse(streamOf(['one ', 'two'])));
    const runner = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'one two' },
    });
    expect(final.usage).toMatchObject({ completion_tokens: 2 });
  });

  it('the stream helper puts tool calls together', async () => {
    const call = (delta: object) => chunk({ delta: { tool_calls: [{ index: 0, ...delta }] } });
    bench.upstream.reply(
      sse([
        chunk({ role: 'assistant' }),
        call({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
        call({ function: { arguments: '{"city":' } }),
        call({ function: { arguments: '"Köln"}' } }),
        chunk({ delta: {}, finishReason: 'tool_calls' }),
      ]),
    );
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    const final = await client.chat.completions.stream({ ...request, tools }).finalChatCompletion();
    expect(final.choices[0]!.message.tool_calls).toMatchObject([
      { id: 'call_1', function: { name: 'weather', arguments: '{"city":"Köln"}' } },
    ]);
  });

  it('runTools calls a function and comes back with its result', async () => {
    const { upstream } = bench;
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } }];
    upstream.enqueue(
      json(completion({ content: null, finishReason: 'tool_calls', message: { tool_calls } })),
      json(completion({ content: 'It is 5.' })),
    );
    const runner = client.chat.completions.runTools({
      ...request,
      tools: [
        {
          type: 'function',
          function: {
            name: 'add',
            description: 'Adds.',
            parameters: { type: 'object' },
            parse: JSON.parse,
            function: ({ a, b }: { a: number; b: number }) => String(a + b),
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is 5.');
    const { messages } = upstream.calls[1]!.json as { messages: object[] };
    expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_1', content: '5' });
  });
});

describe('models of the official client', () => {
  it('list and retrieve', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain(llama);
    expect(await client.models.retrieve(llama)).toMatchObject({ id: llama, object: 'model', owned_by: 'meta' });
  });
});

describe('errors of the official client', () => {
  async function failure(call: () => Promise<unknown>): Promise<APIError> {
    try {
      await call();
    } catch (error) {
      return error as APIError;
    }
    throw new Error('It did not fail.');
  }
  const create = (more: object = {}, of = client) =>
    failure(() => of.chat.completions.create({ ...request, ...more } as typeof request));

  it('401 is an AuthenticationError with our code', async () => {
    const error = await create({}, clientOf('sk-lr-short'));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect([error.status, error.code, error.type]).toEqual([401, 'api_key_malformed', 'authentication_error']);
    expect(error.requestID).toMatch(/^req-/);
  });

  it('400 is a BadRequestError with its param', async () => {
    const error = await create({ temperature: 3 });
    expect(error).toBeInstanceOf(BadRequestError);
    expect([error.code, error.param, error.type]).toEqual([
      'invalid_request_error',
      'temperature',
      'invalid_request_error',
    ]);
    expect(error.message).toContain('3');
  });

  it('402 is an APIError of that status', async () => {
    const { key } = await bench.gateway.createAccount({ credit: null });
    const error = await create({}, clientOf(key));
    expect(error).toBeInstanceOf(APIError);
    expect([error.status, error.code]).toEqual([402, 'insufficient_credits']);
  });

  it('403 is a PermissionDeniedError', async () => {
    const { key, accountId } = await bench.gateway.createAccount();
    await bench.gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    expect(await create({}, clientOf(key))).toBeInstanceOf(PermissionDeniedError);
  });

  it.each(['acme/meta/none', 'acme/meta/llama/usnyc', 'alias/none'])('404 is a NotFoundError: %s', async (model) => {
    const error = await create({ model });
    expect(error).toBeInstanceOf(NotFoundError);
    expect([error.status, error.param]).toEqual([404, 'model']);
  });

  it('503 and 504 are InternalServerErrors with our code', async () => {
    bench.upstream.enqueue(json({ error: { message: 'boom' } }, { status: 500 }), hang());
    const failed = await create();
    expect(failed).toBeInstanceOf(InternalServerError);
    expect([failed.status, failed.code]).toEqual([503, 'provider_error']);
    const late = await create();
    expect([late.status, late.code]).toEqual([504, 'provider_timeout']);
    expect(late).toBeInstanceOf(InternalServerError);
  });

  it('an error before a stream’s first byte is thrown by create, not inside the loop', async () => {
    bench.upstream.reply(sse([{ error: { message: 'boom', code: 500 } }]));
    const error = await create({ stream: true });
    expect([error.status, error.code]).toEqual([503, 'provider_error']);
  });

  it('a pricing fault in an open stream is thrown inside the loop', async () => {
    bench.upstream.reply(sse([...streamOf(['a'], { usage: null }), chunk({ choices: [], usage: usage(1, -1) })]));
    const stream = await client.chat.completions.create({ ...request, stream: true });
    const error = await failure(async () => {
      for await (const part of stream) void part;
    });
    expect(error.message).toContain('cannot be resolved');
    expect(error.code).toBe('cost_unresolvable');
  });

  it('a retry of the client’s own is a request of its own, billed once when it succeeds', async () => {
    const { gateway, upstream } = bench;
    const { key, accountId } = await gateway.createAccount();
    upstream.enqueue(json({ error: { message: 'boom' } }, { status: 500 }), json(completion()));
    const retrying = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 2 });
    expect((await retrying.chat.completions.create(request)).choices).toHaveLength(1);
    expect((await gateway.ledger(accountId)).filter(({ kind }) => kind === 'usage')).toHaveLength(1);
    expect(upstream.calls).toHaveLength(2);
  });
});
