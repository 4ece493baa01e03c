/** A single process, or two replicas of a fleet, before a provider that answers when the test lets it, for tests of holds. */
import { connect } from 'node:net';
import pg from 'pg';
import { usdText } from '../../src/base/money.js';
import { ask, pause, pico } from '../faults/fixture.js';
import type { Json } from '../support/client.js';
import { catalogueOf, type SpawnedGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { LeanCaller, type LeanReply, type Replicas, whileShared } from '../support/replicas.js';
import { completion, json, type ScriptedUpstream, usage } from '../support/scripted-upstream.js';

/** An answer costs 0.0011 USD. What it holds is more, because its prompt is estimated higher. */
const dear = { model: 'dear', route: { price: { input: 10, output: 100 } } };
const answer = json(completion({ usage: usage(10, 10) }));
export const costPico = 1_100_000_000n;
const request = ask({ model: 'acme/meta/dear/defra', max_tokens: 10 });

/** A catalogue of the provider `acme`, with the model that these requests ask for. */
export function withDearModel(catalogue: YamlObject, url: string): YamlObject {
  const models = [catalogue, catalogueOf({ acme: url }, dear)].flatMap((each) => each.models as object[]);
  return { ...catalogue, models };
}

export interface Spender {
  readonly accountId: string;
  readonly key: string;
  /** Of a key with a cap; null for a bounded account's. */
  readonly keyId: string | null;
}

export type SpenderLimit = 'capped key' | 'bounded account' | 'account budget' | 'project budget';

/** In the store. Every replica reads it with the next change of the account. */
async function setProjectBudget(databaseUrl: string, accountId: string, limitPico: bigint): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const budget = { limitPico: String(limitPico), period: 'daily', alertAt: [] };
  const text = 'update lodestone.projects set budget = $2 where account_id = $1';
  await client.query(text, [accountId, JSON.stringify(budget)]);
  await client.end();
}

export class SpendRig {
  /** An answer of a provider that is out of order. */
  readonly failure = json({ error: { message: 'out of order' } }, { status: 500 });
  private open: () => void = () => {};
  private opened = Promise.resolve();
  private callers: LeanCaller[] = [];

  /** Their catalogue is `withDearModel`. The test that started them stops them; of a fleet, the rest is left alone. */
  constructor(
    readonly gateways: readonly SpawnedGateway[],
    readonly upstream: ScriptedUpstream,
    private readonly fleet: Replicas | null = null,
  ) {
    upstream.onRequest(() => undefined);
    upstream.reply(async (exchange) => {
      await Promise.race([this.opened, exchange.closed]);
      await answer(exchange);
    });
  }

