import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RawConnection, requestBytes } from '../../../tests/support/raw-http.js';
import { BodyMemory } from '../../limits/body-memory.js';
import { AnswerBytes, CallerGone } from '../../pipeline/caller.js';
import { unknownTerritory } from '../../territory/territory.js';
import { NodeCaller } from './node-caller.js';

const origin = { address: '127.0.0.1', territory: unknownTerritory };
let server: Server;
let url: string;
let callers: NodeCaller[];
beforeEach(async () => {
  callers = [];
  server = createServer((req, res) =>
    callers.push(new NodeCaller(req, res, { awaitsContinue: false, unreadMs: 1_000, origin })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const ask = () => requestBytes('POST', '/v1/chat/completions', {});

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; !condition() && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a caller that hangs up', () => {
  it('is gone with every request that it has pipelined, also those whose turn had not come', async () => {
    const connection = await RawConnection.open(url);
    await connection.write(Buffer.concat(Array.from({ length: 12 }, ask)));
    await until(() => callers.length === 12);
    let told = 0;
    for (const caller of callers) caller.onGone = () => told++;
    connection.reset();
    await until(() => told === 12);
    expect([told, callers.map(({ gone }) => gone)]).toEqual([12, Array.from({ length: 12 }, () => true)]);
  });

  it('is not gone when its answers have left, and leaves no listener on its connection', async () => {
    const connection = await RawConnection.open(url);
    await connection.write(Buffer.concat([ask(), ask(), ask()]));
    await until(() => callers.length === 3);
    let told = 0;
    for (const caller of callers) caller.onGone = () => told++;
    for (const caller of [...callers].reverse()) caller.answer([], new AnswerBytes('{}', 'latin1'));
    await connection.readUntil((bytes) => bytes.toString().split('{}').length === 4);
    await new Promise((resolve) => setTimeout(resolve, 20));
    connection.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([told, callers.some(({ gone }) => gone)]).toEqual([0, false]);
  });

  it('before its body is asked for is told so, instead of being waited for without end', async () => {
    const connection = await RawConnection.open(url);
    await connection.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{');
    await until(() => callers.length === 1);
    connection.reset();
    await until(() => callers[0]!.gone);
    const read = Promise.race([
      callers[0]!.readBody(new BodyMemory({ bytesMax: 1_000 }).open('a')),
      new Promise((resolve) => setTimeout(resolve, 60_000, 'waits')),
    ]);
    await expect(read).rejects.toBeInstanceOf(CallerGone);
  });
});
