import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serveThread } from './side-thread-port.js';

const port = vi.hoisted(() => ({ current: null as unknown }));
vi.mock('node:worker_threads', () => ({
  get parentPort() {
    return port.current;
  },
}));

class Port extends EventEmitter {
  readonly sent: unknown[] = [];
  postMessage(message: unknown, transfer: unknown[] = []): void {
    if (transfer.includes('cannot be sent')) throw new Error('cannot be sent');
    this.sent.push(message);
  }
}

let other: Port;
beforeEach(() => {
  other = new Port();
  port.current = other;
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the other end of a side thread', () => {
  it('answers in the order of the messages, also where an early one takes longer', async () => {
    let release = () => {};
    serveThread<string, string>(async (message) => {
      if (message === 'slow') await new Promise<void>((resolve) => (release = resolve));
      return { result: message };
    });
    other.emit('message', 'slow');
    other.emit('message', 'quick');
    await settled();
    expect(other.sent).toEqual([]);
    release();
    await settled();
    expect(other.sent).toEqual([
      { ok: true, result: 'slow' },
      { ok: true, result: 'quick' },
    ]);
  });

  it('describes an error and goes on', async () => {
    serveThread<string, string>(
      (message) => {
        if (message === 'bad') throw new Error('no');
        return { result: message };
      },
      (error) => ({ described: (error as Error).message }),
    );
    other.emit('message', 'bad');
    other.emit('message', 'good');
    await settled();
    expect(other.sent).toEqual([
      { ok: false, error: { described: 'no' } },
      { ok: true, result: 'good' },
    ]);
  });

  it('answers with an error where a result cannot be sent, so that nobody waits for ever', async () => {
    serveThread<string, string>(() => ({ result: 'x', transfer: ['cannot be sent' as unknown as ArrayBuffer] }));
    other.emit('message', 'any');
    await settled();
    expect(other.sent).toEqual([{ ok: false, error: 'Error: cannot be sent' }]);
  });
});
