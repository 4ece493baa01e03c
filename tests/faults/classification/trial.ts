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

export class Trials {
  private gateway!: TestGateway;
  private failing!: ScriptedUpstream;
  private serving!: ScriptedUpstream;
  private account!: TestAccount;

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

  /** The effect of a failure with this meaning, seen from outside: an `auto/` request, then a pin. */
  async run(trial: Trial): Promise<void> {
    const at = this.trials.indexOf(trial);
    const pin = `${trial.provider ?? anybody}/meta/case-${at}/global`;
    const before = [this.failing.calls.length, this.serving.calls.length];
    const walked = await this.ask(trial, `auto/meta/case-${at}`);
    const called = [this.failing.calls.length, this.serving.calls.length].map((count, i) => count - before[i]!);
    if (trial.means === 'rejected') {
      expectRejected(walked);
      expect(called).toEqual([1, 0]);
    } else {
      expect(walked.status, walked.text).toBe(200);
      expect(called).toEqual([1, 1]);
    }
    await this.expectHealth(pin, trial.means);
    expectPinned(await this.ask(trial, pin), trial);
  }

  private ask({ stream }: Trial, model: string): Promise<Reply> {
    const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
    const { key } = this.account;
    return stream ? this.gateway.stream(body, { key }) : this.gateway.chat(body, { key });
  }

  private async expectHealth(id: string, means: Meaning): Promise<void> {
    const routes = (await this.gateway.admin('GET', '/routes')).json.data as Json[];
    const { hold, error_rate, breaker } = routes.find((route) => route.id === id)!;
    const counted = means !== 'rejected' && means !== 'quota';
    expect({ counted: Number(error_rate) > 0, held: hold !== null, breaker }).toEqual({
      counted,
      held: means === 'quota',
      breaker: 'closed',
    });
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
