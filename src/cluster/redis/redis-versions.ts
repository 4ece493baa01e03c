/**
 * Versions in Redis. A version is a random text, so one that Redis lost and makes again differs from every earlier one. A
 * raise that Redis could not take is repeated before its server is reported as up.
 */
import { randomBytes } from 'node:crypto';
import type { Subject, Versions } from '../ports.js';
import { currentScript, raiseScript } from './scripts.js';
import { inParts, type Keyed, type SharedLink, type SharedNode } from './shared-link.js';

/** An expired version reads as none, which only makes processes read the store again. */
const livesSeconds = String(7 * 24 * 60 * 60);
/** Longer than any process takes to notice that Redis is silent, with or without traffic. */
const raiseWaitMs = 3_000;
/** The number of subjects in one command. */
const subjectsMax = 1_000;
/** What states and catalogue have in common in a cluster. */
const fleetTag = 'fleet';

interface Due extends Keyed {
  readonly subject: Subject;
}

interface Waiter {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
  /** The subjects that Redis does not have yet. */
  readonly missing: Set<Subject>;
}

export class RedisVersions implements Versions {
  private readonly keyPrefix: string;
  /** The raises that Redis does not have, with the callers that wait for each. */
  private readonly owed = new Map<Subject, Set<Waiter>>();

  constructor(private readonly link: SharedLink) {
    this.keyPrefix = `${link.prefix}v:`;
    link.beforeBack((node) => {
      const due = [...this.owed.keys()].filter((subject) => node.covers(this.keyOf(subject)));
      return due.length === 0 ? null : this.pay(due, node);
    });
  }

  keyOf(subject: Subject): string {
    const [name, owner] = placeOf(subject);
    return this.keyPrefix + this.link.tagOf(owner) + name;
  }

  /** The same for a key and for an account, on the path of every request. */
  ofKey(id: string, accountId: string): string {
    return `${this.keyPrefix}${this.link.tagOf(accountId)}key:${id}`;
  }

  ofAccount(id: string): string {
    return `${this.keyPrefix}${this.link.tagOf(id)}account:${id}`;
  }

  current(subjects: readonly Subject[]): Promise<string[] | null> {
    const keys = subjects.map((subject) => this.keyOf(subject));
    return this.link.run<string[]>(currentScript, keys, [newVersion(), livesSeconds], this.link.requestWaitMs);
  }

  raise(subjects: readonly Subject[]): Promise<void> {
    if (subjects.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.giveUp(waiter), raiseWaitMs);
      const waiter: Waiter = { resolve, timer, missing: new Set(subjects) };
      for (const subject of waiter.missing) this.owe(subject, [waiter]);
      void this.payWithinReach(subjects);
    });
  }

  async raiseWithinReach(subjects: readonly Subject[]): Promise<void> {
    for (const subject of subjects) this.owe(subject, []);
    await this.payWithinReach(subjects);
  }

  onLost(listener: () => void): void {
    this.link.onLost(listener);
  }

  private owe(subject: Subject, waiters: Iterable<Waiter>): void {
    const waiting = this.owed.get(subject) ?? new Set();
    for (const waiter of waiters) waiting.add(waiter);
    this.owed.set(subject, waiting);
  }

  private giveUp(waiter: Waiter): void {
    for (const subject of waiter.missing) this.owed.get(subject)?.delete(waiter);
    waiter.missing.clear();
    waiter.resolve();
  }

  private async payWithinReach(subjects: readonly Subject[]): Promise<void> {
    const due = subjects.filter((subject) => this.link.isUp(this.keyOf(subject)));
    if (due.length > 0) await this.pay(due);
  }

  /** Sends missing raises, through a node that comes back where one is given. False where not all of them arrived. */
  private async pay(subjects: readonly Subject[], node?: SharedNode): Promise<boolean> {
    const due = [...new Set(subjects)].map((subject) => ({ subject, key: this.keyOf(subject) }));
    const paying = inParts(this.link, due, subjectsMax).map((some) => this.paySome(some, node));
    return (await Promise.all(paying)).every(Boolean);
  }

  /** A raise added from here on is sent again, because its change came after this. */
  private async paySome(due: readonly Due[], node: SharedNode | undefined): Promise<boolean> {
    const paid = due.map(({ subject }): [Subject, Set<Waiter>] => [subject, this.owed.get(subject) ?? new Set()]);
    for (const { subject } of due) this.owed.delete(subject);
    const keys = due.map(({ key }) => key);
    const figures = [newVersion(), livesSeconds];
    const raised = await (node ? node.runAway(raiseScript, keys, figures) : this.link.run(raiseScript, keys, figures));
    for (const [subject, waiters] of paid) {
      const left = [...waiters].filter(({ missing }) => missing.has(subject));
      if (raised === null) this.owe(subject, left);
      else for (const waiter of left) this.arrive(waiter, subject);
    }
    return raised !== null;
  }

  private arrive(waiter: Waiter, subject: Subject): void {
    waiter.missing.delete(subject);
    if (waiter.missing.size > 0) return;
    clearTimeout(waiter.timer);
    waiter.resolve();
  }
}

/** The name of a version, and what it shares a slot with: a key's version belongs to the account. */
function placeOf(subject: Subject): [name: string, owner: string] {
  if (subject.startsWith('key:')) {
    const [name = '', owner = name] = subject.split('@');
    return [name, owner];
  }
  return [subject, subject.startsWith('account:') ? subject.slice('account:'.length) : fleetTag];
}

function newVersion(): string {
  return randomBytes(12).toString('base64url');
}
