/** Requests that ask for another protocol on a connection with other requests: each gets its answer, in order, and none is lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import { completion, json, sse, streamOf } from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, type Rig, startRig, words } from './fixture.js';

let rig: Rig;
let account: TestAccount;
let connection: RawConnection;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  rig.upstream.onRequest(({ json: asked }) => {
    const { stream, seed } = asked as { stream?: boolean; seed?: number };
    const content = `answer ${seed}`;
    return stream ? sse(streamOf([content]), { gapMs: 50 }) : json(completion({ content }), { delayMs: 50 });
  });
  account = await rig.gateway.createAccount();
  connection = await RawConnection.open(rig.gateway.url);
  return () => connection.close();
});

const headers = () => ({ authorization: `Bearer ${account.key}`, 'content-type': 'application/json' });
const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
const chat = (seed: number, more = {}, moreHeaders = {}) =>
  requestBytes(
    'POST',
    '/v1/chat/completions',
    { ...headers(), ...moreHeaders },
    JSON.stringify(ask({ seed, ...more })),
  );
const models = (more = {}) => requestBytes('GET', '/v1/models', { ...headers(), ...more });
const handshake = (more: Record<string, string> = {}, body = '') =>
  requestBytes(
    'GET',
    '/v1/responses',
    {
      ...{ authorization: `Bearer ${account.key}`, connection: 'Upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...more },
    },
    body,
  );
/** A masked frame with a mask of zeros. */
const frame = (opcode: number, text: string) =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

const text = () => connection.received.toString('latin1');
const statuses = () => [...text().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
/** The statuses in the order of the answers, as soon as there are so many. */
async function answers(count: number): Promise<number[]> {
  await connection.readUntil(() => statuses().length >= count, 10_000);
  return statuses();
}
async function expectPong(data: string): Promise<void> {
  const pong = `\x8a${String.fromCharCode(data.length)}${data}`;
  await connection.readUntil(() => text().endsWith(pong), 10_000);
  expect(text().slice(-pong.length)).toBe(pong);
}
const send = (...requests: Buffer[]) => connection.write(Buffer.concat(requests));

describe('a WebSocket handshake behind other requests', () => {
  it('is answered after them, and the chat in front of it is whole and billed', async () => {
    await send(chat(1), models(), handshake());
    expect(await answers(3)).toEqual([200, 200, 101]);
    expect(text().indexOf('answer 1')).toBeLessThan(text().indexOf(' 101 '));
    await send(frame(9, 'hey'));
    await expectPong('hey');
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
  });

  it('is refused after them where its key is wrong, and the chat in front of it is whole and billed', async () => {
    await send(chat(1, { stream: true }), handshake({ authorization: 'Bearer sk-lr-wrong' }), models());
    await connection.readUntil(() => connection.closedByPeer, 10_000);
    expect(statuses()).toEqual([200, 401]);
    expect(text()).toMatch(/answer 1.*\[DONE\].*HTTP\/1\.1 401 .*connection: close/is);
    await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 1)] });
  });

  it('waits for a long stream that the client reads slowly', async () => {
    const long = words(30_000);
    rig.upstream.enqueue(json(completion({ content: 'first' }), { delayMs: 50 }), sse(streamOf(long)));
    connection.socket.pause();
    await send(chat(1), chat(2, { stream: true }), handshake());
    await expect.poll(() => rig.upstream.calls.length, { timeout: 10_000 }).toBe(2);
    connection.socket.resume();
    expect(await answers(3)).toEqual([200, 200, 101]);
    expect(text().match(/ (one|two)"/g)).toHaveLength(30_000);
    expect(text()).toMatch(/\[DONE\].*HTTP\/1\.1 101 /s);
  });

  it('leaves a client that hangs up meanwhile without cost: the chat in front of it stops', async () => {
    let aborted = false;
    rig.upstream.onRequest(() => async (exchange) => {
      await exchange.closed;
      aborted = true;
    });
    await send(chat(1), handshake());
    await expect.poll(() => rig.upstream.calls.length, { timeout: 10_000 }).toBe(1);
    connection.socket.end();
    await expect.poll(() => aborted, { timeout: 10_000 }).toBe(true);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });
});

