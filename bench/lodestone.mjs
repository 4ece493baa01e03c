/** Starts Lodestone as a user runs it, with its own PostgreSQL, a catalogue of ten equal routes to the upstream, and a funded key. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printed, start } from './processes.mjs';

const program = fileURLToPath(new URL('../bin/lodestone', import.meta.url));
const candidates = 10;
const unlimited = 1_000_000_000;

export const pinnedModel = 'openai/openai/gpt-4o-mini/global';
export const autoModel = 'auto/openai/gpt-4o-mini';
/** A name of the operator for the pinned route. */
export const modelName = 'gpt-4o-mini';
/** Routes of providers that speak another client API themselves. */
export const nativeModels = {
  messages: 'claude/openai/gpt-4o-mini-native/global',
  responses: 'responder/openai/gpt-4o-mini-native/global',
};
/** The same route with a price for every class, for long prompts, tiers, hours of the day and tools. */
export const classesModel = 'openai/openai/gpt-4o-mini-classes/global';

/**
 * `more` is added to the configuration, section by section; `node` is the program that runs it, `nodeArgs` its flags, `env` is added to
 * the environment.
 */
export async function startLodestone({ upstreamPort, folder, more = {}, node = process.execPath, nodeArgs = [], env }) {
  const { configFile, adminToken } = await writeFiles({ upstreamPort, folder, more });
  const entry = start(node, [...nodeArgs, program, 'serve', '--config', configFile], {
    env: { ...serverEnvironment(adminToken), ...env },
    cwd: folder,
  });
  const url = await printed(entry, /(https?:\/\/[^\s/]+)[^\n]*\n/);
  const keys = await createKeys(url, adminToken);
  return {
    port: Number(new URL(url).port),
    pid: entry.child.pid,
    entry,
    model: pinnedModel,
    ...keys,
    configFile,
    adminToken,
  };
}

export function serverEnvironment(adminToken) {
  return { LODESTONE_ADMIN_TOKEN: adminToken, LODESTONE_LOG_LEVEL: 'warn', HOST: undefined, PORT: undefined };
}

async function writeFiles({ upstreamPort, folder, more }) {
  mkdirSync(folder, { recursive: true });
  const catalogueFile = join(folder, 'catalogue.yaml');
  const configFile = join(folder, 'lodestone.yaml');
  const config = {
    server: { host: '127.0.0.1', port: await freePort() },
    storage: { data_dir: join(folder, 'data'), ...more.storage },
    workers: more.workers,
    proof: more.proof,
    routing: more.routing,
    demo: false,
    catalogue: [catalogueFile],
    limits: {
      ip_requests_per_minute: unlimited,
      key_requests_per_minute: unlimited,
      key_tokens_per_minute: unlimited,
    },
  };
  // JSON is YAML too.
  writeFileSync(catalogueFile, JSON.stringify(catalogueFor(upstreamPort)));
  writeFileSync(configFile, JSON.stringify(config));
  return { configFile, adminToken: randomBytes(24).toString('hex') };
}

export function catalogueFor(upstreamPort) {
  const ids = Array.from({ length: candidates }, (_, i) => (i === 0 ? 'openai' : `other-${i}`));
  const route = (provider) => ({
    provider,
    locode: 'global',
    upstream_model: 'gpt-4o-mini',
    price: { input: 0.15, output: 0.6, cached_input: 0.075 },
    capabilities: ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'],
  });
  const layered = { ...route('openai'), price: pricesOfAllClasses };
  const provider = (id) => ({ id, dialect: 'openai', base_url: `http://127.0.0.1:${upstreamPort}/v1`, auth: 'none' });
  const limits = { context_window: 128_000, max_output_tokens: 16_384 };
  return {
    providers: [
      ...ids.map(provider),
      { ...provider('claude'), dialect: 'anthropic' },
      { ...provider('responder'), apis: ['chat', 'responses'] },
    ],
    regions: [],
    models: [
      { creator: 'openai', model: 'gpt-4o-mini', ...limits, routes: ids.map(route) },
      { creator: 'openai', model: 'gpt-4o-mini-classes', ...limits, routes: [layered] },
      { creator: 'openai', model: 'gpt-4o-mini-native', ...limits, routes: ['claude', 'responder'].map(route) },
    ],
  };
}

const pricesOfAllClasses = {
  input: 0.15,
  output: 0.6,
  cached_input: 0.075,
  cache_write: 0.1875,
  cache_write_1h: 0.3,
  reasoning: 0.7,
  input_audio: 10,
  output_audio: 20,
  input_image: 0.3,
  request: 0.0001,
  above: { input_tokens: 100_000, input: 0.3, output: 0.9 },
  tiers: { flex: { input: 0.075, output: 0.3 }, priority: { input: 0.3, output: 1.2 } },
  tools: { web_search: 0.01 },
  periods: [{ utc: '16:30-00:30', input: 0.075, output: 0.3 }],
};

/**
 * An ordinary key, one with a cap, one of an account whose overdraft is bounded, one with a cap in a project and an account that have
 * budgets, and one that keeps the token of another system; all with more than any run can spend. A name for the pinned route, too.
 */
async function createKeys(url, adminToken) {
  const admin = async (path, body, method = 'POST') => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const createAccount = async (name) => {
    const { id } = await admin('/accounts', { email: `${name}@example.test` });
    await admin(`/accounts/${id}/credits`, { amount_usd: '1000000.00' });
    return id;
  };
  const createKey = async (id, more) =>
    (await admin(`/accounts/${id}/keys`, { name: 'bench', expires: 'never', ...more })).token;
  const createForeignKey = async (id) => {
    const token = `sk-${randomBytes(16).toString('hex')}`;
    await createKey(id, { token_sha256: createHash('sha256').update(token).digest('hex') });
    return token;
  };
  await admin(`/names/${modelName}`, { model: pinnedModel }, 'PUT');
  const open = await createAccount('bench');
  const bounded = await createAccount('bounded');
  await admin(`/accounts/${bounded}`, { overdraft: 'bounded' }, 'PATCH');
  const budgeted = await createAccount('budgeted');
  const budget = { limit_usd: '1000000', period: 'monthly' };
  await admin(`/accounts/${budgeted}`, { budget }, 'PATCH');
  const { id: project } = await admin(`/accounts/${budgeted}/projects`, { name: 'bench', budget });
  return {
    key: await createKey(open),
    cappedKey: await createKey(open, { limit_usd: '1000000' }),
    boundedKey: await createKey(bounded),
    budgetedKey: await createKey(budgeted, { project, limit_usd: '1000000', limit_reset: 'daily' }),
    foreignKey: await createForeignKey(open),
  };
}

/** Below the range that the system hands out for outgoing connections. */
export async function freePort() {
  for (let tries = 0; tries < 100; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await new Promise((resolve) => {
      const server = createServer()
        .once('error', () => resolve(false))
        .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('No free port was found between 20000 and 30000.');
}
