/** Which requests are read without node:http, and how a connection goes over to it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answersOn, chatBytes, chatPath, LabelledServer } from '../../../tests/support/labelled-server.js';
import { requestBytes } from '../../../tests/support/raw-http.js';

const server = new LabelledServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => server.reset());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a connection', () => {
  it('is read without node:http as long as it sends plain requests to a door', async () => {
    const connection = await server.open();
    for (let i = 1; i <= 3; i++) {
      await connection.write(chatBytes('x'.repeat(i)));
      expect(await answersOn(connection, i)).toHaveLength(i);
    }
    expect(await answersOn(connection, 3)).toEqual(['"fast 1"', '"fast 2"', '"fast 3"']);
  });

  it('goes to node:http with its first other request, and stays there', async () => {
    const connection = await server.open();
    await connection.write(chatBytes('x'));
    await answersOn(connection, 1);
    await connection.write(requestBytes('GET', '/healthz', {}));
    await answersOn(connection, 2);
    await connection.write(chatBytes('xx'));
    const [first, second, third] = await answersOn(connection, 3);
    expect([first, second, third]).toEqual(['"fast 1"', expect.stringContaining('ok'), '"node 2"']);
  });

  it.each([
    ['a query', requestBytes('POST', `${chatPath}?a=1`, {}, 'xx')],
    ['chunks', `POST ${chatPath} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nxx\r\n0\r\n\r\n`],
    ['a long body', chatBytes('x'.repeat(70_000))],
    ['an announced end', chatBytes('xx', { authorization: 'Bearer x', connection: 'close' })],
  ])('goes to node:http with %s, and loses no byte of it', async (what, bytes) => {
    const connection = await server.open();
    await connection.write(bytes);
    expect(await answersOn(connection, 1)).toEqual([what === 'a long body' ? '"node 70000"' : '"node 2"']);
  });

  it.each([1, 2, 7, 64])('may send its request in pieces of %d bytes', async (size) => {
    const connection = await server.open();
    const bytes = chatBytes('x'.repeat(100));
    connection.socket.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += size) {
      await connection.write(bytes.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await connection.write(chatBytes('y'));
    expect(await answersOn(connection, 2)).toEqual(['"fast 100"', '"fast 1"']);
  });

  it('that turns out not to ask a door in the middle of its head is answered by node:http', async () => {
    const connection = await server.open();
    const bytes = requestBytes('POST', chatPath, { expect: '100-continue' }, 'xx');
    for (let at = 0; at < bytes.length; at += 10) {
      await connection.write(bytes.subarray(at, at + 10));
      await pause(2);
    }
    expect(await answersOn(connection, 1)).toEqual(['"node 2"']);
  });
});

describe('requests that are sent before the answer to the last one', () => {
  it('all at once, are answered in order', async () => {
    const connection = await server.open();
    await connection.write(Buffer.concat([chatBytes('x'), requestBytes('GET', '/healthz', {}), chatBytes('xxx')]));
    expect(await answersOn(connection, 3)).toEqual(['"node 1"', expect.stringContaining('ok'), '"node 3"']);
  });

  it('while the first is served, wait for its answer', async () => {
    const go = server.hold();
    const connection = await server.open();
    await connection.write(chatBytes('x'));
    await pause(30);
    await connection.write(chatBytes('xx').subarray(0, 20));
    await pause(30);
    await connection.write(Buffer.concat([chatBytes('xx').subarray(20), requestBytes('GET', '/healthz', {})]));
    await pause(30);
    expect(connection.received).toHaveLength(0);
    go();
    expect(await answersOn(connection, 3)).toEqual(['"fast 1"', '"node 2"', expect.stringContaining('ok')]);
  });

  it('in great number, are not kept in memory, and are answered all the same', async () => {
    const go = server.hold();
    const connection = await server.open();
    await connection.write(chatBytes('x'));
    await pause(30);
    void connection.write(Buffer.concat(Array.from({ length: 200 }, () => chatBytes('x'.repeat(60_000)))));
    await pause(50);
    expect(connection.socket.writableLength).toBeGreaterThan(0);
    go();
    const answers = await answersOn(connection, 201);
    expect([answers.length, answers[0], answers[200]]).toEqual([201, '"fast 1"', '"node 60000"']);
  });

  it('while the server begins to stop, get its refusal after the answer under way', async () => {
    const own = new LabelledServer();
    await own.start();
    const connection = await own.open();
    own.streams = true;
    const go = own.hold();
    await connection.write(chatBytes('x'));
    await connection.readUntil((bytes) => bytes.includes('begun'));
    const stopped = own.stop(5_000);
    await pause(100);
    await connection.write(chatBytes('xx'));
    await pause(100);
    go();
    expect(await answersOn(connection, 2)).toEqual(['begun, over', '503']);
    await stopped;
    own.reset();
  });

  it('and not read, go to node:http when the client has taken the answer', async () => {
    const connection = await server.open();
    const long = 'y'.repeat(8_000_000);
    server.answer = long;
    connection.socket.pause();
    await connection.write(chatBytes('x'));
    await pause(50);
    await connection.write(requestBytes('GET', '/healthz', {}));
    await pause(50);
    connection.socket.resume();
    const [first, second] = await answersOn(connection, 2);
    expect([first?.length, second]).toEqual([long.length, expect.stringContaining('ok')]);
  });
});

describe('a refusal before the body has arrived', () => {
  it('leaves the connection in order: the rest of the body is no request', async () => {
    const connection = await server.open();
    const refused = chatBytes('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n', {});
    await connection.write(refused.subarray(0, refused.length - 20));
    expect(await answersOn(connection, 1)).toEqual(['401']);
    await connection.write(Buffer.concat([refused.subarray(refused.length - 20), chatBytes('x')]));
    expect(await answersOn(connection, 2)).toEqual(['401', '"fast 1"']);
  });
});
