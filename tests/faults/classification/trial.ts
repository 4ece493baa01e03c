/**
 * A gateway for trying failures: each has a model of its own, whose cheaper route fails and whose more expensive one serves, so that no
 * failure meets the breaker or the hold of another.
 */
import { expect } from 'vitest';
import type { Meaning } from '../../../src/providers/classify/failure.js';
import type { Json, Reply, TestAccount } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import type { YamlObject } from '../../support/gateway-files.js';
import {
  completion,
  json,
  type Script,
  type ScriptedUpstream,
  sse,
  startUpstream,
  streamOf,
} from '../../support/scripted-upstream.js';

export interface Trial {
  name: string;
  means: Meaning;
  /** What the failing route does. */
  script: Script;
  stream?: boolean;
  /** The failing route's provider id. */
  provider?: string;
}

const anybody = 'acme';
const healthy = 'other';
const inParallel = 8;

/** What an `auto/` request came to: its answer, and how often the failing and the serving route were called. */
interface Walk {
  reply: Reply;
  called: [failing: number, serving: number];
  /** The failing route afterwards, as an operator sees it. */
  route: Json;
}

export class Trials {
  private gateway!: TestGateway;
  private failing!: ScriptedUpstream;
  private serving!: ScriptedUpstream;
  private account!: TestAccount;
  private readonly walks = new Map<Trial, Walk>();

  constructor(private readonly trials: readonly Trial[]) {}

  async start(): Promise<void> {
    this.failing = await startUpstream();
    this.serving = await startUpstream();
    this.failing.onRequest((call) => this.trials[Number((call.json as Json).model)]!.script);
    this.serving.onRequest((call) => ((call.json as Json).stream ? sse(streamOf(['Served.'])) : json(completion())));
    this.gateway = await startGateway({ catalogue: this.catalogue() });
    this.account = await this.gateway.createAccount();
  }

  async stop(): Promise<void> {
    await this.gateway?.stop();
    await this.failing?.stop();
    await this.serving?.stop();
  }

  /** Sends an `auto/` request for each. The list of routes is long, so it is read once for all of them. */
  async walk(trials: readonly Trial[]): Promise<void> {
    const left = [...trials];
    const replies = new Map<Trial, Reply>();
    const caller = async () => {
      for (let trial = left.pop(); trial; trial = left.pop())
        replies.set(trial, await this.ask(trial, `auto/meta/case-${this.trials.indexOf(trial)}`));
    };
    await Promise.all(Array.from({ length: inParallel }, caller));
    const routes = (await this.gateway.admin('GET', '/routes')).json.data as Json[];
    const byId = new Map(routes.map((route) => [route.id, route]));
    const [failing, serving] = [callsByModel(this.failing), callsByModel(this.serving)];
    for (const [trial, reply] of replies) {
      const at = this.trials.indexOf(trial);
      const called: Walk['called'] = [failing.get(String(at)) ?? 0, serving.get(`healthy-${at}`) ?? 0];
      this.walks.set(trial, { reply, called, route: byId.get(this.pinOf(trial))! });
    }
  }

  /** The effect of a failure with this meaning, seen from outside: the `auto/` request of `walk`, then a pin. */
  async run(trial: Trial): Promise<void> {
    const { reply, called, route } = this.walks.get(trial)!;
    if (trial.means === 'rejected') {
      expectRejected(reply);
      expect(called).toEqual([1, 0]);
    } else {
      expect(reply.status, reply.text).toBe(200);
      expect(called).toEqual([1, 1]);
    }
    expectHealth(route, trial.means);
    expectPinned(await this.ask(trial, this.pinOf(trial)), trial);
  }

  private pinOf(trial: Trial): string {
    return `${trial.provider ?? anybody}/meta/case-${this.trials.indexOf(trial)}/global`;
  }

  private ask({ stream }: Trial, model: string): Promise<Reply> {
    const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
    const { key } = this.account;
    return stream ? this.gateway.stream(body, { key }) : this.gateway.chat(body, { key });
  }

  private catalogue(): YamlObject {
    const ids = new Set([anybody, healthy, ...this.trials.map(({ provider }) => provider ?? anybody)]);
    const route = (provider: string, model: string, price: number) => ({
      ...{ provider, locode: 'global', upstream_model: model, price: { input: price, output: price } },
    });
    return {
      providers: [...ids].map((id) => {
        const { url } = id === healthy ? this.serving : this.failing;
        return { id, name: id, dialect: 'openai', base_url: `${url}/v1`, auth: 'none' };
      }),
      models: this.trials.map(({ provider = anybody }, at) => ({
        creator: 'meta',
        model: `case-${at}`,
        routes: [route(provider, String(at), 1), route(healthy, `healthy-${at}`, 2)],
      })),
    };
  }
}

function callsByModel({ calls }: ScriptedUpstream): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { json: asked } of calls) {
    const model = String((asked as Json).model);
    counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  return counts;
}

function expectHealth({ hold, error_rate, breaker }: Json, means: Meaning): void {
  const counted = means !== 'rejected' && means !== 'quota';
  expect({ counted: Number(error_rate) > 0, held: hold !== null, breaker }).toEqual({
    counted,
    held: means === 'quota',
    breaker: 'closed',
  });
}

function expectRejected({ status, json: { error }, text, headers }: Reply): void {
  expect({ status, type: error?.type, code: error?.code }, text).toEqual({
    ...{ status: 400, type: 'invalid_request_error', code: 'invalid_request_error' },
  });
  expect(headers['retry-after']).toBeUndefined();
  expect(error).not.toHaveProperty('providers_attempted');
}

function expectPinned(reply: Reply, { means, provider = anybody }: Trial): void {
  if (means === 'rejected') {
    expectRejected(reply);
    expect(reply.json.error.message).toContain(provider);
    return;
  }
  const {
    status,
    json: { error },
    text,
    headers,
  } = reply;
  const wanted =
    means === 'quota'
      ? { status: 503, type: 'provider_unavailable', code: 'provider_quota_exhausted' }
      : { status: 503, type: 'provider_error', code: 'provider_error' };
  expect({ status, type: error?.type, code: error?.code }, text).toEqual(wanted);
  expect(headers['retry-after']).toEqual(means === 'quota' ? expect.stringMatching(/^[1-9]\d{0,4}$/) : undefined);
}
