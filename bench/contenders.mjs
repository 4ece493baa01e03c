/** The gateways to compare: Lodestone as a user runs it, the bare proxy, nginx if it is installed, and no gateway. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printed, start } from './processes.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const explicitModel = 'openai/openai/gpt-4o-mini/global';

const autoModel = 'auto/openai/gpt-4o-mini';
const candidates = 10;

const starters = {
  direct: startDirect,
  bare: startBare,
  lodestone: (options) => startLodestone(options),
  /** The same gateway, asked to choose among ten candidates. */
  auto: (options) => startLodestone({ ...options, folder: join(options.folder, 'auto') }, autoModel),
  /** The same gateway as one of many, with the Redis at REDIS_URL. */
  fleet: startFleet,
  nginx: startNginx,
};

export const reference = 'bare';

/** `only` limits the list; the reference is always there. */
export async function startContenders({ upstreamPort, folder, only }) {
  const names = Object.keys(starters).filter((name) => !only || only.includes(name) || name === reference);
  const contenders = [];
  for (const name of names) {
    const contender = await starters[name]({ upstreamPort, folder });
    if (contender)
      contenders.push({ name, path: '/v1/chat/completions', key: 'none', model: 'gpt-4o-mini', ...contender });
    else console.log(`${name} is not there, so it is left out.`);
  }
  return contenders;
}

/** The upstream itself, for the latency that a gateway adds. */
function startDirect({ upstreamPort }) {
  return { port: upstreamPort };
}

async function startBare({ upstreamPort }) {
  const entry = start(process.execPath, [join(here, 'bare-proxy.mjs'), `http://127.0.0.1:${upstreamPort}`]);
  return { port: Number(await printed(entry, /port (\d+)/)), pid: entry.child.pid };
}

const unlimited = 1_000_000_000;

function startFleet(options) {
  const redisUrl = process.env.REDIS_URL;
  const folder = join(options.folder, 'fleet');
  return redisUrl && startLodestone({ ...options, folder }, undefined, { storage: { redis_url: redisUrl } });
}

/** `more` is added to the configuration, section by section. */
export async function startLodestone({ upstreamPort, folder }, model = explicitModel, more = {}) {
  mkdirSync(folder, { recursive: true });
  const adminToken = randomBytes(24).toString('hex');
  const catalogueFile = join(folder, 'catalogue.yaml');
  const configFile = join(folder, 'lodestone.yaml');
  // JSON is YAML too.
  writeFileSync(catalogueFile, JSON.stringify(catalogueFor(upstreamPort)));
  const config = {
    server: { host: '127.0.0.1', port: await freePort() },
    storage: { data_dir: join(folder, 'data'), ...more.storage },
    workers: more.workers,
    demo: false,
    catalogue: [catalogueFile],
    limits: {
      ip_requests_per_minute: unlimited,
      key_requests_per_minute: unlimited,
      key_tokens_per_minute: unlimited,
    },
  };
  writeFileSync(configFile, JSON.stringify(config));
  const entry = start(process.execPath, [join(here, '..', 'dist', 'main.js'), 'serve', '--config', configFile], {
    env: { LODESTONE_ADMIN_TOKEN: adminToken, LODESTONE_LOG_LEVEL: 'warn', HOST: undefined, PORT: undefined },
    cwd: folder,
  });
  const url = await printed(entry, /(https?:\/\/[^\s/]+)[^\n]*\n/);
  return { port: Number(new URL(url).port), pid: entry.child.pid, model, key: await createKey(url, adminToken) };
}

function catalogueFor(upstreamPort) {
  const ids = Array.from({ length: candidates }, (_, i) => (i === 0 ? 'openai' : `other-${i}`));
  const route = (provider) => ({
    provider,
    locode: 'global',
    upstream_model: 'gpt-4o-mini',
    price: { input: 0.15, output: 0.6, cached_input: 0.075 },
    capabilities: ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'],
  });
  const provider = (id) => ({ id, dialect: 'openai', base_url: `http://127.0.0.1:${upstreamPort}/v1`, auth: 'none' });
  const limits = { context_window: 128_000, max_output_tokens: 16_384 };
  return {
    providers: ids.map(provider),
    regions: [],
    models: [{ creator: 'openai', model: 'gpt-4o-mini', ...limits, routes: ids.map(route) }],
  };
}

async function createKey(url, adminToken) {
  const admin = async (path, body) => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const account = await admin('/accounts', { email: 'bench@example.test' });
  await admin(`/accounts/${account.id}/credits`, { amount_usd: '1000000.00' });
  return (await admin(`/accounts/${account.id}/keys`, { name: 'bench', expires: 'never' })).token;
}

async function startNginx({ upstreamPort, folder }) {
  if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status !== 0) return undefined;
  const port = await freePort();
  const prefix = join(folder, 'nginx');
  mkdirSync(join(prefix, 'tmp'), { recursive: true });
  const file = join(prefix, 'nginx.conf');
  writeFileSync(file, nginxConf(prefix, port, upstreamPort));
  const entry = start('nginx', ['-p', prefix, '-c', file, '-e', join(prefix, 'error.log')]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return entry.exited ? undefined : { port, pid: entry.child.pid };
}

function nginxConf(prefix, port, upstreamPort) {
  return `daemon off;
worker_processes 1;
pid ${prefix}/nginx.pid;
error_log ${prefix}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${prefix}/tmp;
  proxy_temp_path ${prefix}/tmp;
  keepalive_requests 1000000;
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

/** Below the range that the system hands out for outgoing connections. */
async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await new Promise((resolve) => {
      const server = createServer()
        .once('error', () => resolve(false))
        .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
