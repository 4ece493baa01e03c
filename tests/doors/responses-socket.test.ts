/** The Responses API over a WebSocket: the same events, checks and bills as a stream, one response at a time, and nothing stored. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { json, usage } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { upstreamsOf } from './doors.js';
import { failure, plainStream, SocketClient, type SocketEvent, useSockets } from './socket-client.js';

const bench = useDoors();
const { open } = useSockets(bench);
const pin = 'plain/acme/one/defra';
const balanceOf = async (token: string): Promise<string> =>
  (await bench.gateway.call('GET', '/v1/credits', undefined, { key: token })).json.data.balance_usd;
const bearer = async () => ({ authorization: `Bearer ${(await bench.gateway.account()).key}` });

/** What differs between two requests for the same. */
const alike = (event: SocketEvent) =>
  JSON.parse(
    JSON.stringify(event)
      .replace(/(?:gen|rec|req)-[0-9a-z]+/g, 'ID')
      .replace(/"(created_at|completed_at|overhead_ms|leaf_index)":[\d.]+/g, '"$1":0')
      .replace(/"receipt":"[^"]*"/g, '"receipt":""'),
  );

describe.each(upstreamsOf.responses!.map((upstream) => [upstream.pin, upstream] as const))(
  'on %s',
  (model, upstream) => {
    it('the events are those of the stream, one a message, with the same bill and a record', async () => {
      const server = bench[upstream.server];
      server.enqueue(upstream.stream(['Grü', 'ße', ' 😀']), upstream.stream(['Grü', 'ße', ' 😀']));
      const body = { model, input: 'Hi', max_output_tokens: 100 };
      const streamed = await bench.gateway.stream({ ...body, stream: true } as never, { path: '/v1/responses' });
      const client = await open();
      const events = await client.ask(body);
      expect(events.map(alike)).toEqual(streamed.frames.map(({ json: data }) => alike(data)));
      expect(server.calls[1]!.json).toEqual(server.calls[0]!.json);
      const { response } = events.at(-1);
      expect(response.usage.cost).toBeCloseTo((10 * 3 + 4 * 15) / 1e6, 12);
      const id = response.router_metadata.generation_id;
      await expect
        .poll(async () => (await bench.gateway.call('GET', `/v1/generation/${id}`, undefined)).status, {
          timeout: 60_000,
        })
        .toBe(200);
    });

    it('a response continues the one before it, with its items and its answer', async () => {
      const server = bench[upstream.server];
      server.enqueue(upstream.stream(['Grü', 'ße']), upstream.stream(['Ja']), upstream.stream(['Nein']));
      const client = await open();
      const first = (await client.ask({ model, input: 'Eins — é' })).at(-1).response;
      const second = (await client.ask({ model, input: 'Zwei', previous_response_id: first.id })).at(-1).response;
      expect(second.status).toBe('completed');
      await client.ask({ model, previous_response_id: second.id, input: [{ role: 'user', content: 'Drei' }] });
      const sent = server.calls[2]!.json as SocketEvent;
      const said = (sent.messages ?? sent.input).map(({ role, content }: SocketEvent) => [
        role,
        typeof content === 'string' ? content : content.map(({ text }: SocketEvent) => text).join(''),
      ]);
      expect(said).toEqual([
        ['user', 'Eins — é'],
        ['assistant', 'Grüße'],
        ['user', 'Zwei'],
        ['assistant', 'Ja'],
        ['user', 'Drei'],
      ]);
      expect(sent).not.toHaveProperty('previous_response_id');
      if (upstream.server === 'native') expect(sent).toMatchObject({ store: false, stream: true });
      if (upstream.server === 'plain') expect(second.previous_response_id).toBe(first.id);
    });

    it('a caller that leaves stops the provider and pays for what it was sent', async () => {
      const account = await bench.gateway.createAccount();
      const server = bench[upstream.server];
      server.enqueue(upstream.stream(['Hel', 'lo', ' there', ' you'], { gapMs: 300 }));
      const client = await open(account.key);
      client.send({ type: 'response.create', model, input: 'Hi' });
      await client.until(() => client.events.some(({ type }) => type === 'response.output_text.delta'));
      client.ws.terminate();
      await server.waitFor(() => server.calls.at(-1)!.aborted || server.calls.at(-1)!.finished, 20_000);
      await expect.poll(() => balanceOf(account.key), { timeout: 60_000 }).not.toBe('10');
    });

    it('a stream that cannot be priced ends with the error, is not billed, and leaves the connection open', async () => {
      const account = await bench.gateway.createAccount();
      bench[upstream.server].enqueue(upstream.faulty(['Hel', 'lo']), upstream.stream(['Hi']));
      const client = await open(account.key);
      const events = await client.ask({ model, input: 'Hi' });
      expect(failure(events)).toMatchObject({ code: 'cost_unresolvable', status: 500 });
      expect(events.map(({ type }) => type)).not.toContain('response.completed');
      expect(await balanceOf(account.key)).toBe('10');
      expect((await client.ask({ model, input: 'Hi' })).at(-1).type).toBe('response.completed');
    });
  },
);

