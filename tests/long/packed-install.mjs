/**
 * The package as its users get it: packed, installed into an empty folder without development tools, started by `npx lodestone`. It
 * serves the dashboard and the docs, answers a chat within 30 s of the installation's end, and stops in order. Needs the npm registry, or a
 * cache that has the packages. LODESTONE_PACKED names a package that is packed already. node-matrix.mjs runs this on several versions of Node.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'lodestone-packed-'));
const home = join(folder, 'home');
const startMs = 90_000;
const stopMs = 60_000;
const answerMs = 30_000;
const packed = process.env.LODESTONE_PACKED;
const npm = (cwd, ...args) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

try {
  mkdirSync(home);
  if (packed) cpSync(packed, join(folder, basename(packed)));
  else npm(root, 'pack', '--silent', '--pack-destination', folder);
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  npm(home, 'install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball));
  const installedAt = performance.now();
  const modules = join(home, 'node_modules');
  for (const tool of ['typescript', 'vite', 'vitest', 'react', '@biomejs'])
    assert(!existsSync(join(modules, tool)), `${tool} is installed`);
  console.log(
    `The tarball has ${megabytes(statSync(join(folder, tarball)).size)} MB, the folder ${megabytes(sizeOf(home))} MB.`,
  );
  await serve(installedAt);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function serve(installedAt) {
  const { HOST: _, LODESTONE_CONFIG: __, ...env } = process.env;
  // A group of its own, so that nothing outlives a failure: npx runs a shell, which runs the gateway.
  const npx = spawn('npx', ['lodestone'], {
    cwd: home,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    const output = await untilReady(npx);
    const [url, key] = [/is ready: API (\S+)/.exec(output)[1], /sk-lr-\S+/.exec(output)[0]];
    await chat(url, key);
    const tookMs = Math.round(performance.now() - installedAt);
    console.log(`Node ${process.version}: the first answer came ${tookMs} ms after the installation.`);
    assert(tookMs < answerMs, `more than ${answerMs} ms`);
    await visit(url);
    process.kill(-npx.pid, 'SIGTERM');
    await untilGone(npx.pid);
    assert.deepEqual(readdirSync(home).toSorted(), ['data', 'node_modules', 'package-lock.json', 'package.json']);
  } finally {
    if (isRunning(npx.pid)) process.kill(-npx.pid, 'SIGKILL');
  }
}

/** Whether the group has a member. */
function isRunning(group) {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** The gateway refuses new work, settles and ends, and its PostgreSQL with it. */
async function untilGone(group) {
  const until = performance.now() + stopMs;
  while (isRunning(group)) {
    assert(performance.now() < until, `Still running ${stopMs} ms after SIGTERM`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function untilReady(child) {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`Not ready within ${startMs} ms: ${output}`)), startMs);
    child.once('exit', (code) => reject(new Error(`Ended with ${code} before it was ready: ${output}`)));
    child.stdout.on('data', (text) => {
      output += text;
      if (!/is ready: API \S+\s/.test(output)) return;
      clearTimeout(timer);
      resolve(output);
    });
  });
}

async function visit(url) {
  for (const path of ['/readyz', '/docs', '/docs/reference', '/openapi.json'])
    assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  const page = await (await fetch(`${url}/dashboard`)).text();
  const script = /<script[^>]+src="([^"]+\.js)"/.exec(page)?.[1];
  assert(script, `the dashboard's page names no script: ${page}`);
  assert.equal((await fetch(`${url}${script}`)).status, 200, script);
}

async function chat(url, key) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(body));
  assert.equal(body.router_metadata.provider, 'sandbox');
  console.log(`npx lodestone serves, and the sandbox answers: ${body.choices[0].message.content}`);
}

function sizeOf(place) {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
