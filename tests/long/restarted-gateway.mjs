/**
 * What the long runs about bills share: a built gateway on an embedded store that is killed and started again on the same data,
 * two providers that answer as a request tells them, callers, and the ledger.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { killChild } from './process-tree.mjs';

const mainFile = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url));
const commandFile = fileURLToPath(new URL('../../bin/lodestone', import.meta.url));
const adminToken = 'long-run-admin-token-of-no-value';
export const pin = 'acme/meta/llama-3.3-70b/defra';
export const auto = 'auto/meta/llama-3.3-70b';
/** Pico-dollars a token. */
export const prices = { acme: { input: 600_000n, output: 800_000n }, beta: { input: 1_200_000n, output: 1_600_000n } };
export const costOf = (provider, promptTokens, completionTokens) =>
  BigInt(promptTokens) * prices[provider].input + BigInt(completionTokens) * prices[provider].output;

function catalogueFor(addresses) {
  const usd = (pico) => Number(pico) / 1e6;
  return {
    providers: Object.entries(addresses).map(([id, url]) => ({
      ...{ id, name: id, dialect: 'openai', base_url: `${url}/v1`, auth: 'none', headquarters: 'DE' },
    })),
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      {
        ...{ creator: 'meta', model: 'llama-3.3-70b', context_window: 131_072, max_output_tokens: 8_192 },
        routes: Object.keys(addresses).map((provider) => ({
          ...{ provider, locode: 'defra', upstream_model: 'upstream-model' },
          price: { input: usd(prices[provider].input), output: usd(prices[provider].output) },
        })),
      },
    ],
  };
}

export class RestartedGateway {
  url = '';
  /** What all processes together wrote to standard error. */
  stderr = '';
  #folder = mkdtempSync(join(tmpdir(), 'lodestone-long-'));
  #config = {};
  #child;
  #ended;

