/**
 * What a fleet has spent and holds of balances and caps, in Redis. Each process holds under a name of its own and renews that while its
 * requests are in flight, so what a process that died held is free again after `leaseMs`.
 */
import { randomBytes } from 'node:crypto';
import type { OwnHold, RedisSpending, SpendAnswer, SpendAsk, SpendSubject } from '../shared-spend.js';
import { inParts, type Keyed, type SharedLink, type SharedNode } from './shared-link.js';
import {
  forgetSpentScript,
  heldSpendScript,
  leaseMs,
  publishSpendScript,
  releaseSpendScript,
  setSpentScript,
  takeSpendScript,
} from './spend-scripts.js';
import { TurnBatch } from './turn-batch.js';

const picoPerUsd = 1_000_000_000_000n;
/** Three renewals may be lost before a lease ends. */
const renewMs = leaseMs / 4;
/** A subject in constant use is corrected this often, in case Redis ran a command whose answer was lost. */
const correctMs = 10_000;
/** The number of subjects in one command. */
const publishedMax = 128;
/** The first slot of a refusal's answer that has figures. */
const figuresFrom = 2;

const heldAnswer: SpendAnswer = { kind: 'held' };

export type RawSpendAnswer = number | number[];

/** What this process holds of a subject. */
interface OwnHolds {
  readonly subject: SpendSubject;
  readonly key: string;
  heldPico: bigint;
  requests: number;
  /** Takes that Redis has not answered: until then nobody knows what is held there. */
  unanswered: number;
  /** Releases that are counted here and leave at the end of this turn. */
  queued: number;
  /** When Redis last heard of it. */
  sentMs: number;
  /** When Redis last got the whole figure. */
  publishedMs: number;
}

interface Taking extends Keyed {
  readonly ask: SpendAsk;
  readonly resolve: (answer: SpendAnswer | null) => void;
}

interface Release extends Keyed {
  readonly own: OwnHolds;
  readonly estimatePico: bigint;
  readonly requests: number;
  readonly costPico: bigint;
}

export class RedisSpend implements RedisSpending {
  readonly owner = randomBytes(6).toString('base64url');
  private readonly keyPrefix: string;
  private readonly holds = new Map<string, OwnHolds>();
  private readonly missedListeners: ((subject: SpendSubject) => void)[] = [];
  private readonly takes: TurnBatch<Taking>;
  private readonly releases: TurnBatch<Release>;
  private readonly renewal: NodeJS.Timeout;

  constructor(private readonly link: SharedLink) {
    this.keyPrefix = `${link.prefix}s:`;
    this.takes = new TurnBatch(link, (asks) => this.sendTakes(asks));
    this.releases = new TurnBatch(link, (asks) => this.sendReleases(asks), 'releases');
    link.onBack((node) => this.comeBack(node));
    this.renewal = setInterval(() => this.renew(), renewMs).unref();
  }

  close(): void {
    clearInterval(this.renewal);
  }

  get isUp(): boolean {
    return this.link.up;
  }

  get isAsking(): boolean {
    for (const { unanswered } of this.holds.values()) if (unanswered > 0) return true;
    return false;
  }

  heldOf(subject: SpendSubject): OwnHold {
    return this.ownOf(subject);
  }

  allHeld(): Iterable<OwnHold> {
    return this.holds.values();
  }

  async forget(subjects: readonly SpendSubject[]): Promise<void> {
    const all = subjects.map((subject) => ({ key: this.keyOf(subject) }));
    const run = (some: readonly Keyed[]) => this.link.run(forgetSpentScript, keysOf(some), []);
    await Promise.all(inParts(this.link, all, publishedMax).map(run));
  }

