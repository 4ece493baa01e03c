import { describe, expect, it } from 'vitest';
import {
  broken,
  expectReceipt,
  failing,
  limited,
  type Name,
  rejecting,
  silent,
  spent,
  useRouting,
} from '../../support/routing.js';
import { completion, json, rawBytes, reset, type Script, usage } from '../../support/scripted-upstream.js';
import { expectError } from '../harness.js';

const timeouts = { first_byte_streaming: '200ms', first_byte_non_streaming: '200ms', overall: '5s' };
const routing = useRouting({ config: { timeouts } });

describe('the walk goes on after a failure that speaks against the route', () => {
  const counted: [string, Script][] = [
    ['HTTP 500', broken],
    ['HTTP 429', limited],
    ['HTTP 503', failing(503, 'try later')],
    ['the upstream’s own 408', failing(408, 'request timed out')],
    ['the upstream’s own 504', failing(504, 'gateway timeout')],
    ['bad upstream credentials', failing(401, 'invalid api key')],
    ['a capacity refusal sent as 4xx', failing(400, 'the queue is full: too many concurrent requests')],
    ['a connection that is reset', reset()],
    ['garbage instead of HTTP', rawBytes(['\x01\x02 no HTTP at all\r\n\r\n'])],
    ['a 200 that is no completion', json({ hello: 'world' })],
    ['a 200 with an empty body', json('')],
    ['a 200 with an error inside', json({ error: { code: 500, message: 'internal error' } })],
    ['a pricing fault', json(completion({ usage: usage(-1, 3) }))],
    ['a redirect', failing(302, 'elsewhere', { location: 'http://127.0.0.1:1/' })],
    ['silence until a budget expires', silent],
  ];

  it.each(counted)('%s: the next one serves, and the failure counts against the route', async (_what, script) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', script);
    const reply = await lane.chat();
    expect([reply.status, reply.json.router_metadata?.providers_attempted], reply.text).toEqual([
      200,
      ['alpha', 'beta'],
    ]);
    expect(routing.called).toEqual(['alpha', 'beta']);
    expect((await lane.route('alpha')).error_rate).toBe(1);
    expect(await lane.charges()).toHaveLength(1);
  });

  it('a connection that is refused: the next one serves', async () => {
    const lane = await routing.lane(['dead', 'alpha']);
    expect((await lane.chat()).json.router_metadata.providers_attempted).toEqual(['dead', 'alpha']);
    expect((await lane.route('dead')).error_rate).toBe(1);
  });

  it('a spent daily quota: the next one serves, and the route is held but not counted against', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', spent);
    expect((await lane.chat()).json.router_metadata.providers_attempted).toEqual(['alpha', 'beta']);
    const { hold, error_rate, breaker } = await lane.route('alpha');
    expect([hold !== null, error_rate, breaker]).toEqual([true, null, 'closed']);
  });
});

describe('the walk stops at the first rejection of the request', () => {
  const rejections: [string, Script][] = [
    ['a 400', rejecting],
    ['a feature that is answered with 501', failing(501, 'this feature is not implemented')],
    ['a 400 inside a 200', json({ error: { code: 400, type: 'invalid_request_error', message: 'Unsupported value' } })],
  ];

  it.each(rejections)(
    '%s: 400 without a receipt; nobody else is asked, no breaker is affected',
    async (_what, script) => {
      const lane = await routing.lane(['alpha', 'beta', 'gamma']);
      routing.on('alpha', broken);
      routing.on('beta', script);
      const reply = await lane.chat();
      expectError(reply, {
        ...{ status: 400, type: 'invalid_request_error', code: 'invalid_request_error' },
        says: [/^The provider beta rejected the request/],
      });
      expect(routing.called).toEqual(['alpha', 'beta']);
      expect((await lane.route('beta')).error_rate).toBeNull();
      expect(await lane.charges()).toEqual([]);
      expect(await lane.record()).toMatchObject({
        ...{ status: 400, error_code: 'invalid_request_error', cost_usd: '0', providers_attempted: ['alpha', 'beta'] },
        attempts: [{ outcome: 'server_error' }, { outcome: 'rejected' }],
      });
    },
  );
});

