/** `npm start` as a person or a service manager runs it: with a configuration file, and a signal to npm itself reaches the gateway. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, it } from 'vitest';
import { placeCluster } from '../support/postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-npm-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('--config names the configuration, and SIGTERM to npm stops the gateway in order: exit code 0, and nobody listens any more', {
  timeout: 120_000,
}, async () => {
  const config = join(folder, 'lodestone.yaml');
  const dataDir = join(folder, 'data');
  placeCluster(inject('newCluster'), dataDir);
  writeFileSync(config, `server: { port: 0 }\ndemo: false\nstorage: { data_dir: ${JSON.stringify(dataDir)} }\n`);
  const { HOST: _, PORT: __, LODESTONE_CONFIG: ___, ...env } = process.env;
  const npm = spawn('npm', ['start', '--', '--config', config], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise<unknown[]>((resolve) => npm.once('close', (...how) => resolve(how)));
  let said = '';
  const base = await new Promise<string>((resolve, reject) => {
    const hear = (text: Buffer) => {
      said += text;
      const ready = /is ready: API (\S+)/.exec(said);
      if (ready) resolve(ready[1]!);
    };
    npm.stdout.on('data', hear);
    npm.stderr.on('data', hear);
    void exit.then(() => reject(new Error(said)));
  });
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
  expect(existsSync(join(dataDir, 'admin-token'))).toBe(true);
  npm.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(said, 'demo: false').not.toContain('sk-lr-');
  await expect(fetch(`${base}/healthz`)).rejects.toThrow();
});