  take(ask: SpendAsk): Promise<SpendAnswer | null> {
    const key = this.keyOf(ask.limits[0]!.subject);
    if (!this.link.isUp(key)) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.takes.add({ key, ask, resolve });
    });
  }

  note({ limits, estimatePico }: SpendAsk): void {
    for (const { subject } of limits) {
      const own = this.ownOf(subject);
      this.count(own, estimatePico);
      this.sendRelease({ own, key: own.key, estimatePico: -estimatePico, requests: -1, costPico: 0n });
    }
  }

  release(subjects: readonly SpendSubject[], estimatePico: bigint, costPico: bigint): void {
    for (const subject of subjects) {
      const own = this.ownOf(subject);
      own.heldPico -= estimatePico;
      own.requests--;
      this.sendRelease({ own, key: own.key, estimatePico, requests: 1, costPico });
    }
  }

  addCost(subject: SpendSubject, costPico: bigint): void {
    const own = this.ownOf(subject);
    this.sendRelease({ own, key: own.key, estimatePico: 0n, requests: 0, costPico });
  }

  async setSpent(subject: SpendSubject, spentPico: bigint, when: 'first' | 'least' | number): Promise<boolean> {
    const figures = [...amountFigures(spentPico), String(when)];
    return (await this.link.run<number>(setSpentScript, [this.keyOf(subject)], figures)) === 1;
  }

  async inFlight(subject: SpendSubject): Promise<{ heldPico: bigint; requests: number } | null> {
    const held = await this.link.run<number[]>(heldSpendScript, [this.keyOf(subject)], [], this.link.requestWaitMs);
    return held && { heldPico: amountAt(held, 0), requests: held[2]! };
  }

  onMissed(listener: (subject: SpendSubject) => void): void {
    this.missedListeners.push(listener);
  }

  onAway(listener: () => void): void {
    this.link.onAway(listener);
  }

  /** Adds the keys and figures of a take to a command. Its answer, or its absence, must be reported. */
  writeTake({ limits, estimatePico }: SpendAsk, keys: string[], figures: string[]): void {
    figures.push(String(limits.length), ...amountFigures(estimatePico));
    for (const { subject, limitPico } of limits) {
      const own = this.ownOf(subject);
      own.unanswered++;
      own.sentMs = performance.now();
      keys.push(own.key);
      figures.push(...amountFigures(limitPico));
    }
  }

  readTake({ limits, estimatePico }: SpendAsk, raw: RawSpendAnswer | null): SpendAnswer | null {
    for (const { subject } of limits) {
      const own = this.ownOf(subject);
      own.unanswered--;
      if (raw === 1) this.count(own, estimatePico);
    }
    if (raw === null) return null;
    return typeof raw === 'number' ? heldAnswer : answerOf(raw);
  }

  private keyOf({ name }: SpendSubject): string {
    return this.keyPrefix + name;
  }

  private ownOf(subject: SpendSubject): OwnHolds {
    const known = this.holds.get(subject.name);
    if (known) return known;
    const nowMs = performance.now();
    const own = { subject, key: this.keyOf(subject), heldPico: 0n, requests: 0, unanswered: 0, queued: 0 };
    const created = { ...own, sentMs: nowMs, publishedMs: nowMs };
    this.holds.set(subject.name, created);
    return created;
  }

  private count(own: OwnHolds, estimatePico: bigint): void {
    own.heldPico += estimatePico;
    own.requests++;
  }

  private async sendTakes(asks: readonly Taking[]): Promise<void> {
    const keys: string[] = [];
    const figures = [this.owner];
    for (const { ask } of asks) this.writeTake(ask, keys, figures);
    const answers = await this.link.run<RawSpendAnswer[]>(takeSpendScript, keys, figures, this.link.requestWaitMs);
    for (let i = 0; i < asks.length; i++) {
      const { ask, resolve } = asks[i]!;
      resolve(this.readTake(ask, answers?.[i] ?? null));
    }
  }

  private sendRelease(release: Release): void {
    const { own } = release;
    own.sentMs = performance.now();
    // Coming back publishes what is held, and asks the store what was spent.
    if (!this.link.isUp(own.key)) return;
    own.queued++;
    this.releases.add(release);
  }

  private async sendReleases(asks: readonly Release[]): Promise<void> {
    const figures = [this.owner];
    for (const { own, estimatePico, requests, costPico } of asks) {
      own.queued--;
      figures.push(...amountFigures(estimatePico), String(requests), ...amountFigures(costPico));
    }
    const known = await this.link.run<number[]>(releaseSpendScript, keysOf(asks), figures);
    // Where Redis did not answer, coming back reports it.
    for (let i = 0; known && i < asks.length; i++) {
      const { own, costPico } = asks[i]!;
      if (known[i] === 0 && costPico !== 0n) this.reportMissed(own.subject);
    }
  }

  /** Redis may have lost everything, or have missed releases: it gets what is held here, and the store is asked for the rest. */
  private comeBack(node: SharedNode): void {
    const all = [...this.holds.values()].filter(({ key }) => node.covers(key));
    this.publish(all);
    for (const { subject } of all) this.reportMissed(subject);
  }

  private renew(): void {
    const nowMs = performance.now();
    const due: OwnHolds[] = [];
    for (const own of this.holds.values()) {
      if (own.unanswered > 0 || own.queued > 0 || !this.link.isUp(own.key)) continue;
      const silentMs = nowMs - own.sentMs;
      if (own.requests > 0 && (silentMs >= renewMs || nowMs - own.publishedMs >= correctMs)) due.push(own);
      else if (own.requests === 0 && silentMs > 2 * correctMs) this.holds.delete(own.subject.name);
    }
    this.publish(due);
  }

  private publish(all: readonly OwnHolds[]): void {
    const nowMs = performance.now();
    for (const some of inParts(this.link, all, publishedMax)) {
      const figures = [this.owner];
      for (const own of some) {
        own.sentMs = nowMs;
        own.publishedMs = nowMs;
        figures.push(...amountFigures(own.heldPico), String(own.requests));
      }
      void this.link.run(publishSpendScript, keysOf(some), figures);
    }
  }

  private reportMissed(subject: SpendSubject): void {
    for (const listener of this.missedListeners) listener(subject);
  }
}

const keysOf = (asks: readonly Keyed[]): string[] => asks.map(({ key }) => key);

function answerOf(raw: readonly number[]): SpendAnswer {
  const place = raw[1]!;
  if (raw[0] === 2) return { kind: 'unknown', place };
  return {
    kind: 'refused',
    place,
    spentPico: amountAt(raw, figuresFrom),
    heldPico: amountAt(raw, figuresFrom + 2),
    requests: raw[figuresFrom + 4]!,
    change: raw[figuresFrom + 5]!,
    unchangedMs: raw[figuresFrom + 6]!,
  };
}

/** Whole dollars, rounded down, and the pico-dollars above them. */
function amountFigures(pico: bigint): [string, string] {
  const rest = pico % picoPerUsd;
  const above = rest < 0n ? rest + picoPerUsd : rest;
  return [String((pico - above) / picoPerUsd), String(above)];
}

function amountAt(figures: readonly number[], at: number): bigint {
  return BigInt(figures[at]!) * picoPerUsd + BigInt(figures[at + 1]!);
}