describe('the handshake', () => {
  it('is refused with an ordinary answer', async () => {
    const { url } = bench.gateway;
    const none = await SocketClient.refused(url, {});
    expect(none).toMatchObject({ status: 401, json: { error: { code: 'authentication_error' } } });
    expect(none.headers['x-request-id']).toMatch(/^req-/);
    const wrong = await SocketClient.refused(url, { ...(await bearer()), 'sec-websocket-version': '7' });
    expect(wrong).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining('WebSocket') } } });
  });

  it('is answered with the headers of every response', async () => {
    const ws = new WebSocket(`${bench.gateway.url.replace('http', 'ws')}/v1/responses`, { headers: await bearer() });
    const [answer] = (await once(ws, 'upgrade')) as [IncomingMessage];
    expect(answer.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req-[0-9a-z]{26}$/),
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
    });
    ws.terminate();
  });

  it('is for one path; an upgrade to anything else is served as if it had not been asked for', async () => {
    const { url } = bench.gateway;
    const other = await SocketClient.refused(url, await bearer(), '/v1/chat/completions');
    expect(other).toMatchObject({ status: 405, json: { error: { message: expect.stringContaining('POST') } } });
    bench.plain.enqueue(json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], usage: usage(1, 1) }));
    const body = JSON.stringify({ model: pin, messages: [{ role: 'user', content: 'Hi' }] });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: ${(await bearer()).authorization}\r\nConnection: Upgrade, HTTP2-Settings, close\r\n` +
        `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('router_metadata');
  });

  it('works on a connection that served other requests before', async () => {
    const { hostname, port } = new URL(bench.gateway.url);
    const socket = connect(Number(port), hostname);
    const next = () => new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await next()).toMatch(/^HTTP\/1\.1 200 /);
    socket.write(
      `GET /v1/responses?x=1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${(await bearer()).authorization}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n',
    );
    const answer = await next();
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).not.toMatch(/extensions/i);
    socket.destroy();
  });
});

describe('the key', () => {
  it('is checked with every message: a deleted one is dead with the next, and the connection is closed', async () => {
    const account = await bench.gateway.createAccount();
    bench.plain.enqueue(plainStream(['Hi']));
    const client = await open(account.key);
    expect((await client.ask({ model: pin, input: 'Hi' })).at(-1).type).toBe('response.completed');
    await bench.gateway.admin('DELETE', `/accounts/${account.accountId}/keys/${account.keyId}`);
    expect(failure(await client.ask({ model: pin, input: 'Hi' }))).toMatchObject({ status: 401 });
    expect(await client.closed).toMatchObject({ code: 1008 });
    expect(bench.plain.calls).toHaveLength(1);
  });

  it('has its limits, its credit and its gates with every message', async () => {
    const poor = await bench.gateway.createAccount({ credit: null });
    const client = await open(poor.key);
    const refusal = failure(await client.ask({ model: pin, input: 'Hi' }));
    expect(refusal).toMatchObject({ status: 402, code: 'insufficient_credits' });
    expect(refusal.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req-/),
      'x-ratelimit-limit-requests': expect.any(String),
    });
    await bench.gateway.admin('POST', `/accounts/${poor.accountId}/credits`, { amount_usd: '1' });
    await bench.gateway.admin('PATCH', `/accounts/${poor.accountId}`, { budget: { limit_usd: '0' } });
    expect(failure(await client.ask({ model: pin, input: 'Hi' }))).toMatchObject({
      status: 402,
      code: 'budget_exceeded',
    });
    const rich = await open();
    expect(failure(await rich.ask({ model: 'plain/acme/none', input: 'Hi' }))).toMatchObject({ status: 404 });
    const preferences = { provider: { only: ['claude'] } };
    const gated = failure(await rich.ask({ model: 'auto/acme/walk-responses', input: 'Hi', ...preferences }));
    expect(gated.status).toBe(403);
    expect(bench.plain.calls).toHaveLength(0);
  });

  it('a pin is never served by another route', async () => {
    bench.plain.enqueue(json({ error: { message: 'boom' } }, { status: 500 }));
    const client = await open();
    expect(failure(await client.ask({ model: 'plain/acme/pin-responses/defra', input: 'Hi' }))).toMatchObject({
      status: 503,
      code: 'provider_error',
    });
    expect(bench.plain.calls).toHaveLength(1);
  });
});

describe('messages', () => {
  it.each([
    ['no JSON', 'hello', 'invalid_request_error', null],
    ['no object', '[1]', 'invalid_request_error', null],
    ['no type', { model: pin, input: 'Hi' }, 'invalid_request_error', 'type'],
    ['another type', { type: 'response.cancel' }, 'invalid_request_error', 'type'],
    ['no input', { type: 'response.create', model: pin }, 'invalid_request_error', 'input'],
    [
      'a stored response',
      { type: 'response.create', model: pin, input: 'x', store: true },
      'invalid_request_error',
      'store',
    ],
    [
      'a warm-up',
      { type: 'response.create', model: pin, input: 'x', generate: false },
      'invalid_request_error',
      'generate',
    ],
    [
      'a stream of several',
      { type: 'response.create', model: pin, input: 'x', stream_id: '1' },
      'invalid_request_error',
      'stream_id',
    ],
    [
      'a number as id',
      { type: 'response.create', model: pin, input: 'x', previous_response_id: 1 },
      'invalid_request_error',
      'previous_response_id',
    ],
    [
      'an unknown id',
      { type: 'response.create', model: pin, input: 'x', previous_response_id: 'resp_0' },
      'previous_response_not_found',
      'previous_response_id',
    ],
  ])('that are bad leave the connection open: %s', async (_, message, code, param) => {
    bench.plain.enqueue(plainStream(['Hi']));
    const client = await open();
    client.send(message as object);
    expect(failure(await client.turn())).toMatchObject({ status: 400, code, param });
    expect((await client.ask({ model: pin, input: 'Hi' })).at(-1).type).toBe('response.completed');
  });

  it('are answered one after the other, in order', async () => {
    bench.plain.enqueue(plainStream(['one'], { gapMs: 100 }), plainStream(['two']), plainStream(['three']));
    const client = await open();
    for (const input of ['1', '2', '3']) client.send({ type: 'response.create', model: pin, input });
    for (const text of ['one', 'two', 'three']) {
      const events = await client.turn();
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((__, at) => at));
      expect(events.at(-1).response.output[0].content[0].text).toBe(text);
    }
  });

  it('up to eight wait for the running response; one more closes the connection', async () => {
    bench.plain.enqueue(plainStream(['Hi', ' you'], { gapMs: 300 }));
    for (let at = 0; at < 8; at++) bench.plain.enqueue(plainStream(['Hi']));
    const create = { type: 'response.create', model: pin, input: 'Hi' };
    const client = await open();
    for (let at = 0; at < 9; at++) client.send(create);
    const completed = () => client.events.filter(({ type }) => type === 'response.completed').length;
    await client.until(() => completed() === 9);
    bench.plain.enqueue(plainStream(['Hi', ' you'], { gapMs: 300 }));
    for (let at = 0; at < 10; at++) client.send(create);
    expect(await client.closed).toEqual({
      code: 1008,
      reason: '8 messages wait already. Send the next one when a response has ended.',
    });
    expect([completed(), client.events.some(({ type }) => type === 'error')]).toEqual([9, false]);
  });

  it('may be large, and are closed out over the limit of a body', async () => {
    bench.plain.enqueue(plainStream(['Hi']), plainStream(['Ho']));
    const client = await open();
    const long = 'é'.repeat(300_000);
    const { id } = (await client.ask({ model: pin, input: long })).at(-1).response;
    expect((await client.ask({ model: pin, input: 'x', previous_response_id: id })).at(-1).type).toBe(
      'response.completed',
    );
    const { messages } = bench.plain.calls[1]!.json as SocketEvent;
    expect(messages[0]).toEqual({ role: 'user', content: long });
    client.send('x'.repeat(33_554_433));
    expect(await client.closed).toMatchObject({ code: 1009 });
  });
});
