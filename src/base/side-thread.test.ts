import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SideThread, SideThreadLost } from './side-thread.js';

/** A thread with the protocol of side-thread-port, in plain JavaScript because threads run compiled files. */
const source = `
import { parentPort, threadId } from 'node:worker_threads';
parentPort.on('message', (message) => {
  if (message === 'crash') setTimeout(() => { throw new Error('crash'); });
  else if (message === 'exit') process.exit(3);
  else if (message === 'hang') { /* never answers */ }
  else if (message === 'fail') parentPort.postMessage({ ok: false, error: { why: 'asked' } });
  else parentPort.postMessage({ ok: true, result: { said: message, threadId } });
});
`;

interface Said {
  said: string;
  threadId: number;
}

let folder: string;
let file: URL;
const threads: SideThread<unknown, Said>[] = [];
const start = (options = {}) => {
  const thread = new SideThread<unknown, Said>(file, options);
  threads.push(thread);
  return thread;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-thread-'));
  writeFileSync(join(folder, 'echo.mjs'), source);
  file = pathToFileURL(join(folder, 'echo.mjs'));
});
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.close())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a side thread', () => {
  it('answers messages in order, from one thread', async () => {
    const thread = start();
    const answers = await Promise.all(['a', 'b', 'c'].map((message) => thread.run(message)));
    expect(answers.map(({ said }) => said)).toEqual(['a', 'b', 'c']);
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
  });

  it('rejects with what the thread said, and goes on', async () => {
    const thread = start();
    await expect(thread.run('fail')).rejects.toEqual({ why: 'asked' });
    expect((await thread.run('next')).said).toBe('next');
  });

  it.each(['crash', 'exit'])('rejects what was waiting when the thread is lost (%s), and starts anew', async (how) => {
    const thread = start();
    const first = await thread.run('first');
    const lost = thread.run(how);
    const behind = thread.run('hang');
    await expect(lost).rejects.toBeInstanceOf(SideThreadLost);
    await expect(behind).rejects.toBeInstanceOf(SideThreadLost);
    const next = await thread.run('next');
    expect(next.said).toBe('next');
    expect(next.threadId).not.toBe(first.threadId);
  });

  it('does not mix answers up after a message that cannot be sent', async () => {
    const thread = start();
    await expect(thread.run(() => {})).rejects.toThrow();
    const answers = await Promise.all([thread.run('one'), thread.run('two')]);
    expect(answers.map(({ said }) => said)).toEqual(['one', 'two']);
  });

  it('rejects what is waiting when it is closed', async () => {
    const thread = start();
    const waiting = thread.run('hang');
    const rejected = expect(waiting).rejects.toBeInstanceOf(SideThreadLost);
    await thread.close();
    await rejected;
  });

  it('serves a message that comes while an idle thread is being stopped', async () => {
    const thread = start();
    await thread.run('first');
    const stopping = thread.close();
    expect((await thread.run('second')).said).toBe('second');
    await stopping;
    expect((await thread.run('third')).said).toBe('third');
  });

  it('stops when long unused and starts again when needed', async () => {
    const thread = start({ idleMs: 1 });
    const first = await thread.run('first');
    await new Promise((resolve) => setTimeout(resolve, 60));
    const second = await thread.run('second');
    expect(second.threadId).not.toBe(first.threadId);
  });
});