describe('when every candidate failed, the last failure decides the code; the receipt is whole', () => {
  interface Case {
    what: string;
    scripts: Partial<Record<Name, Script>>;
    code: 'provider_error' | 'provider_quota_exhausted' | 'provider_timeout';
    last: string | RegExp;
  }
  const cases: Case[] = [
    {
      what: 'all broken',
      scripts: { alpha: broken, beta: broken, gamma: broken },
      code: 'provider_error',
      last: 'out of order (HTTP 500)',
    },
    {
      what: 'a rate limit last, which is never passed on as 429',
      scripts: { alpha: spent, beta: broken, gamma: limited },
      code: 'provider_error',
      last: 'rate limit: slow down (HTTP 429)',
    },
    {
      what: 'a quota last',
      scripts: { alpha: broken, beta: silent, gamma: spent },
      code: 'provider_quota_exhausted',
      last: 'tokens per day (TPD) limit reached (HTTP 429)',
    },
    {
      what: 'a timeout last',
      scripts: { alpha: spent, beta: broken, gamma: silent },
      code: 'provider_timeout',
      last: 'the first-byte budget of 200ms expired',
    },
    {
      what: 'a timeout first, broken last',
      scripts: { alpha: silent, beta: broken, gamma: broken },
      code: 'provider_error',
      last: 'out of order (HTTP 500)',
    },
    {
      what: 'a quota first, a cut last',
      scripts: { alpha: spent, beta: broken, gamma: reset() },
      code: 'provider_error',
      last: /connection failed/,
    },
  ];

  it.each(cases)('$what: $code', async ({ scripts, code, last }) => {
    const lane = await routing.lane(['alpha', 'beta', 'gamma']);
    for (const [name, script] of Object.entries(scripts)) routing.on(name as Name, script);
    const reply = await lane.chat();
    expectReceipt(reply, code, { attempted: ['alpha', 'beta', 'gamma'], last });
    expect(reply.json.error.message).toContain('gamma');
    expect(routing.called).toEqual(['alpha', 'beta', 'gamma']);
    expect(await lane.charges()).toEqual([]);
    expect(await lane.record()).toMatchObject({
      ...{ status: reply.status, error_code: code, cost_usd: '0', served_model: null, fallback_occurred: false },
      ...{ requested_model: lane.auto, providers_attempted: ['alpha', 'beta', 'gamma'] },
    });
  });

  it('of a stream it is the same ordinary answer', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', silent);
    routing.on('beta', broken);
    const receipt = { attempted: ['alpha', 'beta'], last: 'out of order (HTTP 500)' };
    expectReceipt(await lane.stream(), 'provider_error', receipt);
    expect(await lane.record()).toMatchObject({ streamed: true, stream_end: null });
  });

  it.each([broken, spent, silent])('an explicit id has no receipt', async (script) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', script);
    const { error } = (await lane.chat({ model: lane.pin('alpha') })).json;
    expect(Object.keys(error).filter((field) => !['type', 'message', 'code', 'param'].includes(field))).toEqual([]);
  });

  it('an alias to auto/ has the receipt; an alias to a pin has none', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    for (const name of ['alpha', 'beta'] as const) routing.on(name, broken);
    const [auto, pin] = [await lane.alias('auto', lane.auto), await lane.alias('pin', lane.pin('alpha'))];
    const receipt = { attempted: ['alpha', 'beta'], last: 'out of order (HTTP 500)' };
    expectReceipt(await lane.chat({ model: auto }), 'provider_error', receipt);
    expect((await lane.chat({ model: pin })).json.error.providers_attempted).toBeUndefined();
  });
});
