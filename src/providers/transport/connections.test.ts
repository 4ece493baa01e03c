import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Exchange, json, type ScriptedUpstream, startUpstream } from '../../../tests/support/scripted-upstream.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { asLatin1 } from '../../base/latin1.js';
import { HttpTransport } from './http-transport.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
let upstream: ScriptedUpstream;
let transport: HttpTransport;
afterEach(async () => {
  await transport.close();
  await upstream.stop();
  vi.useRealTimers();
});

/** The status of the answer. */
function send(url = upstream.url): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const request = {
      route: { ...route, baseUrl: `${url}/v1` },
      path: '/x',
      body: asLatin1('{}'),
      stream: false,
      headers: [],
    };
    transport.dispatch(request, {
      onHeaders: (received) => {
        status = received;
      },
      onData: () => true,
      onEnd: () => resolve(status),
      onError: reject,
    });
  });
}

describe('an origin that closes idle connections', () => {
  let now: number;
  let kept: Exchange;
  beforeEach(async () => {
    now = 1_000;
    upstream = await startUpstream();
    transport = new HttpTransport({ nowMs: () => now, idleMsMax: 55_000 });
    upstream.reply((exchange) => {
      kept = exchange;
      return json({})(exchange);
    });
  });
  async function sendAfter(idleMs: number): Promise<number> {
    now += idleMs;
    expect(await send()).toBe(200);
    return upstream.connections.accepted;
  }
  async function closeAfter(idleMs: number): Promise<void> {
    now += idleMs;
    kept.close('fin');
    await upstream.waitFor(() => upstream.connections.open === 0);
  }

  it('is sent nothing on a connection that has been idle for half as long, until it has kept some for a while', async () => {
    expect([await sendAfter(0), await sendAfter(1_500)]).toEqual([1, 1]);
    await closeAfter(1_000);
    expect(await sendAfter(0)).toBe(2);
    expect(await sendAfter(400), 'idle for less than half of it').toBe(2);
    expect(await sendAfter(800), 'idle for more than half of it').toBe(3);
    expect(await sendAfter(60_000), 'idle for too long in any case').toBe(4);
    expect(await sendAfter(3_000), 'a minute without a close').toBe(4);
  });

  it('is trusted less after every earlier close', async () => {
    await sendAfter(0);
    await closeAfter(2_000);
    await sendAfter(0);
    await closeAfter(100);
    expect([await sendAfter(0), await sendAfter(40), await sendAfter(70)]).toEqual([3, 3, 4]);
  });

  it('that has a timer is found out by a connection that is not used, and then used up to four fifths of it', async () => {
    await sendAfter(0);
    await closeAfter(5_000);
    expect(await sendAfter(0)).toBe(2);
    const observer = kept;
    expect([await sendAfter(4_900), upstream.connections.open]).toEqual([3, 2]);
    now += 100;
    observer.close('fin');
    await upstream.waitFor(() => upstream.connections.open === 1);
    expect([await sendAfter(3_800), await sendAfter(3_900), await sendAfter(4_100)]).toEqual([3, 3, 4]);
  });
});

describe('an idle connection', () => {
  let now: number;
  beforeEach(async () => {
    now = 1_000;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    upstream = await startUpstream();
    transport = new HttpTransport({ nowMs: () => now, idleMsMax: 55_000 });
  });
  async function connectionsAfter(idleTimes: readonly number[]): Promise<number> {
    for (const idleMs of idleTimes) {
      now += idleMs;
      vi.advanceTimersByTime(1_000);
      expect(await send()).toBe(200);
    }
    return upstream.connections.accepted;
  }

  it.each([6_000, 40_000])('serves a caller with a request every %d ms', async (everyMs) => {
    expect(await connectionsAfter([0, everyMs, everyMs, everyMs])).toBe(1);
  });

  it('is closed after 55 s, or as the server says', async () => {
    expect(await connectionsAfter([0, 54_900, 55_000])).toBe(2);
    upstream.reply(json({}, { headers: { 'keep-alive': 'timeout=30' } }));
    expect(await connectionsAfter([0, 28_900, 29_000])).toBe(3);
    upstream.reply(json({}, { headers: { 'keep-alive': 'timeout=600' } }));
    expect(await connectionsAfter([0, 54_900, 55_000])).toBe(4);
  });

  it('is replaced after half an hour of use, so that a name that has moved is looked up again', async () => {
    expect(await connectionsAfter(Array.from({ length: 36 }, () => 50_000))).toBe(1);
    expect(await connectionsAfter([50_000])).toBe(2);
  });

  it('is probed after 10 s, so that one that leads nowhere is found', async () => {
    const setKeepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
    await send();
    expect(setKeepAlive.mock.calls).toEqual([[true, 10_000]]);
    setKeepAlive.mockRestore();
  });

  it('is one of at most 64 of its origin and 256 of all, except for the first seconds after a burst', async () => {
    const others = await Promise.all([1, 2, 3, 4].map(() => startUpstream()));
    const urls = [upstream, ...others].map(({ url }) => url);
    const burst = (url: string, count: number) => Promise.all(Array.from({ length: count }, () => send(url)));
    const idleAfter = (ms: number) => {
      now += ms;
      vi.advanceTimersByTime(1_000);
      return transport.connectionCounts().idle;
    };
    try {
      await burst(urls[0]!, 70);
      expect([idleAfter(4_000), idleAfter(1)]).toEqual([70, 64]);
      now += 1_000;
      for (const url of urls.slice(1)) await burst(url, 50);
      expect([idleAfter(4_000), idleAfter(1)]).toEqual([264, 256]);
      expect(await send(urls[0]!)).toBe(200);
    } finally {
      await Promise.all(others.map((other) => other.stop()));
    }
  });
});
