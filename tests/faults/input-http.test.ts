/** Bodies and their heads on the wire: types, lengths, chunks and expectations that try to get round a check. */
import { spawn } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes, sendRaw } from '../support/raw-http.js';
import { ask, expectError, expectServes, expectWithin, full, type Rig, startRig } from './fixture.js';

let rig: Rig;
let key: string;
beforeAll(async () => {
  rig = await startRig();
  ({ key } = await rig.gateway.account());
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

const path = '/v1/chat/completions';
const limit = 33_554_432;
const invalid = { status: 400, type: 'invalid_request_error', code: 'invalid_request_error' };
const tooLarge = { status: 413, type: 'invalid_request_error', code: 'request_too_large' };
const headers = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  ...more,
});
const head = (fields: Record<string, string>) =>
  `POST ${path} HTTP/1.1\r\nhost: lodestone.test\r\n${Object.entries(headers(fields))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

describe('content types', () => {
  const types = [
    'text/plain',
    'text/html',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/octet-stream',
    'application/jsonx',
    'xapplication/json',
    'application/ json',
    'application',
    'json',
    '*/*',
    'application/*',
    'text/json',
    '""',
    ',',
    ';',
    'application/json\tx',
    '%61pplication/json',
  ];
  const json = [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; x=y',
    'application/json; charset=latin1',
    'application/vnd.api+json',
    'application/json\t',
  ];

  it.each(json)('under the type %j a valid body is served, and an invalid one is refused as always', async (type) => {
    expect(
      (
        await sendRaw(
          rig.gateway.url,
          requestBytes('POST', path, headers({ 'content-type': type }), JSON.stringify(ask())),
        )
      ).status,
    ).toBe(200);
    rig.upstream.reset();
    const refused = await sendRaw(
      rig.gateway.url,
      requestBytes('POST', path, headers({ 'content-type': type }), JSON.stringify(ask({ temperature: 9 }))),
    );
    expect([refused.status, (refused.json as { error: { param: string } }).error.param]).toEqual([400, 'temperature']);
    expect(rig.upstream.calls).toHaveLength(0);
  });

  it.each(types)('under the type %j neither an invalid nor a valid body reaches an upstream: 400', async (type) => {
    for (const body of [ask({ temperature: 9 }), ask()]) {
      const reply = await sendRaw(
        rig.gateway.url,
        requestBytes('POST', path, headers({ 'content-type': type }), JSON.stringify(body)),
      );
      expectError(reply, invalid);
    }
    expect(rig.upstream.calls).toHaveLength(0);
  });

  it('without a content type at all: 400', async () => {
    const bytes = requestBytes('POST', path, { authorization: `Bearer ${key}` }, JSON.stringify(ask()));
    expectError(await sendRaw(rig.gateway.url, bytes), invalid);
    expect(rig.upstream.calls).toHaveLength(0);
    await expectServes(rig);
  });
});

describe('lengths', () => {
  it.each(['abc', '-1', '1e3', '0x10', '12, 13', '', '9'.repeat(40), '+5', '5 5'])(
    'a content-length of %j is a 400 in the envelope, and the connection is closed',
    async (length) => {
      const reply = await sendRaw(rig.gateway.url, `${head({ 'content-length': length })}{"model":1}`);
      expect([400, 413]).toContain(reply.status);
      expect((reply.json as { error: { type: string } }).error.type).toBe('invalid_request_error');
      expect(reply.closedByPeer).toBe(true);
      expect(rig.upstream.calls).toHaveLength(0);
    },
  );

  it('two lengths, or a length beside chunks, are a 400 (RFC 9112, section 6.3)', async () => {
    for (const more of ['content-length: 5\r\ncontent-length: 6', 'content-length: 5\r\ntransfer-encoding: chunked']) {
      const bytes = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${more}\r\n\r\n0\r\n\r\n`;
      expect((await sendRaw(rig.gateway.url, bytes)).status).toBe(400);
    }
    await expectServes(rig);
  });

  it('`Expect: 100-continue` with a length over the limit gets 413 at once and no 100', async () => {
    const connection = await RawConnection.open(rig.gateway.url);
    const startedAt = performance.now();
    await connection.write(head({ 'content-length': String(40 * 1024 * 1024), expect: '100-continue' }));
    const reply = await connection.readUntil((bytes) => bytes.includes('}}'));
    expectError(reply, tooLarge);
    expectWithin(performance.now() - startedAt, 1_000);
    expect(reply.raw.toString()).not.toContain('100 Continue');
    connection.close();
  });

  it('`Expect: 100-continue` within the limit gets its 100 and is then served', async () => {
    const connection = await RawConnection.open(rig.gateway.url);
    const body = JSON.stringify(ask());
    await connection.write(head({ 'content-length': String(body.length), expect: '100-continue' }));
    await connection.readUntil((bytes) => bytes.includes('100 Continue\r\n\r\n'));
    await connection.write(body);
    const { raw } = await connection.readUntil((bytes) => bytes.includes('router_metadata'));
    expect(raw.toString()).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
    connection.close();
  });
});

