/**
 * What the black-box tests of routing share: a gateway whose providers are all played by one scripted upstream, so that its
 * calls are the walk in order, and a model, an account and a health of its own for each test (a `Lane`).
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Json, Reply, StreamReply, TestAccount } from './client.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.js';
import type { YamlObject } from './gateway-files.js';
import {
  broken,
  locodes,
  modelOf,
  type Name,
  type Routes,
  routingCatalogue,
  serving,
  spent,
  underTheAct,
} from './routing-catalogue.js';
import { type Script, type ScriptedUpstream, startUpstream } from './scripted-upstream.js';

export * from './routing-catalogue.js';

export interface LaneOptions {
  /** Of the account; `prefer: price` by default, so that the order of `names` holds. */
  policy?: Json;
  /** Another model's account, so that two models can be used in one chain. */
  account?: TestAccount;
}

export class Routing {
  gateway!: TestGateway;
  upstream!: ScriptedUpstream;
  private models: YamlObject[] = [];
  private named = 0;
  private readonly plays = new Map<string, Script[]>();

  async start(options: TestGatewayOptions): Promise<void> {
    this.upstream = await startUpstream();
    this.gateway = await startGateway({ ...options, catalogue: this.catalogue() });
  }

  reset(): void {
    this.plays.clear();
    this.upstream.reset();
    this.upstream.onRequest((call) => {
      const scripts = this.plays.get(providerOf(call.path));
      if (!scripts) return serving;
      return scripts.length > 1 ? scripts.shift() : scripts[0];
    });
  }

  /** What a provider does with its next requests, one each; the last script stays. A provider that is told nothing serves. */
  on(name: Name, ...scripts: Script[]): void {
    this.plays.set(name, scripts);
  }

  /** Who was called, in order. */
  get called(): string[] {
    return this.upstream.calls.map(({ path }) => providerOf(path));
  }

  /** A model that nobody has used yet, with these routes, and an account with credit. */
  async lane(routes: Routes, options: LaneOptions = {}): Promise<Lane> {
    const model = `m${++this.named}`;
    this.models.push(modelOf(model, routes));
    await this.reload();
    const account = options.account ?? (await this.gateway.createAccount());
    const lane = new Lane(this, model, account);
    if (!options.account || options.policy) await lane.policy(options.policy ?? { prefer: 'price' });
    return lane;
  }

  /** Takes a model out of the catalogue, or its routes but for those that are named. */
  async withdraw({ model }: Lane, kept: Routes | null = null): Promise<void> {
    const at = this.models.findIndex((entry) => entry.model === model);
    this.models.splice(at, 1, ...(kept ? [modelOf(model, kept)] : [modelOf(`${model}-gone`, ['alpha'])]));
    await this.reload();
  }

  /** The models as they are; the function takes those out again that came later, with the next reload. */
  remember(): () => void {
    const models = [...this.models];
    return () => {
      this.models = models;
    };
  }

  async reload(): Promise<void> {
    this.gateway.files.writeCatalogue(this.catalogue());
    const reply = await this.gateway.admin('POST', '/catalogue/reload');
    expect(reply.status, reply.text).toBe(200);
  }

  async stop(): Promise<void> {
    await this.gateway?.stop();
    await this.upstream?.stop();
  }

  private catalogue(): YamlObject {
    return routingCatalogue(this.upstream.url, this.models);
  }
}

function providerOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** One model with the account that asks for it. */
export class Lane {
  readonly auto: string;
  readonly key: string;

  constructor(
    private readonly routing: Routing,
    readonly model: string,
    readonly account: TestAccount,
  ) {
    this.auto = `auto/meta/${model}`;
    this.key = account.key;
  }

  pin(name: Name, locode = locodes[name]): string {
    return `${name}/meta/${this.model}/${locode}`;
  }

  body(more: Json = {}): Json {
    return { model: this.auto, messages: [{ role: 'user', content: 'Say hello.' }], ...more };
  }

  chat(more: Json = {}): Promise<Reply> {
    return this.routing.gateway.chat(this.body(more), { key: this.key });
  }

  stream(more: Json = {}): Promise<StreamReply> {
    return this.routing.gateway.stream(this.body(more), { key: this.key });
  }

  explain(more: Json = {}): Promise<Reply> {
    return this.call('POST', '/v1/routes/explain', this.body(more));
  }

  call(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.routing.gateway.call(method, path, body, { key: this.key });
  }

  async policy(policy: Json): Promise<void> {
    const reply = await this.call('PUT', '/v1/routing-policy', policy);
    expect(reply.status, reply.text).toBe(200);
  }

  async saveChain(...models: string[]): Promise<void> {
    const reply = await this.call('PUT', '/v1/fallback', { fallback: { models } });
    expect(reply.status, reply.text).toBe(200);
  }

  async alias(name: string, target: string): Promise<string> {
    const reply = await this.call('POST', '/v1/aliases', { name, target });
    expect(reply.status, reply.text).toBe(201);
    return `alias/${name}`;
  }