  /** `dataDir` is inside the run's own folder unless it is given. */
  constructor({ addresses, dataDir, config = {} }) {
    const catalogue = join(this.#folder, 'catalogue.yaml');
    writeFileSync(catalogue, stringify(catalogueFor(addresses)));
    this.configure({
      server: { host: '127.0.0.1', port: 0 },
      storage: { data_dir: dataDir ?? join(this.#folder, 'data') },
      demo: false,
      admin_token: adminToken,
      catalogue: [catalogue],
      limits: { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e12 },
      // An open breaker would make other requests fail than those that the run wants to fail.
      breaker: { failures: 1_000_000 },
      ...config,
    });
    process.once('exit', () => this.#child?.kill('SIGKILL'));
  }

  get configFile() {
    return join(this.#folder, 'lodestone.yaml');
  }

  get settings() {
    return this.#config;
  }

  /** Replaces settings from the next start on. */
  configure(settings) {
    this.#config = { ...this.#config, ...settings };
    writeFileSync(this.configFile, stringify(this.#config));
  }

  /** Runs a command of the command line on the gateway's configuration; resolves to its exit code and what it printed. */
  command({ killAfterMs }, ...words) {
    const child = spawn(process.execPath, [commandFile, ...words, '--config', this.configFile], {
      cwd: this.#folder,
      env: { ...process.env, ...(this.url !== '' && { LODESTONE_URL: this.url }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    return new Promise((resolve) =>
      child.once('close', (code) => {
        clearTimeout(timer);
        resolve({ code, output });
      }),
    );
  }

  async start() {
    const child = spawn(process.execPath, [mainFile, 'serve', '--config', this.configFile], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    child.stderr.on('data', (text) => {
      this.stderr = (this.stderr + text).slice(-2_000_000);
    });
    this.url = await new Promise((resolve, reject) => {
      let seen = '';
      child.stdout.on('data', (text) => {
        seen += text;
        const address = /(https?:\/\/[^\s/]+)/.exec(seen)?.[1];
        if (address) resolve(address);
      });
      child.once('exit', (code) => reject(new Error(`The gateway ended with ${code}.\n${this.stderr.slice(-3_000)}`)));
    });
  }

  kill(signal) {
    this.#child.kill(signal);
    this.url = '';
    return this.#ended;
  }

  /** False where there is none at present. */
  killSettler() {
    return killChild(this.#child.pid, 'settle.js');
  }

  /** What `storage check` finds when everything is sealed. */
  async sealedCheck() {
    const waits = /^lodestone_log_unsealed_oldest_seconds (?!0$)/m;
    while (waits.test(await (await fetch(`${this.url}/metrics`)).text())) await pause(500);
    return this.admin('GET', '/storage/check');
  }

  async remove() {
    await this.kill('SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async admin(method, path, body) {
    const response = await fetch(`${this.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async createAccount() {
    const { id } = await this.admin('POST', '/accounts', { email: `long-${Date.now()}@example.test` });
    await this.admin('POST', `/accounts/${id}/credits`, { amount_usd: '100000.00' });
    const { token } = await this.admin('POST', `/accounts/${id}/keys`, { name: 'long', expires: 'never' });
    return { id, key: token };
  }

  /** Every entry of an account's ledger. */
  async ledger({ id }) {
    return (await this.exported(`ledger?format=ndjson&account=${id}`)).map((line) => JSON.parse(line));
  }

  /** The lines of an export. */
  async exported(path) {
    const response = await fetch(`${this.url}/admin/v1/export/${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    if (!response.ok) throw new Error(`The export of ${path}: ${response.status} ${await response.text()}`);
    return (await response.text()).trim().split('\n');
  }

  /** The costs by generation id, in pico-dollars, and what is wrong with the ledger as a whole. */
  async books({ id }) {
    const { data } = await this.admin('GET', `/accounts/${id}/ledger?limit=100000`);
    const costs = new Map();
    let doubles = 0;
    let sum = 0n;
    for (const { kind, generation_id, amount_usd } of data) {
      sum += pico(amount_usd);
      if (kind !== 'usage') continue;
      if (costs.has(generation_id)) doubles++;
      costs.set(generation_id, -pico(amount_usd));
    }
    const { balance_usd } = await this.admin('GET', `/accounts/${id}`);
    return { costs, doubles, isBalanced: sum === pico(balance_usd) };
  }
}

export function pico(usd) {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd);
  return (sign ? -1n : 1n) * BigInt(whole + fraction.padEnd(12, '0'));
}

/**
 * A provider that does what `answer(plan, call)` says. The plan stands in the last message, so that it needs no memory.
 * `aborted` is called when a connection closes before its answer was sent.
 */
export async function startProvider(answer) {
  const server = createServer((req, res) => {
    const pieces = [];
    req.on('data', (piece) => pieces.push(piece));
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString());
      answer(JSON.parse(body.messages.at(-1).content), { body, res });
    });
    req.on('error', () => {});
    res.on('error', () => {});
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const head = { id: 'x', created: 1, model: 'upstream-model' };
export const frame = (more) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
export const textFrame = (content) => frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

export function wholeAnswer(res, content, [prompt_tokens, completion_tokens]) {
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
}

/** The end of a stream, with usage where it is given. */
export function streamEnd(tokens) {
  const finish = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  if (!tokens) return `${finish}data: [DONE]\n\n`;
  const [prompt_tokens, completion_tokens] = tokens;
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  return `${finish}${frame({ choices: [], usage })}data: [DONE]\n\n`;
}

/** Sends a plan. What arrived, also where the connection broke: `{ status, id, text, whole }`. `leaveAfter` frames it disconnects, `signal` gives up. */
export async function send(gateway, agent, { key }, options) {
  const { model, plan, stream = false, leaveAfter = Infinity, signal } = options;
  const seen = { status: 0, id: null, text: '', whole: false };
  try {
    const { statusCode, headers, body } = await request(`${gateway.url}/v1/chat/completions`, {
      ...{ dispatcher: agent, signal, method: 'POST' },
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: JSON.stringify(plan) }] }),
    });
    seen.status = statusCode;
    seen.id = headers['x-generation-id'] ?? null;
    if (!stream || statusCode !== 200) {
      const json = await body.json();
      seen.whole = true;
      seen.text = json.choices?.[0]?.message?.content ?? '';
      return seen;
    }
    let rest = '';
    let frames = 0;
    for await (const piece of body) {
      const parts = (rest + piece).split('\n\n');
      rest = parts.pop();
      for (const part of parts) {
        if (part === 'data: [DONE]') seen.whole = true;
        else seen.text += JSON.parse(part.slice(6)).choices[0]?.delta?.content ?? '';
        frames++;
      }
      if (frames >= leaveAfter) {
        body.destroy();
        return seen;
      }
    }
  } catch {
    // The gateway was killed, or the body was destroyed by us.
  }
  return seen;
}

export const newAgent = () => new Agent({ connections: 64, headersTimeout: 60_000, bodyTimeout: 60_000 });
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
