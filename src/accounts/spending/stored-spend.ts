/**
 * Takes in the store, for a fleet that cannot ask Redis. Whoever admits requests of an account takes a turn of it: it reads what others
 * hold, then what is settled, and writes what it holds itself only where nobody had a turn since. All requests that wait for an account
 * share a turn. A cost counts here from the moment when its hold ends until it is settled, so it is known twice for a moment, and never
 * not at all.
 */
import { isDeepStrictEqual } from 'node:util';
import type { OwnHold, SpendAnswer, SpendAsk, SpendSubject } from '../../cluster/shared-spend.js';
import type { HeldSpend, SpendStore } from '../../storage/budget-types.js';
import { hasRoom } from './spend-bounds.js';
import { type UnsettledCost, UnsettledCosts } from './unsettled-costs.js';

interface StoredSpendDeps {
  readonly store: Pick<SpendStore, 'heldByOthers' | 'take' | 'write' | 'writeAll'>;
  readonly process: string;
  /** What this process holds, of one subject and of all. */
  heldOf(subject: SpendSubject): OwnHold;
  allHeld(): Iterable<OwnHold>;
  /** Counts what a request holds, and takes it back. */
  hold(ask: SpendAsk): void;
  takeBack(ask: SpendAsk): void;
  /** What was spent of a subject, as far as the store has it. */
  spentOf(subject: SpendSubject): Promise<bigint>;
  /** Resolves when every cost so far is in the store. */
  settled(): Promise<unknown>;
  /** Never rejects. */
  pause(ms: number): Promise<unknown>;
}

interface Taking {
  readonly ask: SpendAsk;
  readonly resolve: (answer: SpendAnswer) => void;
  readonly reject: (error: unknown) => void;
  /** How often a refusal was put off: it counted a cost that may be settled already, or what another process may have ended. */
  doubts: number;
}

/** The requests of an account that wait, and whether what is written of it has changed. */
interface Counter {
  readonly accountId: string;
  waiting: Taking[];
  readonly changed: Map<string, SpendSubject>;
  /** Costs that were settled since the last turn. They count until it ends: what it has read may be older. */
  settled: UnsettledCost[];
  isRunning: boolean;
}

/** What a request is compared with. */
interface Figures {
  spentPico: bigint;
  unsettledPico: bigint;
  heldPico: bigint;
  requests: number;
}

/** A cost is settled well within these together. */
const doubtMs = 40;
const doubtsMax = 30;
/** What another process has ended is written well within these. */
const heldDoubtsMax = 4;
/** After the store has failed. */
const retryMs = 500;

export class StoredSpend {
  private readonly unsettled: UnsettledCosts;
  private readonly counters = new Map<string, Counter>();
  /** What was asked for or has changed since the beginning. */
  private readonly touched = new Map<string, SpendSubject>();
  /** Requests that have no answer yet. */
  private asking = 0;

  constructor(private readonly deps: StoredSpendDeps) {
    this.unsettled = new UnsettledCosts({
      settled: () => deps.settled(),
      pause: (ms) => deps.pause(ms),
      onSettled: (cost) => {
        this.counterOf(cost.subject.accountId).settled.push(cost);
        this.changed(cost.subject);
      },
    });
  }

  take(ask: SpendAsk): Promise<SpendAnswer> {
    this.asking++;
    const answer = new Promise<SpendAnswer>((resolve, reject) => {
      const counter = this.counterOf(ask.limits[0]!.subject.accountId);
      counter.waiting.push({ ask, resolve, reject, doubts: 0 });
      this.run(counter);
    });
    return answer.finally(() => this.asking--);
  }

  /** A hold has ended with this cost. */
  released(subjects: readonly SpendSubject[], costPico: bigint): void {
    for (const subject of subjects) {
      if (costPico !== 0n) this.unsettled.add({ subject, pico: costPico });
      this.changed(subject);
    }
  }

  async inFlight({ name, accountId }: SpendSubject): Promise<{ heldPico: bigint; requests: number }> {
    const { held } = await this.deps.store.heldByOthers(this.deps.process, accountId);
    const sum = { heldPico: 0n, requests: 0 };
    for (const { subject, heldPico, requests } of held) {
      if (subject !== name) continue;
      sum.heldPico += heldPico;
      sum.requests += requests;
    }
    return sum;
  }

  /** Everything that this process holds is in the store, and every cost of before is settled. */
  async publish(): Promise<void> {
    await this.deps.settled();
    const rows = new Map<string, HeldSpend>();
    for (const { subject } of this.deps.allHeld()) rows.set(subject.name, this.rowOf(subject));
    await this.deps.store.writeAll(this.deps.process, [...rows.values()]);
    // What has changed meanwhile may have been written before.
    for (const { subject } of this.deps.allHeld())
      if (!isDeepStrictEqual(rows.get(subject.name), this.rowOf(subject))) this.changed(subject);
  }

  /** Nothing is asked here any more, and nothing of this process is in the store. Returns the subjects that it was about. */
  async end(): Promise<readonly SpendSubject[]> {
    while (this.asking > 0) await this.deps.pause(5);
    await this.deps.settled();
    await this.deps.store.writeAll(this.deps.process, []);
    this.counters.clear();
    const touched = [...this.touched.values()];
    this.touched.clear();
    return touched;
  }

  private counterOf(accountId: string): Counter {
    const known = this.counters.get(accountId);
    if (known) return known;
    const counter: Counter = { accountId, waiting: [], changed: new Map(), settled: [], isRunning: false };
    this.counters.set(accountId, counter);
    return counter;
  }

