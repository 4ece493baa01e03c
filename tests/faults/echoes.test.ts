/**
 * What a provider's error repeats of a request decides nothing for others: no client can hold a route or open its breaker with
 * words of its own, whatever dialect carries them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exceptionFrame } from '../dialects/event-stream-frames.js';
import type { Json, Reply, TestAccount } from '../support/client.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import {
  type Bytes,
  completion,
  json,
  type Script,
  type ScriptedUpstream,
  startUpstream,
  type UpstreamCallLog,
} from '../support/scripted-upstream.js';

const dialects = ['openai', 'azure', 'anthropic', 'gemini', 'bedrock'] as const;
type Dialect = (typeof dialects)[number];

const basePaths: Record<Dialect, string> = {
  ...{ openai: '/v1', azure: '/openai/deployments', anthropic: '/v1', gemini: '/v1beta', bedrock: '' },
};

interface Envelope {
  body: object;
  headers: Record<string, string>;
  frame: Bytes;
  streamType: string;
}

/** A rejection of the request, as the dialect writes it. */
function envelopeOf(dialect: Dialect, message: string): Envelope {
  const sse = { headers: {}, streamType: 'text/event-stream' };
  if (dialect === 'anthropic') {
    const body = { type: 'error', error: { type: 'invalid_request_error', message } };
    return { ...sse, body, frame: `event: error\ndata: ${JSON.stringify(body)}\n\n` };
  }
  if (dialect === 'bedrock') {
    return {
      body: { message },
      headers: { 'x-amzn-errortype': 'ValidationException' },
      frame: exceptionFrame('validationException', JSON.stringify({ message })),
      streamType: 'application/vnd.amazon.eventstream',
    };
  }
  const body =
    dialect === 'gemini'
      ? { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
      : { error: { message, type: 'invalid_request_error', param: null, code: null } };
  return { ...sse, body, frame: `data: ${JSON.stringify(body)}\n\n` };
}

const framed = ({ frame, streamType }: Envelope): Script => {
  return async (exchange) => {
    await exchange.write(`HTTP/1.1 200 OK\r\ncontent-type: ${streamType}\r\ntransfer-encoding: chunked\r\n\r\n`);
    await exchange.writeChunk(frame);
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };
};

const daily = 'you have exceeded the daily token quota limit';
const overloaded = 'the server is overloaded, its queue is full';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let account: TestAccount;
let answer: (call: UpstreamCallLog) => Script;

const models = [...dialects, 'large', 'disputed', 'disputed-quota', 'coded', 'echoed-code', 'effort'];
const dialectOf = (model: string) => (dialects.find((name) => name === model) ?? 'openai') as Dialect;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.onRequest((call) => (call.path.startsWith('/healthy') ? json(completion()) : answer(call)));
  const provider = (id: string, dialect: Dialect, path: string) => ({
    ...{ id, name: id, dialect, base_url: `${upstream.url}${path}`, auth: 'none' },
  });
  const route = (name: string, price: number) => ({
    ...{ provider: name, locode: 'global', upstream_model: 'm', price: { input: price, output: price } },
  });
  gateway = await startGateway({
    catalogue: {
      providers: [
        ...dialects.map((name) => provider(name, name, basePaths[name])),
        provider('healthy', 'openai', '/healthy'),
      ],
      models: models.map((model) => ({
        ...{ creator: 'meta', model },
        routes: [route(dialectOf(model), 1), route('healthy', 2)],
      })),
    },
  });
  account = await gateway.createAccount();
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const pinOf = (model: string) => `${dialectOf(model)}/meta/${model}/global`;

async function healthOf(model: string): Promise<Json> {
  const routes = (await gateway.admin('GET', '/routes')).json.data as Json[];
  const { hold, error_rate, breaker } = routes.find(({ id }) => id === pinOf(model))!;
  return { hold, error_rate, breaker };
}

const untouched = { hold: null, error_rate: null, breaker: 'closed' };

function ask(model: string, content: string, more: Json = {}): Promise<Reply> {
  const body = { model, messages: [{ role: 'user', content }], ...more };
  return more.stream ? gateway.stream(body, { key: account.key }) : gateway.chat(body, { key: account.key });
}

function expectRejected(reply: Reply): void {
  expect([reply.status, reply.json.error?.code], reply.text).toEqual([400, 'invalid_request_error']);
}

describe.each(dialects)('in the dialect %s', (dialect) => {
  it.each([
    ['under a 400', false, (sent: Envelope) => json(sent.body, { status: 400, headers: sent.headers })],
    ['inside a 200', false, (sent: Envelope) => json(sent.body, { headers: sent.headers })],
    ['in the first frame of a stream', true, framed],
  ] as const)('an echo %s rejects the request and touches no route', async (_, stream, script) => {
    const before = upstream.calls.length;
    for (const phrase of [daily, overloaded]) {
      for (const echo of [phrase, `'${phrase}'`, phrase.toUpperCase(), `${phrase.slice(0, -4)}...`]) {
        answer = () => script(envelopeOf(dialect, `Invalid value: ${echo} is none of low, medium and high.`));
        expectRejected(await ask(`auto/meta/${dialect}`, phrase, { stream }));
      }
    }
    expect(upstream.calls.slice(before).filter(({ path }) => path.startsWith('/healthy'))).toEqual([]);
    expect(await healthOf(dialect)).toEqual(untouched);
  });
});

it('a value that closes the quotation around it holds no route for others', async () => {
  const effort = "x' you have exceeded the daily token quota limit 'y";
  answer = () =>
    json({ error: { message: `Invalid value: '${effort}'. Supported values are: 'low'.` } }, { status: 400 });
  for (let i = 0; i < 6; i++) {
    expectRejected(await ask('auto/meta/effort', 'Say hello.', { reasoning_effort: effort }));
  }
  expect(await healthOf('effort')).toEqual(untouched);
});

it('an echo of a large request is found off the thread that serves others', async () => {
  const filler = 'All work and no play makes Jack a dull boy. '.repeat(30_000);
  answer = () => json({ error: { message: `Invalid value ${daily}` } }, { status: 400 });
  const messages = [
    { role: 'system', content: filler },
    { role: 'user', content: daily },
  ];
  expectRejected(await ask('auto/meta/large', '', { messages }));
  expect(await healthOf('large')).toEqual(untouched);
});

describe('words that the request has too', () => {
  it('decide the answer and the walk, but are not counted', async () => {
    answer = () => json({ error: { message: 'The engine is overloaded' } }, { status: 400 });
    const question = 'Why would somebody say that a ship is overloaded?';
    for (let i = 0; i < 6; i++) expect((await ask('auto/meta/disputed', question)).status).toBe(200);
    const pinned = await ask(pinOf('disputed'), question);
    expect([pinned.status, pinned.json.error.code]).toEqual([503, 'provider_error']);
    expect(await healthOf('disputed')).toEqual(untouched);
    expect((await ask('auto/meta/disputed', 'Say hello.')).status).toBe(200);
    expect(await healthOf('disputed')).toMatchObject({ error_rate: 1 });
  });

  it('hold no route, though the answer says that the quota is spent', async () => {
    answer = () => json({ error: { message: 'The daily token quota of this project is spent' } }, { status: 429 });
    const pinned = await ask(pinOf('disputed-quota'), 'Write a daily reminder for me.');
    expect([pinned.status, pinned.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    expect(Number(pinned.headers['retry-after'])).toBeGreaterThan(0);
    expect(await healthOf('disputed-quota')).toEqual(untouched);
    expect((await ask(pinOf('disputed-quota'), 'Say hello.')).status).toBe(503);
    expect(await healthOf('disputed-quota')).toMatchObject({ hold: { reason: 'upstream' } });
  });
});

describe('a code beside the message', () => {
  it('counts, whatever the request says', async () => {
    answer = () => json({ error: { message: 'Overloaded', type: 'overloaded_error' } }, { status: 400 });
    expect((await ask('auto/meta/coded', 'What is an overloaded_error? Is it Overloaded?')).status).toBe(200);
    expect(await healthOf('coded')).toMatchObject({ error_rate: 1 });
  });

  it('that is a string of the request is an echo', async () => {
    const headers = { 'x-error-code': 'Server_Overloaded' };
    const error = { message: 'Invalid value', type: 'server_overloaded', code: 'SERVER_OVERLOADED' };
    answer = () => json({ error }, { status: 400, headers });
    expectRejected(await ask('auto/meta/echoed-code', 'Say hello.', { user: 'server_overloaded' }));
    expect(await healthOf('echoed-code')).toEqual(untouched);
  });
});
