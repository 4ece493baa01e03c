import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { createGatewayFiles, type GatewayFiles } from '../support/gateway-files.js';

const mainFile = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));

let child: ChildProcess | undefined;
let files: GatewayFiles | undefined;
afterEach(async () => {
  if (child && child.exitCode === null) {
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  await files?.remove();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it('the demo account, its key and its link exist and are printed before /readyz is 200', async () => {
  const port = await freePort();
  files = await createGatewayFiles({ embedded: 'first', config: { demo: true, server: { port } } });
  child = spawn(process.execPath, [mainFile, 'serve', '--config', files.configFile], {
    cwd: files.folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout?.on('data', (text) => {
    printed += text;
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await expect.poll(isReady, { timeout: 60_000, interval: 5 }).toBe(true);
  // What the process wrote before it answered is in the pipe already; one turn of the loop reads it.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(printed).toMatch(/sk-lr-[\w-]{43}/);
  expect(printed).toMatch(/\/dashboard\/claim#[\w-]{43}/);
  expect(printed.indexOf('Lodestone is ready')).toBeGreaterThan(printed.indexOf('/dashboard/claim#'));
}, 180_000);
