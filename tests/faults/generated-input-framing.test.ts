/**
 * Every form of framing that two readers could read in two ways, one by one: refused with the envelope, the connection closed, and
 * nothing that follows on it taken for a request (https://www.rfc-editor.org/rfc/rfc9112#section-11.2). And what came before a fault is answered as if there were none.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes, sendRaw } from '../support/raw-http.js';
import { completion, json } from '../support/scripted-upstream.js';
import { ask, type Rig, startRig } from './fixture.js';
import { AnswerReader } from './generator/answer-reader.js';
import { framingForms } from './generator/framing-forms.js';

let rig: Rig;
let key: string;
beforeAll(async () => {
  rig = await startRig();
  ({ key } = await rig.gateway.account());
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

const path = '/v1/chat/completions';
const smuggled = `GET /v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`;
const body = JSON.stringify(ask());
const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

function answersOf(raw: Buffer, methods: readonly string[] = []) {
  const reader = new AnswerReader(methods);
  reader.push(raw);
  expect([reader.fault, reader.unfinished]).toEqual([null, false]);
  return reader.answers.map(({ status, headers: { connection } }) => [status, connection]);
}

describe('request smuggling', () => {
  it.each(framingForms)('is not possible by $what: 400, and the connection is closed', async (form) => {
    const head = `POST ${path} HTTP/${form.version ?? '1.1'}\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    const reply = await sendRaw(
      rig.gateway.url,
      Buffer.from(`${head}${form.head}\r\n${form.body}${smuggled}`, 'latin1'),
      {
        idleMs: 3_000,
      },
    );
    expect([answersOf(reply.raw), reply.closedByPeer]).toEqual([[[400, 'close']], true]);
    expect(reply.headers['x-request-id']).toMatch(/^req-/);
    expect(rig.upstream.calls).toHaveLength(0);
  });

  it('is not possible by a body of a GET: what belongs to the body is no request', async () => {
    const get = `GET /v1/credits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${smuggled.length}\r\n\r\n`;
    const { raw } = await sendRaw(rig.gateway.url, `${get}${smuggled}`, { idleMs: 300 });
    expect(answersOf(raw)).toEqual([[200, 'keep-alive']]);
  });

  it('is not possible behind `connection: close`: nothing after it is read', async () => {
    const { raw, closedByPeer } = await sendRaw(
      rig.gateway.url,
      Buffer.concat([requestBytes('GET', '/healthz', { connection: 'close' }), Buffer.from(smuggled)]),
    );
    expect([answersOf(raw), closedByPeer]).toEqual([[[200, 'close']], true]);
  });

  it('is not possible by an upgrade that is not made', async () => {
    const upgrade = { ...headers(), connection: 'upgrade', upgrade: 'h2c' };
    const { raw } = await sendRaw(rig.gateway.url, requestBytes('POST', path, upgrade, '[]'), { idleMs: 300 });
    expect(answersOf(raw)).toEqual([[400, 'keep-alive']]);
  });
});

describe('a fault behind good requests', () => {
  it('leaves every earlier answer whole and in order, however long it takes', async () => {
    rig.upstream.onRequest(() => json(completion(), { delayMs: 60 }));
    const requests = [
      requestBytes('POST', path, headers(), body),
      requestBytes('DELETE', '/v1/aliases/nobody', headers()),
      requestBytes('HEAD', '/v1/nothing', {}),
      requestBytes('POST', path, headers(), body),
      requestBytes('GET', '/healthz', {}),
      Buffer.from('NONSENSE\r\n\r\n'),
    ];
    const { raw, closedByPeer } = await sendRaw(rig.gateway.url, Buffer.concat(requests), { idleMs: 2_000 });
    const answers = answersOf(raw, ['POST', 'DELETE', 'HEAD', 'POST', 'GET']);
    expect(answers.map(([status]) => status)).toEqual([200, 404, 404, 200, 200, 400]);
    expect([answers.at(-1)?.[1], closedByPeer]).toEqual(['close', true]);
  });

  it('in a body whose request has its answer already gets no second one', async () => {
    const connection = await RawConnection.open(rig.gateway.url);
    await connection.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`);
    await connection.readUntil((bytes) => bytes.includes('}}'));
    connection.socket.end();
    const { raw, closedByPeer } = await connection.readUntilIdle(1_500);
    expect([answersOf(raw).map(([status]) => status), closedByPeer]).toEqual([[401], true]);
    connection.close();

    const chunks = `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`;
    const broken = await RawConnection.open(rig.gateway.url);
    await broken.write(chunks);
    await broken.readUntil((bytes) => bytes.includes('}}'));
    await broken.write('not a chunk\r\n');
    const second = await broken.readUntilIdle(2_500);
    expect([answersOf(second.raw), second.closedByPeer]).toEqual([[[401, 'close']], true]);
    broken.close();
  });
});

describe('heads that only look sound', () => {
  it.each([
    ['HTTP/0.9', 'GET /healthz\r\n\r\n'],
    ['HTTP/2.0 on this line', 'GET /healthz HTTP/2.0\r\nhost: x\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['RTSP', 'DESCRIBE rtsp://x/healthz RTSP/1.0\r\nhost: x\r\n\r\n'],
    ['a Host that is none', 'GET /healthz HTTP/1.1\r\nhost: a/b c\r\n\r\n'],
  ])('%s is a 400 with the envelope, never a 501 or 505 (docs/decisions/0012)', async (_, bytes) => {
    const reply = await sendRaw(rig.gateway.url, bytes, { idleMs: 2_000 });
    expect([answersOf(reply.raw), reply.closedByPeer]).toEqual([[[400, 'close']], true]);
    expect(reply.json).toMatchObject({ error: { type: 'invalid_request_error', code: 'invalid_request_error' } });
    expect(reply.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
  });

  it('413 to a HEAD comes at once, though it has no body', async () => {
    const bytes = requestBytes('HEAD', '/v1/models', { ...headers(), 'content-length': '99999999999' });
    const { status, body: text } = await sendRaw(rig.gateway.url, bytes);
    expect([status, text]).toEqual([413, '']);
  });

  it('an id as long as a head can be is looked up like any other', async () => {
    const bytes = requestBytes('GET', `/v1/aliases/${'a'.repeat(12_000)}`, headers());
    const { status, json: reply } = await sendRaw(rig.gateway.url, bytes);
    expect([status, reply]).toMatchObject([404, { error: { code: 'alias_not_found', param: 'name' } }]);
  });

  it.each(['/v1/aliases/a%00b', '/healthz#x', '/metrics#x', '/v1/models#x'])(
    '404 for %s: it is no path, so no method of it can be wrong',
    async (target) => {
      const { status, json } = await sendRaw(rig.gateway.url, requestBytes('GET', target, headers()));
      expect([status, json]).toMatchObject([404, { error: { code: 'not_found' } }]);
    },
  );
});
