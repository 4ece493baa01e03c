/** SIGTERM with hundreds of open streams: new work is refused, every stream comes to its end, everything is settled, and the exit is clean. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../faults/fixture.js';
import type { StreamReply, TestAccount } from '../support/client.js';
import { RawConnection, type RawResponse, requestBytes } from '../support/raw-http.js';
import { completion, json as jsonScript } from '../support/scripted-upstream.js';
import { holdStreams, streamCost, streamText, usageOf, type WorkerRig } from './worker-rig.js';

const credit = '1000.00';
const creditPico = 1_000_000_000_000_000n;

export interface DrainOptions {
  workers: number;
  streamCount: number;
  /** Running, with a drain time that nothing here outlives. */
  rig: () => Pick<WorkerRig, 'gateway' | 'upstream'>;
  /** Before the gateway starts again: what the tests behind these want changed. */
  betweenStarts?: () => void;
}

export function drainSuite(options: DrainOptions): void {
  const { workers, streamCount } = options;
  describe(`SIGTERM with ${workers} serving process(es) and ${streamCount} open streams`, () => drainTests(options));
}

function drainTests({ streamCount, rig, betweenStarts }: DrainOptions): void {
  let account: TestAccount;
  let idle: RawConnection;
  let behind: RawConnection;
  let whole: RawConnection;
  let streams: Promise<StreamReply>[];
  let stopped: ReturnType<WorkerRig['gateway']['exited']>;
  let held: ReturnType<typeof holdStreams>;

  const headers = () => ({ authorization: `Bearer ${account.key}`, 'content-type': 'application/json' });
  const chatBytes = (more: object) =>
    requestBytes('POST', '/v1/chat/completions', headers(), JSON.stringify(ask({ ...more })));

  beforeAll(async () => {
    const { gateway, upstream } = rig();
    account = await gateway.createAccount({ credit });
    idle = await RawConnection.open(gateway.url);
    await idle.write(requestBytes('GET', '/healthz', {}));
    await idle.readUntil((received) => received.includes('"ok"'));
    let answerWhole = () => {};
    const wholeReleased = new Promise<void>((resolve) => {
      answerWhole = resolve;
    });
    held = holdStreams(upstream);
    const release = held.release;
    held.release = () => {
      answerWhole();
      release();
    };
    upstream.enqueue(async (exchange) => {
      await wholeReleased;
      await jsonScript(completion())(exchange);
    });
    const before = upstream.calls.length;
    whole = await RawConnection.open(gateway.url);
    await whole.write(chatBytes({}));
    await upstream.waitForCalls(before + 1);
    streams = Array.from({ length: streamCount - 1 }, () => gateway.stream(ask(), { key: account.key }));
    // Where something fails before they are looked at, that is told and not this.
    void Promise.allSettled(streams);
    behind = await RawConnection.open(gateway.url);
    await behind.write(chatBytes({ stream: true }));
    await behind.readUntil((received) => received.includes(' one'), 60_000);
    await vi.waitFor(() => expect(held.begun).toBe(streamCount), { timeout: 60_000 });
    stopped = gateway.exited();
    gateway.signal('SIGTERM');
  }, 180_000);
  afterAll(() => {
    for (const connection of [idle, behind, whole]) connection?.close();
  });

  it('closes a kept connection on which nothing is under way at once', async () => {
    await idle.readUntil(() => false, 5_000);
    expect(idle.closedByPeer).toBe(true);
  });

  it('refuses new connections', async () => {
    await expect
      .poll(() => RawConnection.open(rig().gateway.url).then(refusedLater, (error) => error.code), { timeout: 60_000 })
      .toBe('ECONNREFUSED');
  });

  it('says on a connection that is still busy that it drains, and that the connection ends with that answer', async () => {
    await behind.write(requestBytes('GET', '/readyz', {}));
    held.release();
    const text = textOf(await behind.readUntil((received) => received.includes('draining'), 20_000));
    const readiness = text.slice(text.indexOf('[DONE]'));
    expect(readiness).toMatch(/HTTP\/1\.1 503 /);
    expect(readiness).toContain('"draining"');
    expect(readiness).toMatch(/\r\nconnection: close\r\n/i);
    await behind.readUntil(() => false, 5_000);
    expect(behind.closedByPeer).toBe(true);
  });

  it('ends the connection of an answer that had yet to begin with that answer, and says so', async () => {
    const text = textOf(await whole.readUntil((received) => received.includes('router_metadata'), 20_000));
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('completes every stream, and ends with 0', async () => {
    const replies = await Promise.all(streams);
    const ends = new Set(
      replies.map(({ status, content, done, complete }) => `${status} ${content} ${done} ${complete}`),
    );
    expect([...ends]).toEqual([`200 ${streamText} true true`]);
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

  it('has settled every one of them, once', async () => {
    betweenStarts?.();
    await rig().gateway.restart();
    const usage = await usageOf(rig().gateway, account, creditPico);
    const ids = (await Promise.all(streams)).map((reply) => String(reply.headers['x-generation-id']));
    expect(usage.size).toBe(streamCount + 1);
    expect(ids.filter((id) => usage.get(id) !== streamCost)).toEqual([]);
  }, 180_000);
}

/** A connection that the system had already taken is closed without an answer, or answered with a refusal. */
async function refusedLater(connection: RawConnection): Promise<string> {
  await connection.write(requestBytes('GET', '/v1/models', {}));
  const text = textOf(await connection.readUntil((received) => received.includes('\r\n\r\n'), 2_000));
  connection.close();
  if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nconnection: close\r\n/i);
  return 'accepted';
}

const textOf = ({ raw }: RawResponse): string => raw.toString();
