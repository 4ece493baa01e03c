import { describe, expect, it } from 'vitest';
import { shortTimeouts } from '../support/gateway-files.js';
import { completion, hang, json, sse, streamOf } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { doorCases, upstreamsOf } from './doors.js';

const bench = useDoors({ timeouts: shortTimeouts });
const passes = doorCases.flatMap((door) => upstreamsOf[door.name]!.map((upstream) => ({ door, upstream })));
const named = passes.map((pass) => [`${pass.door.name} on ${pass.upstream.pin}`, pass] as const);

/** 10 input tokens at 3 USD a million, 4 output tokens at 15. */
const exactCost = (10 * 3 + 4 * 15) / 1e6;

describe.each(named)('%s', (_, { door, upstream }) => {
  const { path } = door;
  const server = () => bench[upstream.server];

  it('answers whole, billed exactly, with a receipt and a record', async () => {
    const { gateway } = bench;
    server().enqueue(upstream.whole('Grüße 😀'));
    const reply = await gateway.call('POST', path, door.ask(upstream.pin));
    expect(reply.status, reply.text).toBe(200);
    expect(door.textOf(reply)).toBe('Grüße 😀');
    expect(door.usageOf(reply)).toEqual({ input: 10, output: 4, cost: exactCost });
    expect(reply.json.router_metadata).toMatchObject({ served_model: upstream.pin, requested_model: upstream.pin });
    const id = reply.headers['x-generation-id'];
    const { json: generation } = await gateway.call('GET', `/v1/generation/${id}`);
    expect(generation.data ?? generation).toMatchObject({ id });
  });

  it('streams, complete', async () => {
    server().enqueue(upstream.stream(['Hel', 'lo ', '😀']));
    const reply = await bench.gateway.stream(door.ask(upstream.pin), { path });
    expect(reply.status, reply.text).toBe(200);
    expect(door.streamTextOf(reply)).toBe('Hello 😀');
    expect(door.expectEnd(reply)).toMatchObject({ end: 'complete', closed: true });
    expect(door.expectEnd(reply).reason).not.toBeNull();
  });

  it.each(['stalled', 'cut'])('a stream that is %s ends without an invented reason', async (end) => {
    const frames = upstream.server === 'plain' ? 3 : 4;
    server().enqueue(upstream.stream(['Hel', 'lo'], end === 'cut' ? { cutAfter: frames } : { hangAfter: frames }));
    const reply = await bench.gateway.stream(door.ask(upstream.pin), { path });
    expect(reply.status, reply.text).toBe(200);
    expect(door.streamTextOf(reply)).toMatch(/^Hel/);
    expect(door.expectEnd(reply)).toEqual({ end, reason: null, closed: true });
  });

  it('a stream that cannot be priced ends with the error and is not billed', async () => {
    const account = await bench.gateway.createAccount();
    server().enqueue(upstream.faulty(['Hel', 'lo']));
    const reply = await bench.gateway.stream(door.ask(upstream.pin), { path, key: account.key });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.text).toContain('cost_unresolvable');
    expect(reply.text).not.toMatch(/\[DONE\]|"message_stop"|"response.completed"|"response.incomplete"/);
    const { json: credits } = await bench.gateway.call('GET', '/v1/credits', undefined, { key: account.key });
    expect(credits.data.balance_usd).toBe('10');
  });

  it('a failure before the first content is an ordinary error', async () => {
    server().enqueue(json({ error: { message: 'boom' } }, { status: 500 }));
    const reply = await bench.gateway.stream(door.ask(upstream.pin), { path });
    expect(reply).toMatchObject({ status: 503, json: { error: { code: 'provider_error' } } });
  });

  it('a caller that leaves during its stream pays for what it was sent', async () => {
    const account = await bench.gateway.createAccount();
    server().enqueue(upstream.stream(['Hel', 'lo', ' there'], { gapMs: 300 }));
    await bench.gateway.stream(door.ask(upstream.pin), {
      path,
      key: account.key,
      hangUpAfter: upstream.server === 'plain' ? 3 : 5,
    });
    await server().waitFor(() => server().calls.at(-1)!.aborted || server().calls.at(-1)!.finished, 20_000);
    await expect
      .poll(
        async () =>
          (await bench.gateway.call('GET', '/v1/credits', undefined, { key: account.key })).json.data.balance_usd,
        { timeout: 60_000 },
      )
      .not.toBe('10');
  });
});

