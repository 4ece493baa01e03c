/** A gateway whose ten providers take keys, of which the operator has one; its accounts and their credentials; and load on it. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogueFor, freePort, pinnedModel, serverEnvironment } from './lodestone.mjs';
import { gatewayCore, printed, start, startOnLoadCore, stop } from './processes.mjs';
import { scenarios } from './scenarios.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const unlimited = 1_000_000_000;

/** The providers of the catalogue that take a key, each with a route of the same model. */
export const providers = ['openai', ...Array.from({ length: 9 }, (_, i) => `other-${i + 1}`)];
export const modelOf = (provider) => `${provider}/openai/gpt-4o-mini/global`;

export class OwnKeysGateway {
  constructor(folder, nodeArgs = []) {
    this.folder = folder;
    this.nodeArgs = nodeArgs;
    this.adminToken = randomBytes(24).toString('hex');
    this.configFile = join(folder, 'lodestone.yaml');
  }

  async open() {
    const upstream = startOnLoadCore(process.execPath, [join(here, 'upstream.mjs')]);
    const upstreamPort = Number(await printed(upstream, /port (\d+)/));
    const catalogue = catalogueFor(upstreamPort);
    const keyed = catalogue.providers.map((each) => {
      if (!providers.includes(each.id)) return each;
      return { ...each, auth: 'key', api_key_env: each.id === 'openai' ? 'BENCH_OPERATOR_KEY' : 'BENCH_ABSENT_KEY' };
    });
    const catalogueFile = join(this.folder, 'catalogue.yaml');
    const limits = {
      ip_requests_per_minute: unlimited,
      key_requests_per_minute: unlimited,
      key_tokens_per_minute: unlimited,
    };
    const config = {
      server: { host: '127.0.0.1', port: await freePort() },
      ...{ storage: { data_dir: join(this.folder, 'data') }, demo: false, catalogue: [catalogueFile], limits },
    };
    // JSON is YAML too.
    writeFileSync(catalogueFile, JSON.stringify({ ...catalogue, providers: keyed }));
    writeFileSync(this.configFile, JSON.stringify(config));
    await this.start();
    return this;
  }

  /** Resolves to the milliseconds that the start has taken. `core` is where it runs; null leaves that to the system. */
  async start(core = gatewayCore) {
    const program = join(here, '..', 'bin', 'lodestone');
    const startedAt = performance.now();
    this.entry = start(process.execPath, [...this.nodeArgs, program, 'serve', '--config', this.configFile], {
      core,
      env: { ...serverEnvironment(this.adminToken), BENCH_OPERATOR_KEY: 'operator-key-0123456789' },
      cwd: this.folder,
    });
    this.url = await printed(this.entry, /(https?:\/\/[^\s/]+)[^\n]*\n/);
    this.port = Number(new URL(this.url).port);
    this.pid = this.entry.child.pid;
    return performance.now() - startedAt;
  }

  async restart(core) {
    await stop(this.entry, 30_000);
    return this.start(core);
  }

  async admin(path, body, method = body ? 'POST' : 'GET') {
    const response = await fetch(`${this.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.adminToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  /** With a credential of each of these providers; the secret is made of `keyName`. */
  async account(name, keyName = null, of = ['openai']) {
    const { id } = await this.admin('/accounts', { email: `${name}@example.test` });
    await this.admin(`/accounts/${id}/credits`, { amount_usd: '1000000.00' });
    const { token } = await this.admin(`/accounts/${id}/keys`, { name: 'bench', expires: 'never' });
    for (const provider of keyName === null ? [] : of) {
      const secret = { api_key: `${keyName}-${provider}-0123456789` };
      await this.admin(`/accounts/${id}/credentials`, { provider, name: `${name} ${provider}`, secret });
    }
    return { id, token };
  }
}

/** A generator of load in a process of its own, on the core that is not the gateway's. */
export class Loader {
  constructor(gateway) {
    this.gateway = gateway;
    this.entry = startOnLoadCore(process.execPath, [join(here, 'load.mjs')], { ipc: true });
  }

  /** Resolves to what it has counted. */
  run(accounts, { model = pinnedModel, ...spec }) {
    const { child, exit } = this.entry;
    const keys = accounts.map(({ token }) => token);
    const body = scenarios.json.body(model);
    return new Promise((resolve, reject) => {
      child.once('message', resolve);
      void exit.then(() => reject(new Error(`The load generator ended:\n${this.entry.output}`)));
      child.send({ port: this.gateway.port, path: '/v1/chat/completions', keys, body, seconds: 60, ...spec });
    });
  }
}