  private changed(subject: SpendSubject): void {
    this.touched.set(subject.name, subject);
    const counter = this.counterOf(subject.accountId);
    counter.changed.set(subject.name, subject);
    this.run(counter);
  }

  private run(counter: Counter): void {
    if (counter.isRunning) return;
    counter.isRunning = true;
    void this.serve(counter);
  }

  /** One statement after the other, so that what is written last is what is held last. Begins at the end of this turn of the event loop. */
  private async serve(counter: Counter): Promise<void> {
    await Promise.resolve();
    while (counter.waiting.length > 0 || counter.changed.size > 0) {
      for (const cost of counter.settled.splice(0)) this.unsettled.forget(cost);
      const turn = counter.waiting.splice(0);
      try {
        if (turn.length > 0) await this.takeTurn(counter, turn);
        else await this.writeChanges(counter);
      } catch (error) {
        for (const { reject } of turn) reject(error);
        await this.deps.pause(retryMs);
      }
    }
    counter.isRunning = false;
  }

  private async writeChanges({ changed }: Counter): Promise<void> {
    const subjects = [...changed.values()];
    const rows = subjects.map((subject) => this.rowOf(subject));
    changed.clear();
    try {
      await this.deps.store.write(this.deps.process, rows);
    } catch (error) {
      for (const subject of subjects) changed.set(subject.name, subject);
      throw error;
    }
  }

  private async takeTurn(counter: Counter, takings: readonly Taking[]): Promise<void> {
    const { store, process } = this.deps;
    const subjects = new Map<string, SpendSubject>();
    for (const { ask } of takings) for (const { subject } of ask.limits) subjects.set(subject.name, subject);
    // A cost leaves what others hold when it is settled, so that is read first.
    const { turn, held } = await store.heldByOthers(process, counter.accountId);
    const figures = await this.figuresOf([...subjects.values()], held);
    const admitted: Taking[] = [];
    const doubted: Taking[] = [];
    const answers = takings.map((taking): SpendAnswer | null => {
      const { ask } = taking;
      if (refusalOf(ask, figures, true) === null) {
        add(ask, figures);
        this.deps.hold(ask);
        admitted.push(taking);
        return { kind: 'held' };
      }
      const refusal = refusalOf(ask, figures, taking.doubts === doubtsMax);
      // What another process has just ended may still be written.
      const isDoubted = refusal === null || (taking.doubts < heldDoubtsMax && held.length > 0);
      taking.doubts++;
      if (!isDoubted) return refusal;
      doubted.push(taking);
      return null;
    });
    if (admitted.length > 0 && !(await this.write(counter, turn, [...subjects.values()], admitted))) {
      counter.waiting.unshift(...takings);
      return;
    }
    for (let i = 0; i < takings.length; i++) if (answers[i]) takings[i]!.resolve(answers[i]!);
    if (doubted.length === 0) return;
    counter.waiting.unshift(...doubted);
    if (admitted.length === 0) await this.deps.pause(doubtMs);
  }

  /** Where it was not written, or nobody knows, nothing is held. */
  private async write(
    { accountId }: Counter,
    turn: string,
    subjects: readonly SpendSubject[],
    admitted: readonly Taking[],
  ): Promise<boolean> {
    const rows = subjects.map((subject) => this.rowOf(subject));
    let isWritten = false;
    try {
      isWritten = await this.deps.store.take(this.deps.process, accountId, turn, rows);
    } finally {
      if (!isWritten) for (const { ask } of admitted) this.deps.takeBack(ask);
    }
    return isWritten;
  }

  private async figuresOf(
    subjects: readonly SpendSubject[],
    held: readonly HeldSpend[],
  ): Promise<Map<string, Figures>> {
    const spent = await Promise.all(subjects.map((subject) => this.deps.spentOf(subject)));
    const figures = new Map<string, Figures>();
    subjects.forEach((subject, i) => {
      const { heldPico, requests } = this.deps.heldOf(subject);
      const unsettledPico = this.unsettled.of(subject);
      figures.set(subject.name, { spentPico: spent[i]!, unsettledPico, heldPico, requests });
    });
    for (const other of held) {
      const sum = figures.get(other.subject);
      if (!sum) continue;
      sum.heldPico += other.heldPico;
      sum.unsettledPico += other.unsettledPico;
      sum.requests += other.requests;
    }
    return figures;
  }

  private rowOf(subject: SpendSubject): HeldSpend {
    const { heldPico, requests } = this.deps.heldOf(subject);
    const { name, accountId } = subject;
    return { subject: name, accountId, heldPico, requests, unsettledPico: this.unsettled.of(subject) };
  }
}

/** The first limit without room; null where there is none. Costs that may be settled already count where it says so. */
function refusalOf(
  { limits }: SpendAsk,
  figures: ReadonlyMap<string, Figures>,
  countsUnsettled: boolean,
): SpendAnswer | null {
  for (let place = 0; place < limits.length; place++) {
    const { subject, limitPico } = limits[place]!;
    const { unsettledPico, heldPico, requests, ...known } = figures.get(subject.name)!;
    const spentPico = known.spentPico + (countsUnsettled ? unsettledPico : 0n);
    const leftPico = limitPico - spentPico;
    if (!hasRoom(leftPico, { heldPico, requests }))
      return { kind: 'refused', place, spentPico, heldPico, requests, change: 0, unchangedMs: 0 };
  }
  return null;
}

function add({ limits, estimatePico }: SpendAsk, figures: ReadonlyMap<string, Figures>): void {
  for (const { subject } of limits) {
    const sum = figures.get(subject.name)!;
    sum.heldPico += estimatePico;
    sum.requests++;
  }
}