describe('bodies over the limit', () => {
  const piece = Buffer.alloc(64 * 1024, ' ');
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);

  it('a chunked body is cut off with 413 as soon as it passes 32 MiB, at most 1 MB late', async () => {
    const connection = await RawConnection.open(rig.gateway.url);
    await connection.write(head({ 'transfer-encoding': 'chunked' }));
    let sent = 0;
    while (connection.received.length === 0 && sent < 40 * 1024 * 1024) {
      await connection.write(chunk);
      sent += piece.length;
      if (sent >= limit) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const reply = await connection.readUntil((bytes) => bytes.includes('}}'));
    expectError(reply, tooLarge);
    expect(sent).toBeGreaterThan(limit);
    expect(sent).toBeLessThan(limit + 1024 * 1024 + piece.length);
    connection.close();
    expect(rig.upstream.calls).toHaveLength(0);
    await expectServes(rig);
  });

  it('a body of exactly 32 MiB is read, one byte more is not', async () => {
    const text = JSON.stringify(ask());
    const exact = text + ' '.repeat(limit - Buffer.byteLength(text));
    expect((await rig.gateway.chat(exact)).status).toBe(200);
    rig.upstream.reset();
    expectError(await rig.gateway.chat(`${exact} `), tooLarge);
    expect(rig.upstream.calls).toHaveLength(0);
  });

  /** Sends megabytes of blanks and prints the status that it sees; every one of them ignores an early answer until it has sent what it can. */
  const curl = (megabytes: number, url: string) =>
    `head -c ${megabytes * 1024 * 1024} /dev/zero | curl -s -o /dev/null -w '%{http_code}' -X POST -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -H 'Expect:' --data-binary @- ${url}`;
  const python = (megabytes: number, url: string) =>
    `python3 -c "
import http.client, sys
c = http.client.HTTPConnection('${new URL(url).host}')
c.request('POST', '${path}', b' ' * (${megabytes} * 1048576), {'Authorization': 'Bearer ${key}', 'Content-Type': 'application/json'})
print(c.getresponse().status, end='')"`;

  const longer: [string, number, typeof curl][] = [
    ['curl', 400, curl],
    ['Python', 400, python],
  ];
  it.each<[string, number, typeof curl]>([['curl', 40, curl], ['Python', 40, python], ...(full ? longer : [])])(
    '%s gets to read the 413 while it sends %i MB',
    async (_, megabytes, command) => {
      const { code, text } = await shell(command(megabytes, rig.gateway.url + path));
      // 127: the machine has no such program.
      if (code !== 127) expect(text).toBe('413');
      await expectServes(rig);
    },
    60_000,
  );

  it.each(full ? [40, 400] : [40])(
    'Node gets to read the 413 while it sends %i MB',
    async (megabytes) => {
      const status = await new Promise((resolve, reject) => {
        const req = httpRequest(rig.gateway.url + path, {
          method: 'POST',
          headers: headers({ 'content-length': String(megabytes * 1024 * 1024) }),
        });
        req.on('error', reject);
        req.on('response', (res) => {
          resolve(res.statusCode);
          req.destroy();
        });
        let left = megabytes * 16;
        const send = () => {
          while (left-- > 0) if (!req.write(piece)) return req.once('drain', send);
          return req.end();
        };
        send();
      });
      expect(status).toBe(413);
      await expectServes(rig);
    },
    60_000,
  );
});

function shell(command: string): Promise<{ code: number | null; text: string }> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}
