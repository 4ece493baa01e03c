/**
 * What the soak scripts share: a built gateway in a process of its own on an embedded store, one account with credit, and
 * what the system knows of that process (resident memory, open files, sockets).
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const mainFile = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
export const adminToken = 'soak-admin-token-of-no-value';
export const model = 'acme/meta/llama-3.3-70b/defra';
/** Of the second upstream. */
export const otherModel = 'other/meta/llama-3.3-70b/defra';

function catalogueFor(addresses) {
  const price = { input: 0.6, output: 0.8 };
  return {
    providers: Object.entries(addresses).map(([id, url]) => ({
      ...{ id, name: id, dialect: 'openai', base_url: `${url}/v1`, auth: 'none', headquarters: 'DE' },
    })),
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      {
        creator: 'meta',
        model: 'llama-3.3-70b',
        context_window: 131_072,
        max_output_tokens: 8_192,
        routes: Object.keys(addresses).map((provider) => ({
          ...{ provider, locode: 'defra', upstream_model: 'upstream-model', price },
        })),
      },
    ],
  };
}

/**
 * `config` is laid over the defaults, section by section; `nodeArgs` go to the gateway's node. `otherUrl` serves `otherModel`. A
 * `catalogue` replaces that of the two addresses.
 */
export async function startSoakGateway({ upstreamUrl, otherUrl, catalogue, config = {}, nodeArgs = [] }) {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-soak-'));
  const catalogueFile = join(folder, 'catalogue.yaml');
  const addresses = { acme: upstreamUrl, ...(otherUrl && { other: otherUrl }) };
  writeFileSync(catalogueFile, stringify(catalogue ?? catalogueFor(addresses)));
  writeFileSync(
    join(folder, 'lodestone.yaml'),
    stringify({
      server: { host: '127.0.0.1', port: 0 },
      storage: { data_dir: join(folder, 'data') },
      demo: false,
      admin_token: adminToken,
      catalogue: [catalogueFile],
      limits: { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e12 },
      ...config,
    }),
  );
  const args = [...nodeArgs, mainFile, 'serve', '--config', join(folder, 'lodestone.yaml')];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = { text: '' };
  child.stderr.on('data', (text) => {
    log.text = (log.text + text).slice(-20_000);
  });
  const url = await readyAddress(child, log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    url,
    pid: child.pid,
    log,
    account: await createAccount(url),
    async stop() {
      child.kill('SIGTERM');
      const code = await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      return code;
    },
  };
}

function readyAddress(child, log) {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stdout.on('data', (text) => {
      seen += text;
      const address = /(https?:\/\/[^\s/]+)/.exec(seen)?.[1];
      if (address) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`The gateway ended with ${code}.\n${seen}${log.text}`)));
  });
}

export async function admin(url, method, path, body) {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function createAccount(url) {
  const { id } = await admin(url, 'POST', '/accounts', { email: `soak-${Date.now()}@example.test` });
  await admin(url, 'POST', `/accounts/${id}/credits`, { amount_usd: '100000.00' });
  const { token } = await admin(url, 'POST', `/accounts/${id}/keys`, { name: 'soak', expires: 'never' });
  return { id, key: token };
}

/** From /proc: resident megabytes, threads, and the open files by kind. */
export function processFigures(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const kinds = { sockets: 0, files: 0, other: 0 };
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    let target = '';
    try {
      target = readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      continue;
    }
    if (target.startsWith('socket:')) kinds.sockets++;
    else if (target.startsWith('/')) kinds.files++;
    else kinds.other++;
  }
  return {
    rssMb: Math.round(field('VmRSS') / 1024),
    peakRssMb: Math.round(field('VmHWM') / 1024),
    threads: field('Threads'),
    ...kinds,
  };
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Prints a line and remembers whether all held; `finish` sets the exit code. */
export class Checks {
  failed = 0;
  check(text, holds) {
    console.log(`${holds ? 'ok  ' : 'FAIL'} ${text}`);
    if (!holds) this.failed++;
  }
  finish() {
    console.log(this.failed === 0 ? 'All held.' : `${this.failed} did not hold.`);
    process.exitCode = this.failed === 0 ? 0 : 1;
  }
}
