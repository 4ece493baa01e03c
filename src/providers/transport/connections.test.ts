import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
});

/** The status of the answer. */
function send(): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const request = {
      route: { ...route, baseUrl: `${upstream.url}/v1` },
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
    transport = new HttpTransport(() => now);
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
});