describe('a WebSocket handshake', () => {
  it('may have frames behind it, which are read', async () => {
    await send(handshake(), frame(9, 'now'));
    expect(await answers(1)).toEqual([101]);
    await expectPong('now');
  });

  it('has no body: one with a body is a 400', async () => {
    await send(handshake({}, '{"a":1}'));
    await connection.readUntil(() => connection.closedByPeer, 10_000);
    expect(statuses()).toEqual([400]);
    expect(text()).toContain('a WebSocket handshake has no body');
  });

  it('is an ordinary request in HTTP/1.0, which has no upgrades', async () => {
    await send(Buffer.from(handshake().toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'), 'latin1'));
    await connection.readUntil(() => connection.closedByPeer, 10_000);
    expect(statuses()).toEqual([405]);
  });

  it('is the last request of its connection: a second one is no frame', async () => {
    await send(handshake(), handshake());
    await connection.readUntil(() => connection.closedByPeer, 10_000);
    expect(statuses()).toEqual([101]);
    expect(connection.received.subarray(-4)).toEqual(Buffer.from([0x88, 2, 1002 >> 8, 1002 & 255]));
  });
});

describe('an upgrade that is not offered', () => {
  it('is served as an ordinary request, and so are the requests behind it', async () => {
    await send(
      models(h2c),
      models(),
      chat(1, {}, h2c),
      chat(2, {}, h2c),
      models({ ...h2c, upgrade: 'foo/2' }),
      chat(3),
    );
    expect(await answers(6)).toEqual([200, 200, 200, 200, 200, 200]);
    expect([...text().matchAll(/answer \d/g)].map(String)).toEqual(['answer 1', 'answer 2', 'answer 3']);
    await expectBooks(rig.gateway, account, { records: 3, costs: [costOf(9, 3), costOf(9, 3), costOf(9, 3)] });
    // The connection is kept.
    await send(models());
    expect(await answers(7)).toHaveLength(7);
  });

  it('waits for the requests in front of it', async () => {
    await send(chat(1, { stream: true }), models(h2c), models());
    expect(await answers(3)).toEqual([200, 200, 200]);
    expect(text()).toMatch(/answer 1.*\[DONE\].*HTTP\/1\.1 200 .*"data"/s);
  });

  it('may have a body that comes in pieces, also a chunked one', async () => {
    const whole = chat(1, {}, h2c);
    await connection.write(whole.subarray(0, whole.length - 20));
    await connection.write(whole.subarray(whole.length - 20));
    expect(await answers(1)).toEqual([200]);
    const body = JSON.stringify(ask({ seed: 2 }));
    const chunked = requestBytes('POST', '/v1/chat/completions', {
      ...headers(),
      ...h2c,
      'transfer-encoding': 'chunked',
    })
      .toString('latin1')
      .replace(/content-length: 0\r\n/i, '');
    await send(Buffer.from(`${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`), models());
    expect(await answers(3)).toEqual([200, 200, 200]);
    expect(text()).toContain('answer 2');
  });

  it('is refused like any other request where its head is wrong', async () => {
    await send(Buffer.from(`GET /v1/models HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`));
    await connection.readUntil(() => connection.closedByPeer, 10_000);
    expect(statuses()).toEqual([400]);
    expect(text()).toContain('the Host header is missing');
  });
});

it('CONNECT behind a chat is refused after its answer', async () => {
  await send(chat(1), Buffer.from('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'));
  await connection.readUntil(() => connection.closedByPeer, 10_000);
  expect(statuses()).toEqual([200, 404]);
  await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
});
