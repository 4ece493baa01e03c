import { describe, expect, it } from 'vitest';
import { Conversations } from './conversations.js';

const of = (id: string, bytes: number) => ({ id, items: Buffer.alloc(bytes) });

describe('conversations', () => {
  it('are kept one for each socket, and forgotten with it', () => {
    const kept = new Conversations<object>({ ownerBytesMax: 100, bytesMax: 200 });
    const socket = {};
    kept.keep(socket, 'a', of('1', 60));
    kept.keep(socket, 'a', of('2', 70));
    expect(kept.of(socket)?.id).toBe('2');
    expect(kept.heldBytes).toBe(70);
    kept.forget(socket);
    kept.forget(socket);
    expect(kept.of(socket)).toBeNull();
    expect(kept.heldBytes).toBe(0);
  });

  it('of an account that keeps too much are forgotten, the oldest first, and those of others stay', () => {
    const kept = new Conversations<object>({ ownerBytesMax: 100, bytesMax: 1_000 });
    const [first, second, third, other] = [{}, {}, {}, {}];
    kept.keep(other, 'b', of('o', 90));
    kept.keep(first, 'a', of('1', 40));
    kept.keep(second, 'a', of('2', 40));
    kept.keep(third, 'a', of('3', 50));
    expect([first, second, third, other].map((socket) => kept.of(socket)?.id)).toEqual([undefined, '2', '3', 'o']);
    kept.keep(first, 'a', of('4', 101));
    expect(kept.of(first)).toBeNull();
    expect(kept.heldBytes).toBe(180);
  });

  it('are forgotten, the oldest first, where all accounts together keep too much', () => {
    const kept = new Conversations<object>({ ownerBytesMax: 100, bytesMax: 150 });
    const [first, second] = [{}, {}];
    kept.keep(first, 'a', of('1', 100));
    kept.keep(second, 'b', of('2', 100));
    expect([kept.of(first), kept.of(second)?.id]).toEqual([null, '2']);
    expect(kept.heldBytes).toBe(100);
  });
});