describe.each(doorCases.map((door) => [door.name, door] as const))('%s', (_, door) => {
  const { path } = door;
  const pin = 'plain/acme/one/defra';
  const expectError = (
    reply: { status: number; json: { error: { type: string; code: string } } },
    status: number,
    code: string,
  ) => {
    expect(reply).toMatchObject({ status, json: { error: { code } } });
    if (door.name === 'messages')
      expect(reply).toMatchObject({ json: { type: 'error', request_id: expect.stringMatching(/^req-/) } });
    expect(reply.json.error.type).toBe(
      door.typeOf(status) === 'provider_error' ? reply.json.error.type : door.typeOf(status),
    );
  };

  it('401 without a key, 402 without credit and with a spent budget', async () => {
    const { gateway } = bench;
    expectError(await gateway.call('POST', path, door.ask(pin), { key: null }), 401, 'authentication_error');
    const poor = await gateway.createAccount({ credit: null });
    expectError(await gateway.call('POST', path, door.ask(pin), { key: poor.key }), 402, 'insufficient_credits');
    const spent = await gateway.createAccount();
    await gateway.admin('PATCH', `/accounts/${spent.accountId}`, { budget: { limit_usd: '0' } });
    expectError(await gateway.call('POST', path, door.ask(pin), { key: spent.key }), 402, 'budget_exceeded');
    expect(bench.plain.calls).toHaveLength(0);
  });

  it('404 for a model that nobody offers, 400 for one that another door serves', async () => {
    const { gateway } = bench;
    expectError(await gateway.call('POST', path, door.ask('plain/acme/none')), 404, 'not_found');
    const reply = await gateway.call('POST', path, door.ask('plain/acme/vectors'));
    expect(reply).toMatchObject({
      status: 400,
      json: { error: { param: 'model', message: expect.stringContaining('/v1/embeddings') } },
    });
  });

  it('a pin is never served by another route; auto walks on, and the receipt says so', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(json({ error: { message: 'boom' } }, { status: 500 }));
    expectError(await gateway.call('POST', path, door.ask(`plain/acme/pin-${door.name}`)), 503, 'provider_error');
    expect(plain.calls).toHaveLength(1);
    plain.enqueue(json({ error: { message: 'boom' } }, { status: 500 }), json(completion({ content: 'ok' })));
    const served = await gateway.call('POST', path, door.ask(`auto/acme/walk-${door.name}`));
    expect(served.status, served.text).toBe(200);
    expect(served.json.router_metadata).toMatchObject({
      fallback_occurred: true,
      providers_attempted: ['plain', 'spare'],
    });
  });

  it('nothing switches route after the first content, everything may before it', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(sse(streamOf(['x']), { cutAfter: 1 }), sse(streamOf(['ok'])));
    const walked = await gateway.stream(door.ask(`auto/acme/commit-${door.name}`), { path });
    expect(door.streamTextOf(walked)).toBe('ok');
    plain.enqueue(sse(streamOf(['Hel', 'lo']), { cutAfter: 2 }), sse(streamOf(['never'])));
    const cut = await gateway.stream(door.ask(`auto/acme/commit-${door.name}`), { path });
    expect(door.streamTextOf(cut)).toBe('Hel');
    expect(door.expectEnd(cut).end).toBe('cut');
  });

  it('504 where the provider is silent for too long, whole and streamed', async () => {
    const { gateway, plain } = bench;
    plain.enqueue(hang(), hang());
    const ask = door.ask(`spare/acme/pin-${door.name}`);
    const replies = await Promise.all([gateway.call('POST', path, ask), gateway.stream(ask, { path })]);
    for (const reply of replies) expectError(reply, 504, 'provider_timeout');
  });

  it('429 past the requests a minute of the key, and past its tokens', async () => {
    const { gateway } = bench;
    const { key, accountId } = await gateway.createAccount();
    for (const limits of [{ tokens_per_minute: 1 }, { requests_per_minute: 1 }]) {
      expect((await gateway.call('POST', path, door.ask(pin), { key })).status).toBe(200);
      expect((await gateway.admin('PATCH', `/accounts/${accountId}`, { limits })).status).toBe(200);
      expectError(await gateway.call('POST', path, door.ask(pin), { key }), 429, 'rate_limit_exceeded');
      const none = { tokens_per_minute: null, requests_per_minute: null };
      expect((await gateway.admin('PATCH', `/accounts/${accountId}`, { limits: none })).status).toBe(200);
    }
  });

  it('403 where the policy leaves no route; explain says the same', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount();
    const policy = { providers: { deny: ['plain', 'spare'] } };
    const put = await gateway.call('PUT', '/v1/routing-policy', policy, { key: account.key });
    expect(put.status, put.text).toBe(200);
    const ask = door.ask(`auto/acme/policy-${door.name}`);
    expectError(await gateway.call('POST', path, ask, { key: account.key }), 403, 'routing_policy_exhausted');
    const explained = await gateway.call('POST', '/v1/routes/explain', { ...door.ask(pin), door: door.name });
    expect(explained).toMatchObject({ status: 200, json: { would_serve: pin } });
  });

  it('a body that is not JSON, or has no model, is refused in the words of the door', async () => {
    const { gateway } = bench;
    expectError(await gateway.call('POST', path, '{'), 400, 'invalid_request_error');
    expectError(await gateway.call('POST', path, door.ask('')), 400, 'invalid_request_error');
  });
});
