/** Shared state in memory for unit tests: versions that several processes of one test read and raise, and a switch. */
import type { Subject, Versions } from '../../src/cluster/ports.js';

/** A key's account is where its version is kept, and no part of its name. */
const nameOf = (subject: Subject): string => subject.replace(/@.*$/, '');

export class MemoryVersions implements Versions {
  readonly all = new Map<string, string>();
  private readonly listeners: (() => void)[] = [];
  private isAway = false;
  private made = 0;

  async current(subjects: readonly Subject[]): Promise<string[] | null> {
    if (this.isAway) return null;
    return subjects.map(nameOf).map((subject) => {
      const version = this.all.get(subject) ?? `v${++this.made}`;
      this.all.set(subject, version);
      return version;
    });
  }

  async raise(subjects: readonly Subject[]): Promise<void> {
    for (const subject of subjects) this.all.set(nameOf(subject), `v${++this.made}`);
  }

  raiseWithinReach(subjects: readonly Subject[]): Promise<void> {
    return this.raise(subjects);
  }

  onLost(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Away with its connection, as a Redis that was killed. */
  set away(away: boolean) {
    this.isAway = away;
    if (away) for (const listener of this.listeners) listener();
  }

  /** No answer for a moment, on a connection that stands. */
  set silent(silent: boolean) {
    this.isAway = silent;
  }

  /** As a Redis that was restarted. */
  forget(): void {
    this.all.clear();
  }
}
