/** Commands that open the store themselves, because no gateway runs, end when they are done. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const program = fileURLToPath(new URL('../../../bin/lodestone', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'commands-end-'));
const config = join(folder, 'lodestone.yaml');
let source: FreshDatabase;
let target: FreshDatabase;
beforeAll(async () => {
  [source, target] = [await freshDatabase(), await freshDatabase()];
  const storage = { database_url: source.databaseUrl, data_dir: join(folder, 'data') };
  // Nothing listens there, so no gateway is found.
  const server = { host: '127.0.0.1', port: 9 };
  writeFileSync(config, stringify({ server, storage, demo: false, admin_token: 'a-token-of-no-value-for-this-test' }));
}, 60_000);
afterAll(async () => {
  await source.drop();
  await target.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Fails where the program still runs after a minute. */
async function run(...words: string[]): Promise<string> {
  const { LODESTONE_URL: _, ...env } = process.env;
  const options = { cwd: folder, env, timeout: 60_000, killSignal: 'SIGKILL' as const };
  return (await promisify(execFile)(process.execPath, [program, ...words, '--config', config], options)).stdout;
}

it('an export', async () => {
  expect(await run('export', 'generations', '--format', 'csv', '--out', '-')).toMatch(/^id,request_id,created_at,/);
}, 90_000);

it('a move to another store', async () => {
  expect(await run('storage', 'move', '--to', target.databaseUrl)).toContain('Both sides agree.');
}, 90_000);
