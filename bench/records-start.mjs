/**
 * How long a gateway with daily quotas takes to start, for bench/records.mjs: on the filled store and on an empty one, by turns. A start
 * reads the tokens of the day from the rollups.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url));
const rounds = 5;

/** With `hasLog` the log of receipts is on. The rows of the benchmark have no receipts, so a start finds all of them waiting. */
export async function measureStart({ filledDir, log, hasLog }) {
  const folder = mkdtempSync(join(tmpdir(), 'records-start-'));
  const places = { filled: filledDir, empty: join(folder, 'empty') };
  const times = { filled: [], empty: [] };
  try {
    for (const [name, dataDir] of Object.entries(places)) writeConfig({ folder, name, dataDir, hasLog });
    // The first start of each makes the database and migrates it.
    for (const name of Object.keys(places)) await startOnce(folder, name);
    for (let round = 0; round < rounds; round++)
      for (const name of round % 2 ? ['filled', 'empty'] : ['empty', 'filled'])
        times[name].push(await startOnce(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const median = (name) => times[name].sort((a, b) => a - b)[Math.floor(rounds / 2)];
  const [filled, empty] = [median('filled'), median('empty')];
  log(
    `start with daily quotas${hasLog ? ' and the log' : ''}: ${filled.toFixed(0)} ms on the filled store, ${empty.toFixed(0)} ms on an empty one: ${(filled / empty).toFixed(2)} times`,
  );
}

function writeConfig({ folder, name, dataDir, hasLog }) {
  const routes = ['acme', 'beta'].map((provider, i) => ({
    ...{ provider, locode: ['defra', 'nlams'][i], upstream_model: 'upstream', price: { input: 0.6, output: 0.8 } },
    daily_token_quota: 1_000_000_000_000,
  }));
  const models = Array.from({ length: 6 }, (_, i) => ({
    ...{ creator: 'meta', model: `llama-${i}`, context_window: 131_072, max_output_tokens: 8_192, routes },
  }));
  const regions = [
    { locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 },
    { locode: 'nlams', city: 'Amsterdam', country: 'NL', lat: 52.4, lon: 4.9, carbon: 268 },
  ];
  const providers = ['acme', 'beta'].map((id) => ({
    ...{ id, name: id, dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', auth: 'none', headquarters: 'DE' },
  }));
  const catalogue = join(folder, `${name}-catalogue.yaml`);
  // JSON is YAML too.
  writeFileSync(catalogue, JSON.stringify({ providers, regions, models }));
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({
      server: { host: '127.0.0.1', port: 0 },
      storage: { data_dir: dataDir },
      ...{ demo: false, admin_token: 'records-bench-admin-token-of-no-value', catalogue: [catalogue] },
      proof: { enabled: hasLog },
    }),
  );
}

/** Milliseconds until it says where it listens. */
async function startOnce(folder, name) {
  const from = performance.now();
  const child = spawn(process.execPath, [main, 'serve', '--config', join(folder, `${name}.yaml`)], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors = (errors + text).slice(-2_000);
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve, reject) => {
    let seen = '';
    child.stdout.on('data', (text) => {
      seen += text;
      if (/https?:\/\//.test(seen)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`The gateway ended with ${code}.\n${errors}`)));
  });
  const ms = performance.now() - from;
  child.kill('SIGTERM');
  await ended;
  return ms;
}
