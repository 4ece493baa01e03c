import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../errors/gateway-error.js';
import { BodyMemory, noAccount } from './body-memory.js';

let memory: BodyMemory;
const create = (options: { bytesMax?: number; stallMs?: number } = {}) => {
  memory = new BodyMemory({ bytesMax: 100_000, ...options });
  return memory;
};
afterEach(() => memory.close());

/** A body that is being received, and the error that ended it. */
function receive(owner: string) {
  const source = { complete: false };
  const hold = memory.open(owner);
  const body = { source, hold, error: null as GatewayError | null };
  hold.receive(source, (error) => {
    body.error = error;
    hold.release();
  });
  return body;
}

describe('body memory', () => {
  it('gives one owner a quarter and all together the whole, and takes back what is released', () => {
    create();
    const a = memory.open('a');
    expect(a.add(20_000)).toBeNull();
    expect(a.add(10_000)).toMatchObject({ condition: 'body_memory_full', status: 503, param: undefined });
    const others = ['b', 'c', 'd', 'e'].map((owner) => memory.open(owner));
    for (const hold of others.slice(0, 3)) expect(hold.add(24_000)).toBeNull();
    expect(others[3]!.add(20_000)?.message).toContain('all callers');
    for (const hold of [a, ...others]) hold.release();
    a.release();
    expect(memory.heldBytes).toBe(0);
    expect(others[3]!.add(20_000)).toBeNull();
  });

  it('gives an address a sixteenth, and all senders without an account a quarter, their bodies included', () => {
    create();
    const one = memory.openEarly('192.0.2.1');
    expect(one.resize(5_000)).toBeNull();
    expect(one.resize(6_000)?.message).toContain('this address');
    expect(memory.openEarly('192.0.2.1').resize(1_000)?.message).toContain('this address');
    const others = [2, 3, 4].map((at) => memory.openEarly(`192.0.2.${at}`));
    for (const hold of others) expect(hold.resize(5_900)).toBeNull();
    const message = 'callers without an account';
    expect(memory.openEarly('192.0.2.5').resize(3_000)?.message).toContain(message);
    expect(memory.open(noAccount).add(3_000)?.message).toContain(message);
    expect(memory.open('a').add(20_000)).toBeNull();
    one.resize(1_000);
    expect(memory.openEarly('192.0.2.5').resize(3_000)).toBeNull();
  });

  it('gives early bytes back once, and forgets addresses without any', async () => {
    create({ stallMs: 6 });
    const holds = [1, 2].map((at) => memory.openEarly(`192.0.2.${at}`));
    for (const hold of holds) hold.resize(1_000);
    holds[0]!.resize(2_000);
    holds[0]!.resize(500);
    expect(memory.heldBytes).toBe(1_500 + 2 * 256);
    for (const hold of [...holds, ...holds]) hold.release();
    expect(memory.heldBytes).toBe(0);
    const { addresses } = memory as unknown as { addresses: Map<string, unknown> };
    await expect.poll(() => addresses.size).toBe(0);
    expect(holds[0]!.resize(1_000)).toBeNull();
  });

  it('gives requests that wait for their admission a quarter of their own', () => {
    create();
    const taken = memory.takeWaiting(20_000);
    expect([taken, memory.heldBytes, memory.takeWaiting(5_000)]).toEqual([20_256, 20_256, 0]);
    expect(memory.openEarly('192.0.2.1').resize(5_000)).toBeNull();
    memory.giveWaiting(taken);
    expect(memory.takeWaiting(5_000)).toBe(5_256);
  });

  it('counts what a chunk costs besides its bytes', () => {
    create();
    const hold = memory.open('a');
    let chunks = 0;
    while (hold.add(1) === null) chunks++;
    expect(chunks).toBeLessThan(100);
    expect(memory.heldBytes).toBeLessThanOrEqual(25_000);
  });

  it('checks an announced length against what is left now, and lets a request without a body pass', () => {
    create();
    memory.check('a', 25_000);
    expect(() => memory.check('a', 25_001)).toThrow('this account');
    memory.open('a').add(24_700);
    expect(() => memory.check('a', 100)).toThrow('this account');
    memory.check('a', 0);
    memory.check('b', null);
  });

  it('refuses a body of which nothing comes for a while with 408, and no other', async () => {
    create({ stallMs: 60 });
    const stalled = receive('a');
    const lively = receive('b');
    const arrived = receive('c');
    arrived.source.complete = true;
    const drip = setInterval(() => lively.hold.add(1), 5);
    await expect.poll(() => stalled.error).toMatchObject({ condition: 'request_timeout', status: 408 });
    clearInterval(drip);
    expect([lively.error, arrived.error]).toEqual([null, null]);
  });

  it('refuses bodies that have not arrived in full when asked to, also those that begin later', () => {
    create();
    const [half, whole] = [receive('a'), receive('a')];
    half.hold.add(1_000);
    whole.source.complete = true;
    const refusal = new Error('draining') as GatewayError;
    memory.refuseUnfinished(() => refusal);
    expect([half.error, whole.error, receive('b').error, memory.heldBytes]).toEqual([refusal, null, refusal, 0]);
  });
});
