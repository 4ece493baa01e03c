/**
 * Requests that can be told apart in the ledger: each asks for a number of prompt tokens of its own, so that every entry of the ledger
 * belongs to one request, and what the provider has delivered can be held against it to the pico-dollar.
 */
import { expect } from 'vitest';
import { usdText } from '../../src/base/money.js';
import { ask, costOf, pico, words } from '../faults/fixture.js';
import type { TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import type { Replicas } from '../support/replicas.js';
import {
  completion,
  json,
  type Script,
  sse,
  streamOf,
  type UpstreamCallLog,
  usage,
} from '../support/scripted-upstream.js';

const completionTokens = 5;
const numbersFrom = 1_000;
const credit = '100000.00';

export interface Outcome {
  number: number;
  replica: SpawnedGateway;
  startedAt: number;
  ms: number;
  /** 0 where there was no answer. */
  status: number;
  /** Empty where the answer arrived whole. */
  fault: string;
}

export interface StreamShape {
  frames: number;
  gapMs: number;
}

export interface SteadyLoad {
  /** Once the replica has answered what was sent to it until now. */
  answered(by: SpawnedGateway): Promise<void>;
  stop(): Promise<void>;
}

interface LedgerEntry {
  kind: string;
  amount_usd: string;
  generation_id: string;
}

export class CountedTraffic {
  readonly outcomes: Outcome[] = [];
  private numbers = numbersFrom;

  private constructor(
    private readonly fleet: Replicas,
    readonly account: TestAccount,
  ) {}

  static async begin(fleet: Replicas): Promise<CountedTraffic> {
    fleet.upstream.onRequest(answerAsAsked);
    return new CountedTraffic(fleet, await fleet.a.createAccount({ credit }));
  }

  async whole(replica: SpawnedGateway): Promise<Outcome> {
    const { number, startedAt, body } = this.next();
    const end = (status: number, fault: string) => this.ended({ number, replica, startedAt, status, fault });
    try {
      const reply = await replica.chat(body, { key: this.account.key });
      return end(reply.status, reply.status === 200 ? '' : reply.text);
    } catch (error) {
      return end(0, String(error));
    }
  }

  async stream(replica: SpawnedGateway, shape: StreamShape): Promise<Outcome> {
    const { number, startedAt, body } = this.next(shape);
    const end = (status: number, fault: string) => this.ended({ number, replica, startedAt, status, fault });
    try {
      const reply = await replica.stream(body, { key: this.account.key });
      const whole = reply.done && reply.complete && reply.content === words(shape.frames).join('');
      return end(
        reply.status,
        whole && reply.text.includes('"stream_end":"complete"') ? '' : `cut: ${reply.text.slice(-300)}`,
      );
    } catch (error) {
      return end(0, String(error));
    }
  }

  /**
   * Callers that come at a steady rate to the replicas by turns, whatever becomes of those before; every eighth wants a stream. `among`
   * are the replicas that a load balancer would choose from at that moment.
   */
  steady(requestsPerSecond: number, among: () => readonly SpawnedGateway[] = () => this.fleet.all): SteadyLoad {
    const begunAt = performance.now();
    const running = new Map<Promise<unknown>, SpawnedGateway>();
    let sent = 0;
    const timer = setInterval(() => {
      const due = ((performance.now() - begunAt) / 1_000) * requestsPerSecond;
      for (; sent < due; sent++) {
        const replicas = among();
        const replica = replicas[sent % replicas.length]!;
        const request: Promise<unknown> = this.either(replica, sent % 16 < 2).then(() => running.delete(request));
        running.set(request, replica);
      }
    }, 5);
    return {
      async answered(by) {
        await Promise.all([...running].filter(([, replica]) => replica === by).map(([request]) => request));
      },
      async stop() {
        clearInterval(timer);
        await Promise.all(running.keys());
      },
    };
  }

  private either(replica: SpawnedGateway, stream: boolean): Promise<Outcome> {
    return stream ? this.stream(replica, { frames: 4, gapMs: 5 }) : this.whole(replica);
  }

  /**
   * Every answer that arrived whole is in the ledger once, at its price. What else is there was delivered by the provider and lost on
   * its last steps, with the process that carried it, or is a stream that broke with its process, billed for what had been delivered;
   * returns how many of each there are.
   */
  async expectBooks(): Promise<{ held: number; lost: number; broken: number }> {
    const { fleet, account } = this;
    await Promise.all(
      fleet.all.map((replica) => replica.call('GET', '/v1/generations?limit=1', undefined, { key: account.key })),
    );
    const { json: page } = await fleet.a.admin('GET', `/accounts/${account.accountId}/ledger?limit=100000`);
    const used = (page.data as LedgerEntry[]).filter(({ kind }) => kind === 'usage');
    const cut = await this.cutStreams();
    const broken = used.filter(({ generation_id }) => cut.has(generation_id));
    for (const { amount_usd } of broken) expect(-pico(amount_usd)).toBeLessThan(costOf(this.numbers, completionTokens));
    const billed = used
      .filter(({ generation_id }) => !cut.has(generation_id))
      .map(({ amount_usd }) => numberOf(-pico(amount_usd)));
    expect(new Set(billed).size).toBe(billed.length);
    const held = new Set(this.outcomes.filter(({ fault }) => fault === '').map(({ number }) => number));
    const inLedger = new Set(billed);
    expect([...held].filter((number) => !inLedger.has(number))).toEqual([]);
    const delivered = new Set(fleet.upstream.calls.filter(({ finished }) => finished).map(numberAsked));
    const lost = billed.filter((number) => !held.has(number));
    expect(lost.filter((number) => !delivered.has(number))).toEqual([]);
    const spent = used.reduce((sum, { amount_usd }) => sum - pico(amount_usd), 0n);
    for (const replica of fleet.all)
      expect(await replica.balance(account.accountId)).toBe(usdText(pico(credit) - spent));
    return { held: held.size, lost: lost.length, broken: broken.length };
  }

  /** The generations that ended as cut off. */
  private async cutStreams(): Promise<Set<string>> {
    const { fleet, account } = this;
    const cut = new Set<string>();
    for (let after = '', more = true; more; ) {
      const path = `/v1/generations?limit=100${after && `&after=${after}`}`;
      const { json: page } = await fleet.a.call('GET', path, undefined, { key: account.key });
      const generations = page.data as { id: string; stream_end: string | null }[];
      for (const { id, stream_end } of generations) if (stream_end === 'cut') cut.add(id);
      after = generations.at(-1)?.id ?? '';
      more = page.has_more;
    }
    return cut;
  }

  private next(shape?: StreamShape) {
    const number = ++this.numbers;
    const content = shape ? `${number} ${shape.frames} ${shape.gapMs}` : String(number);
    return { number, startedAt: performance.now(), body: ask({ messages: [{ role: 'user', content }] }) };
  }

  private ended(outcome: Omit<Outcome, 'ms'>): Outcome {
    const whole = { ...outcome, ms: performance.now() - outcome.startedAt };
    this.outcomes.push(whole);
    return whole;
  }
}

function figuresAsked({ json: body }: UpstreamCallLog): [number, number?, number?] {
  const { messages } = (body ?? { messages: [{ content: '' }] }) as { messages: { content: string }[] };
  return messages[0]!.content.split(' ').map(Number) as [number, number?, number?];
}

const numberAsked = (call: UpstreamCallLog): number => figuresAsked(call)[0];

function answerAsAsked(call: UpstreamCallLog): Script {
  const [number, frames, gapMs] = figuresAsked(call);
  // Somebody else's request, of an ordinary prompt.
  if (Number.isNaN(number)) return json(completion());
  const figures = usage(number, completionTokens);
  if (frames === undefined) return json(completion({ usage: figures }));
  return sse(streamOf(words(frames), { usage: figures }), { gapMs: gapMs ?? 0 });
}

function numberOf(costPico: bigint): number {
  const number = (costPico - costOf(0, completionTokens)) / costOf(1, 0);
  expect(costOf(Number(number), completionTokens)).toBe(costPico);
  return Number(number);
}