  /** From now on the provider answers nothing. */
  holdAnswers(): void {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  letAnswers(): void {
    this.open();
  }

  /** What is promised only while Redis answers is tried again where a replica took it for absent. */
  shared<T>(round: () => Promise<T>): Promise<T> {
    return this.fleet ? whileShared(this.fleet, round) : round();
  }

  /** A key with a cap of so much, of an account that has plenty, or the key of a bounded account that has so much. */
  async spender(limit: SpenderLimit, limitPico: bigint, more: Json = {}): Promise<Spender> {
    if (limit === 'account budget' || limit === 'project budget') return this.budgeted(limit, limitPico);
    const gateway = this.gateways.at(-1)!;
    const isCapped = limit === 'capped key';
    const { accountId, key } = await gateway.createAccount({ credit: isCapped ? '100' : usdText(limitPico) });
    if (!isCapped) {
      await gateway.admin('PATCH', `/accounts/${accountId}`, { overdraft: 'bounded' });
      return { accountId, key, keyId: null };
    }
    const terms = { name: 'capped', limit_usd: usdText(limitPico), ...more };
    const { json: capped } = await gateway.admin('POST', `/accounts/${accountId}/keys`, terms);
    return { accountId, key: capped.token as string, keyId: capped.id as string };
  }

  /** An account with a budget of so much; or a key with a cap, and account and project with budgets, of which the project's is the least. */
  private async budgeted(limit: 'account budget' | 'project budget', limitPico: bigint): Promise<Spender> {
    const gateway = this.gateways.at(-1)!;
    const ofProject = limit === 'project budget';
    const { accountId, key } = await gateway.createAccount({ credit: '100' });
    const most = usdText(limitPico * (ofProject ? 3n : 1n));
    if (ofProject) await setProjectBudget(this.fleet!.databaseUrl, accountId, limitPico);
    await gateway.admin('PATCH', `/accounts/${accountId}`, { budget: { limit_usd: most } });
    if (!ofProject) return { accountId, key, keyId: null };
    const terms = { name: 'capped', limit_usd: most, limit_reset: 'weekly' };
    const { json: capped } = await gateway.admin('POST', `/accounts/${accountId}/keys`, terms);
    return { accountId, key: capped.token as string, keyId: capped.id as string };
  }

  /** Sends so many at once, spread over all gateways. */
  send({ key }: Spender, count: number, seen: (reply: LeanReply) => void = () => {}): Promise<LeanReply[]> {
    if (this.callers.length === 0) this.callers = this.gateways.map(({ url }) => new LeanCaller(url, 1_200));
    const sent = Array.from({ length: count }, async (_, index) => {
      const reply = await this.callers[index % this.callers.length]!.chat(key, request);
      seen(reply);
      return reply;
    });
    return Promise.all(sent);
  }

  /** After a restart the addresses have changed. */
  async closeCallers(): Promise<void> {
    for (const caller of this.callers.splice(0)) await caller.close();
  }

  /** Sends so many while the provider holds its answers, and lets it answer once every request is either there or refused. */
  async volley(spender: Spender, count: number): Promise<LeanReply[]> {
    const before = this.upstream.calls.length;
    let refused = 0;
    this.holdAnswers();
    try {
      const replies = this.send(spender, count, () => refused++);
      await until(() => refused + this.upstream.calls.length - before >= count);
      this.letAnswers();
      return await replies;
    } finally {
      this.letAnswers();
    }
  }

  /** What one request holds, in pico-dollars. */
  async estimate(): Promise<bigint> {
    const spender = await this.spender('bounded account', 1_000_000_000_000n);
    const before = this.upstream.calls.length;
    this.holdAnswers();
    const reply = this.send(spender, 1);
    await this.upstream.waitForCalls(before + 1, 20_000);
    const { held_usd } = await this.credits(spender);
    this.letAnswers();
    await reply;
    return pico(held_usd);
  }

  async credits({ key }: Spender, gateway = this.gateways[0]!): Promise<Json> {
    return (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data;
  }

  /** Call the result to bring it back. */
  async takeRedisAway(how: 'killed' | 'frozen'): Promise<() => Promise<void>> {
    const { redis } = this.fleet!;
    if (how === 'killed') {
      await redis.kill();
      return () => redis.restart();
    }
    redis.freeze();
    await pause(500);
    return async () => redis.thaw();
  }

  /** How many scripts Redis has run so far. */
  async scriptsRun(): Promise<number> {
    const { hostname, port } = new URL(this.fleet!.redis.url);
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1').write('INFO commandstats\r\n');
    for await (const text of socket) {
      const calls = /cmdstat_evalsha:calls=(\d+)/.exec(text as string)?.[1];
      if (calls !== undefined) return Number(calls);
    }
    throw new Error('Redis says nothing of its scripts.');
  }

  /** Every cost in the ledger, in pico-dollars. */
  async costs({ accountId, key }: Spender): Promise<bigint[]> {
    for (const gateway of this.gateways) await gateway.call('GET', '/v1/generations?limit=1', undefined, { key });
    const { json: page } = await this.gateways[0]!.admin('GET', `/accounts/${accountId}/ledger?limit=100000`);
    const entries = page.data as Json[];
    return entries.filter(({ kind }) => kind === 'usage').map(({ amount_usd }) => -pico(amount_usd));
  }
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<number> {
  const startMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startMs > withinMs) throw new Error(`It did not happen within ${withinMs} ms.`);
    await pause(20);
  }
  return performance.now() - startMs;
}
