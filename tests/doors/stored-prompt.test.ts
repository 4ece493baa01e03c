/** A request of the Responses API that names a prompt which the provider keeps. */
import { describe, expect, it } from 'vitest';
import { json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { upstreamsOf } from './doors.js';
import { useSockets } from './socket-client.js';

const bench = useDoors();
const { open } = useSockets(bench);
const nativePin = 'respond/acme/one/defra';
const prompt = { id: 'pmpt_1', version: '2', variables: { city: 'Bern' } };
const send = (body: object) => bench.gateway.call('POST', '/v1/responses', body);
const native = upstreamsOf.responses!.at(-1)!;

describe('a stored prompt', () => {
  it.each([
    ['without input', {}],
    ['with input', { input: 'Hi' }],
  ])('%s goes on to a provider that has the API', async (_, more) => {
    bench.native.enqueue(native.whole('Hi'));
    const reply = await send({ model: nativePin, prompt, ...more });
    expect(reply.status, reply.text).toBe(200);
    expect(bench.native.calls[0]!.json).toEqual({ model: 'upstream-model', prompt, ...more, store: false });
  });

  it('on auto/, such a route serves', async () => {
    bench.native.enqueue(native.whole('Hi'));
    const reply = await send({ model: 'auto/acme/one', prompt });
    expect(reply.json.router_metadata, reply.text).toMatchObject({ provider: 'respond' });
  });

  it.each([
    ['without input', {}],
    ['with input', { input: 'Hi' }],
  ])('%s is refused by its name on any other route, and the message says what to send', async (_, more) => {
    const reply = await send({ model: 'plain/acme/one/defra', prompt, ...more });
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'prompt' } } });
    expect(reply.json.error.code).toBeUndefined();
    expect(reply.json.error.message).toContain('Send its text in `instructions` and `input`');
    expect(bench.plain.calls).toHaveLength(0);
  });

  it.each([['pmpt_1'], [['pmpt_1']], [{}], [{ id: 1 }]])('is an object with an id, and not %j', async (wrong) => {
    const reply = await send({ model: nativePin, prompt: wrong, input: 'Hi' });
    expect(reply, reply.text).toMatchObject({ status: 400, json: { error: { param: 'prompt' } } });
    expect(bench.native.calls).toHaveLength(0);
  });

  it('keeps the conversation of a connection that it continues', async () => {
    bench.native.enqueue(native.stream(['Hello']), native.stream(['Hello']));
    const client = await open();
    const { id } = (await client.ask({ model: nativePin, input: 'Hi' })).at(-1).response;
    await client.ask({ model: nativePin, prompt, previous_response_id: id });
    expect(bench.native.calls[1]!.json).toMatchObject({
      prompt,
      input: [{ role: 'user', content: 'Hi' }, { role: 'assistant' }],
    });
  });

  it('that is null asks for nothing: input is then missing', async () => {
    const missing = { status: 400, json: { error: { param: 'input' } } };
    expect(await send({ model: nativePin, prompt: null })).toMatchObject(missing);
    bench.native.enqueue(json({ error: { message: 'x' } }, { status: 400 }));
    await send({ model: nativePin, prompt: null, input: 'Hi' });
    expect(bench.native.calls).toHaveLength(1);
  });
});