  async state(state: string, reason?: string): Promise<void> {
    const path = `/models/meta/${this.model}/availability`;
    const reply = await this.routing.gateway.admin('PUT', path, { state, ...(reason && { reason }) });
    expect(reply.status, reply.text).toBe(200);
  }

  /** Fails a route so often that its breaker opens. The upstream has then forgotten its calls. */
  async open(name: Name, failure: Script = broken): Promise<void> {
    this.routing.on(name, failure);
    for (let i = 0; i < 5; i++) expect((await this.chat({ model: this.pin(name) })).status).toBe(503);
    expect((await this.route(name)).breaker).toBe('open');
    this.routing.reset();
  }

  /** Its upstream says that the day's quota is spent. The upstream has then forgotten its calls. */
  async hold(name: Name): Promise<void> {
    this.routing.on(name, spent);
    expect((await this.chat({ model: this.pin(name) })).json.error.code).toBe('provider_quota_exhausted');
    this.routing.reset();
  }

  /** As `GET /admin/v1/routes` shows it. */
  async route(name: Name): Promise<Json> {
    const { json: list } = await this.routing.gateway.admin('GET', '/routes');
    return list.data.find(({ id }: Json) => id === this.pin(name)) as Json;
  }

  /** The ids of this model that `GET /v1/models` lists. */
  async listed(): Promise<string[]> {
    const { json: list } = await this.call('GET', '/v1/models');
    return list.data.map(({ id }: Json) => id).filter((id: string) => id.split('/')[2] === this.model);
  }

  /** A record of the usage history: that of an answer, or the newest (which a clock that stands still cannot tell). */
  async record(of?: Reply): Promise<Json> {
    if (of) return (await this.call('GET', `/v1/generation/${of.headers['x-generation-id']}`)).json.data as Json;
    return (await this.call('GET', '/v1/generations?limit=1')).json.data[0] as Json;
  }

  /** What was charged, oldest first, in pico-dollars with the generation's id. */
  async charges(): Promise<{ generation: unknown; pico: bigint }[]> {
    const ledger = await this.routing.gateway.ledger(this.account.accountId);
    const usage = ledger.filter(({ kind }) => kind === 'usage');
    return usage.map(({ generation_id, amount_usd }) => ({ generation: generation_id, pico: picoOf(amount_usd) }));
  }
}

function picoOf(amount: unknown): bigint {
  const [whole = '0', fraction = ''] = String(amount).replace('-', '').split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

/**
 * One gateway a file; the upstream forgets its calls and scripts before each test. The models of a test leave the catalogue after it: each
 * reload reads all of them, which took a fifth of the suites' time.
 */
export function useRouting(options: TestGatewayOptions = {}): Routing {
  const routing = new Routing();
  let forget = () => {};
  beforeAll(() => routing.start(options));
  beforeEach(() => {
    routing.reset();
    forget = routing.remember();
  });
  afterEach(() => forget());
  afterAll(() => routing.stop());
  return routing;
}

const figures = {
  defra: { country: 'DE', carbon: 344 },
  frpar: { country: 'FR', carbon: 56 },
  usnyc: { country: 'US', carbon: 288 },
};

/** `router_metadata`, whole, of an answer that `name` served. */
export function metadataOf(lane: Lane, name: Name, attempted: readonly Name[], more: Json = {}): Json {
  const locode = locodes[name];
  return {
    ...{ requested_model: lane.auto, served_model: lane.pin(name), provider: name, creator: 'meta', model: lane.model },
    ...{ locode, ...figures[locode as keyof typeof figures], cloud_act: underTheAct.has(name) },
    ...{ providers_attempted: attempted, fallback_occurred: attempted.length > 1, breaker_skipped: [], alias: null },
    credential: { id: null, owner: 'operator' },
    ...{ request_policy: false, sticky: false, name: null, defaults: [], receipt: expect.stringMatching(/^gen-/) },
    ...more,
  };
}

export interface Receipt {
  attempted: readonly string[];
  skipped?: readonly string[];
  remaining?: number;
  last: string | RegExp;
}

const rows = {
  provider_error: { status: 503, type: 'provider_error' },
  provider_quota_exhausted: { status: 503, type: 'provider_unavailable', param: 'model' },
  provider_timeout: { status: 504, type: 'provider_unavailable' },
};

/** An auto-routed failure: its error row and its receipt, whole, and no field beside them. */
export function expectReceipt(reply: Reply, code: keyof typeof rows, receipt: Receipt): void {
  const { type, message, last_error, ...rest } = reply.json.error ?? {};
  const { status, ...row } = rows[code];
  expect([reply.status, type], reply.text).toEqual([status, row.type]);
  expect({ ...rest, type }).toEqual({
    ...{ code, ...row, providers_attempted: receipt.attempted, breaker_skipped: receipt.skipped ?? [] },
    candidates_remaining: receipt.remaining ?? 0,
  });
  expect(last_error).toEqual(typeof receipt.last === 'string' ? receipt.last : expect.stringMatching(receipt.last));
  expect(message).toEqual(expect.any(String));
  const waits = code === 'provider_quota_exhausted' ? expect.stringMatching(/^[1-9]\d{0,4}$/) : undefined;
  expect(reply.headers['retry-after']).toEqual(waits);
}
