import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layOut, linkEmbedded, listing, packagesIn, withoutRights } from './production-tree.js';
import { assignments, dockerStages, execForm, only } from './shipped-files.js';

const image = dockerStages()[2]!;
const user = withoutRights();
const folder = mkdtempSync(join(tmpdir(), 'lodestone-image-'));
const app = join(folder, 'app');
const home = join(folder, 'lodestone');
const environment = { ...assignments(only(image, 'ENV')), PATH: process.env.PATH };

let gateway: ChildProcess;
let before: string[];
let output = '';
let url = '';

/** As the image says, with the folder for its root. */
function inImage(command: readonly string[]): [string, string[]] {
  const [, ...args] = command.map((part) => part.replace(/^\/app\//, `${app}/`));
  return [process.execPath, args];
}

beforeAll(async () => {
  chmodSync(folder, 0o755);
  layOut(image, app);
  await linkEmbedded(app);
  mkdirSync(join(home, 'data'), { recursive: true });
  if (user.uid !== undefined) chownSync(join(home, 'data'), user.uid, user.gid!);
  before = listing(app);
  const command = inImage([...execForm(only(image, 'ENTRYPOINT')), ...execForm(only(image, 'CMD'))]);
  // A port of the system's choice instead of the image's.
  gateway = spawn(...command, { ...user, cwd: home, env: { ...environment, HOST: '127.0.0.1', PORT: '0' } });
  gateway.stderr!.on('data', (text) => {
    output += text;
  });
  await new Promise<void>((resolve, reject) => {
    gateway.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
    gateway.stdout!.on('data', (text) => {
      output += text;
      if (/sk-lr-\S+/.test(output)) resolve();
    });
  });
  url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)![0];
}, 180_000);

afterAll(() => {
  gateway?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('the files of the image alone', () => {
  it('have no tool of development among them', () => {
    const packages = packagesIn(app);
    expect(packages).toContain('fastify');
    for (const tool of ['typescript', 'vite', 'vitest', 'react']) expect(packages).not.toContain(tool);
    expect(readdirSync(app).toSorted()).toEqual([
      'LICENSE',
      'bin',
      'catalogue',
      'dashboard',
      'dist',
      'node_modules',
      'package.json',
    ]);
  });

  it('answer a chat, and serve the dashboard, the docs and the API description', async () => {
    const key = /sk-lr-[\w-]+/.exec(output)![0];
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ router_metadata: { provider: 'sandbox' } });
    for (const path of ['/readyz', '/dashboard', '/docs', '/docs/reference', '/openapi.json']) {
      expect((await fetch(`${url}${path}`)).status, path).toBe(200);
    }
    // Sign-in is loaded when it is first asked for.
    expect((await fetch(`${url}/dashboard/api/session`)).status).toBeLessThan(500);
  });

  it('are healthy by the image’s own check, and are not when nothing listens', () => {
    const health = only(image, 'HEALTHCHECK');
    const [program, args] = inImage(execForm(health.slice(health.indexOf('CMD'))));
    const check = (port: string) =>
      spawnSync(program, args, { ...user, cwd: '/', env: { ...environment, PORT: port } }).status;
    expect(check(new URL(url).port)).toBe(0);
    expect(check('1')).toBe(1);
  });

  it('stop with 0 at SIGTERM, and have written to the data folder alone', async () => {
    gateway.kill('SIGTERM');
    const [code] = await once(gateway, 'exit');
    expect(code).toBe(0);
    expect(listing(app)).toEqual(before);
    expect(existsSync(join(home, 'data', 'admin-token'))).toBe(true);
    expect(readdirSync(home)).toEqual(['data']);
  });
});
