/**
 * A Redis for the rows that need one: that of REDIS_URL, `redis-server` or `valkey-server` on the PATH, the one that the tests have
 * unpacked (tests/support/redis-binary.ts), or Valkey as WebAssembly, as the tests use it. It runs on the core of the load.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LeftOut } from './left-out.mjs';
import { freePort } from './lodestone.mjs';
import { startOnLoadCore } from './processes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const unpacked = join(root, 'node_modules', '.cache', 'lodestone-redis', 'root', 'usr');
const wasmServer = join(root, 'tests', 'support', 'redis-wasm-server.mjs');

/** Resolves to `{url, kind}`; one Redis for a whole run. */
export async function startRedis(rig) {
  rig.redis ??= findRedis();
  return rig.redis;
}

async function findRedis() {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, kind: 'REDIS_URL' };
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  for (const { kind, command, args, env } of choices(port)) {
    if (kind !== 'wasm' && spawnSync(command, ['--version'], { stdio: 'ignore', env }).status !== 0) continue;
    const entry = startOnLoadCore(command, args, { env, stdin: 'pipe' });
    if (await answers(port, entry)) return { url, kind };
  }
  throw new LeftOut('no Redis runs here; install redis-server or set REDIS_URL');
}

function choices(port) {
  const flags = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'].map(
    String,
  );
  const libraries = ['x86_64', 'aarch64']
    .map((machine) => join(unpacked, 'lib', `${machine}-linux-gnu`))
    .find(existsSync);
  return [
    { kind: 'redis-server', command: 'redis-server', args: flags, env: process.env },
    { kind: 'valkey-server', command: 'valkey-server', args: flags, env: process.env },
    {
      kind: 'redis-server of the tests',
      command: join(unpacked, 'bin', 'redis-server'),
      args: flags,
      env: { ...process.env, LD_LIBRARY_PATH: libraries },
    },
    { kind: 'wasm', command: process.execPath, args: [wasmServer, String(port)], env: process.env },
  ];
}

async function answers(port, entry) {
  for (let tries = 0; tries < 100 && !entry.exited; tries++) {
    const ready = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
      socket.setTimeout(500, () => socket.destroy());
      socket.once('data', (data) => {
        resolve(data.toString().startsWith('+PONG'));
        socket.destroy();
      });
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
    });
    if (ready) return true;
    await pause(50);
  }
  return false;
}
