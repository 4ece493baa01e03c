/** One connection with requests of every kind, in pieces, ahead of one another and after a refusal: each gets its own answer, in order. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import { completion, json, sse, streamOf } from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, pause, type Rig, startRig } from './fixture.js';
import { AnswerReader } from './generator/answer-reader.js';

let rig: Rig;
let account: TestAccount;
let connection: RawConnection;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.upstream.reset();
  // The answer repeats the number of the request.
  rig.upstream.onRequest(({ json: asked }) => {
    const { stream, seed } = asked as { stream?: boolean; seed?: number };
    const content = `answer ${seed}`;
    return stream ? sse(streamOf([content])) : json(completion({ content }));
  });
  account = await rig.gateway.createAccount();
  connection = await RawConnection.open(rig.gateway.url);
  return () => connection.close();
});

const headers = () => ({ authorization: `Bearer ${account.key}`, 'content-type': 'application/json' });
const chat = (seed: number, more = {}) =>
  requestBytes('POST', '/v1/chat/completions', headers(), JSON.stringify(ask({ seed, ...more })));
const models = () => requestBytes('GET', '/v1/models', headers());

/** What each answer is, as soon as there are `count`. */
async function answers(count: number): Promise<string[]> {
  const read = () => {
    const reader = new AnswerReader([]);
    reader.push(connection.received);
    expect(reader.fault).toBeNull();
    return reader.answers.map(({ status, body, headers: { 'x-request-id': id } }) => {
      expect(id).toMatch(/^req-/);
      const text = body.toString();
      return status === 200 ? (/answer \d+/.exec(text)?.[0] ?? 'models') : String(status);
    });
  };
  await connection.readUntil(() => read().length >= count, 10_000);
  return read();
}

async function inPieces(bytes: Buffer, size: number): Promise<void> {
  connection.socket.setNoDelay(true);
  for (let at = 0; at < bytes.length; at += size) {
    await connection.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('one connection', () => {
  it('takes chats, streams and other requests in turn', async () => {
    const requests = [chat(1), chat(2, { stream: true }), models(), chat(3), models(), chat(4, { stream: true })];
    for (const [i, request] of requests.entries()) {
      await connection.write(request);
      expect(await answers(i + 1)).toHaveLength(i + 1);
    }
    expect(await answers(6)).toEqual(['answer 1', 'answer 2', 'models', 'answer 3', 'models', 'answer 4']);
    await expectBooks(rig.gateway, account, {
      records: 4,
      costs: [costOf(9, 3), costOf(9, 3), costOf(9, 1), costOf(9, 1)],
    });
  });

  it('takes them all at once', async () => {
    await connection.write(Buffer.concat([chat(1), models(), chat(2), chat(3)]));
    expect(await answers(4)).toEqual(['answer 1', 'models', 'answer 2', 'answer 3']);
  });

  it('takes them while an earlier one is still answered', async () => {
    rig.upstream.onRequest(({ json: asked }) => {
      const { seed } = asked as { seed: number };
      return json(completion({ content: `answer ${seed}` }), { delayMs: 100 });
    });
    await connection.write(chat(1));
    await pause(30);
    await connection.write(Buffer.concat([chat(2), models()]));
    await pause(10);
    await connection.write(chat(3));
    expect(await answers(4)).toEqual(['answer 1', 'answer 2', 'models', 'answer 3']);
  });

  it.each([1, 5, 100])('takes a request in pieces of %d bytes, and another after it', async (size) => {
    await inPieces(chat(1), size);
    expect(await answers(1)).toEqual(['answer 1']);
    await connection.write(chat(2));
    expect(await answers(2)).toEqual(['answer 1', 'answer 2']);
  });

  it('takes a body long after its head', async () => {
    const request = chat(1);
    const headEnd = request.indexOf('\r\n\r\n') + 4;
    await connection.write(request.subarray(0, headEnd));
    await pause(100);
    await inPieces(request.subarray(headEnd), 30);
    expect(await answers(1)).toEqual(['answer 1']);
  });

  it('goes on after refusals, also of a request whose body arrives later', async () => {
    const noKey = requestBytes('POST', '/v1/chat/completions', {}, JSON.stringify(ask()));
    await connection.write(noKey);
    await answers(1);
    await connection.write(noKey.subarray(0, -10));
    await answers(2);
    await connection.write(Buffer.concat([noKey.subarray(-10), chat(1)]));
    expect(await answers(3)).toEqual(['401', '401', 'answer 1']);
    await connection.write(chat(2, { temperature: 'hot' }));
    await connection.write(models());
    expect(await answers(5)).toEqual(['401', '401', 'answer 1', '400', 'models']);
  });

  it('takes a long prompt in between', async () => {
    const content = 'long '.repeat(40_000);
    for (const [i, request] of [chat(1), chat(2, { messages: [{ role: 'user', content }] }), chat(3)].entries()) {
      await connection.write(request);
      await answers(i + 1);
    }
    expect(await answers(3)).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });
});
