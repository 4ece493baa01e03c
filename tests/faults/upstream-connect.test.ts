/** Upstreams that cannot be reached: the first-byte budget covers the connection and the name, and nothing is left open. */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as up from '../support/scripted-upstream.js';
import {
  ask,
  expectAt,
  expectBooks,
  expectError,
  expectServes,
  expectWithin,
  providerError,
  type Rig,
  startRig,
  timeoutError,
  timeoutMessage,
} from './fixture.js';

/** A server that is stopped, with its queue filled up: further connections are neither accepted nor refused. */
class BlackHole {
  private readonly sockets: Socket[] = [];
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async open(): Promise<BlackHole> {
    const code = `const s=require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},()=>console.log(s.address().port))`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await new Promise<number>((resolve) => child.stdout!.once('data', (text) => resolve(Number(text))));
    child.kill('SIGSTOP');
    const hole = new BlackHole(child, port);
    while (await hole.connects()) if (hole.sockets.length > 50) throw new Error('The queue does not fill up.');
    return hole;
  }

  private connects(): Promise<boolean> {
    const socket = connect({ host: '127.0.0.1', port: this.port });
    this.sockets.push(socket);
    socket.on('error', () => {});
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      setTimeout(() => resolve(false), 300);
    });
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.child.kill('SIGKILL');
  }
}

describe('upstreams that cannot be reached', () => {
  let rig: Rig;
  let hole: BlackHole;
  beforeAll(async () => {
    hole = await BlackHole.open();
    rig = await startRig({
      providers: {
        hole: `http://127.0.0.1:${hole.port}`,
        nameless: 'http://no-such-name.invalid',
        closed: 'http://127.0.0.1:1',
      },
      config: { timeouts: { first_byte_streaming: '400ms', first_byte_non_streaming: '600ms', overall: '2s' } },
    });
    await rig.gateway.chat(ask());
  });
  afterAll(async () => {
    await rig.stop();
    hole.close();
  });
  const id = (provider: string) => `${provider}/meta/llama-3.3-70b/defra`;

  it.each([
    { stream: false, budget: '600ms', ms: 600 },
    { stream: true, budget: '400ms', ms: 400 },
  ])(
    'a connection that is never accepted is the 504 of the first byte at $budget, and nothing is billed',
    async ({ stream, budget, ms }) => {
      const account = await rig.gateway.createAccount();
      const startedAt = performance.now();
      const reply = await rig.gateway.chat(ask({ model: id('hole'), stream }), { key: account.key });
      expectAt(performance.now() - startedAt, ms);
      expect(expectError(reply, timeoutError)).toBe(timeoutMessage('hole', 'first-byte', budget));
      await expectBooks(rig.gateway, account, { records: 1, costs: [] });
      await expectServes(rig);
    },
  );

  it('a connection that is accepted and never answered is the same 504', async () => {
    rig.upstream.enqueue(up.hang());
    expect(expectError(await rig.gateway.chat(ask()), timeoutError)).toBe(
      timeoutMessage('acme', 'first-byte', '600ms'),
    );
    await rig.upstream.waitFor(() => rig.upstream.calls.at(-1)!.aborted);
    await expectServes(rig);
  });

  it('a name that cannot be resolved fails within the first-byte budget: 503 when that is known, 504 when it is not', async () => {
    const account = await rig.gateway.createAccount();
    const startedAt = performance.now();
    const reply = await rig.gateway.chat(ask({ model: id('nameless') }), { key: account.key });
    expectWithin(performance.now() - startedAt, 700);
    const message = expectError(reply, reply.status === 504 ? timeoutError : providerError);
    expect(message).not.toContain('no-such-name');
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
    await expectServes(rig);
  });

  it('a refused connection is a 503 at once', async () => {
    const startedAt = performance.now();
    expectError(await rig.gateway.chat(ask({ model: id('closed') })), providerError);
    expectWithin(performance.now() - startedAt, 200);
  });

  it('hundreds of connections that are never accepted do not hold up a provider that answers', async () => {
    const lost = Array.from({ length: 200 }, () => rig.gateway.chat(ask({ model: id('hole') })));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const startedAt = performance.now();
    expect((await rig.gateway.chat(ask())).status).toBe(200);
    expectWithin(performance.now() - startedAt, 150);
    for (const reply of await Promise.all(lost)) expectError(reply, timeoutError);
    await expectServes(rig);
  });
});
