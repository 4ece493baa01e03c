/**
 * Versions in Redis. A version is a random text, so one that Redis lost and makes again differs from every earlier one. A
 * raise that Redis could not take is repeated before the link is reported as up.
 */
import { randomBytes } from 'node:crypto';
import type { Subject, Versions } from '../ports.js';
import { patientWaitMs, type RedisLink, requestWaitMs } from './link.js';
import { currentScript, raiseScript } from './scripts.js';

/** An expired version reads as none, which only makes processes read the store again. */
const livesSeconds = String(7 * 24 * 60 * 60);
/** Longer than any process takes to notice that Redis is silent, with or without traffic. */
const raiseWaitMs = 3_000;
/** The number of subjects in one command. */
const subjectsMax = 1_000;

interface Waiter {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
  gaveUp: boolean;
}

export class RedisVersions implements Versions {
  private readonly keyPrefix: string;
  private owed = new Set<Subject>();
  /** The callers that wait until the missing raises are in Redis. */
  private waiting = new Set<Waiter>();

  constructor(private readonly link: RedisLink) {
    this.keyPrefix = `${link.prefix}v:`;
    link.beforeBack(() => (this.owed.size === 0 ? null : this.pay(true)));
  }

  keyOf(subject: Subject): string {
    return this.keyPrefix + subject;
  }

  current(subjects: readonly Subject[]): Promise<string[] | null> {
    const keys = subjects.map((subject) => this.keyOf(subject));
    return this.link.run<string[]>(currentScript, keys, [newVersion(), livesSeconds], requestWaitMs);
  }

  raise(subjects: readonly Subject[]): Promise<void> {
    if (subjects.length === 0) return Promise.resolve();
    for (const subject of subjects) this.owed.add(subject);
    return new Promise((resolve) => {
      const waiter: Waiter = { resolve, gaveUp: false, timer: setTimeout(() => this.giveUp(waiter), raiseWaitMs) };
      this.waiting.add(waiter);
      if (this.link.up) void this.pay(false);
    });
  }

  onLost(listener: () => void): void {
    this.link.onLost(listener);
  }

  private giveUp(waiter: Waiter): void {
    waiter.gaveUp = true;
    this.waiting.delete(waiter);
    waiter.resolve();
  }

  /** Sends all missing raises. A raise added from here on is sent again, because its change came after this. */
  private async pay(comingBack: boolean): Promise<boolean> {
    const { owed, waiting } = this;
    this.owed = new Set();
    this.waiting = new Set();
    const keys = [...owed].map((subject) => this.keyOf(subject));
    for (let at = 0; at < keys.length; at += subjectsMax) {
      const some = keys.slice(at, at + subjectsMax);
      const figures = [newVersion(), livesSeconds];
      const raised = comingBack
        ? await this.link.runAway(raiseScript, some, figures)
        : await this.link.run(raiseScript, some, figures, patientWaitMs);
      if (raised !== null) continue;
      for (const subject of owed) this.owed.add(subject);
      for (const waiter of waiting) if (!waiter.gaveUp) this.waiting.add(waiter);
      return false;
    }
    for (const { timer, resolve } of waiting) {
      clearTimeout(timer);
      resolve();
    }
    return true;
  }
}

function newVersion(): string {
  return randomBytes(12).toString('base64url');
}
