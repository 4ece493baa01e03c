/**
 * Keeps the state that every request depends on: model states, quota holds and the catalogue. It is brought up to the
 * versions of the shared state before a request goes on, so that a change applies to the next request in every process.
 */

import type { Logger } from '../base/logger.js';
import { SharedRead } from '../base/shared-read.js';
import type { Clock } from '../base/time.js';
import type { Versions } from '../cluster/ports.js';

export interface FleetStatesDeps {
  versions: Versions;
  /** Reads model states and quota holds from the store. */
  readStates: () => Promise<void>;
  /** Reads the catalogue's files and its update again; the old catalogue stays in use where they have a fault. */
  readCatalogue: () => Promise<unknown>;
  clock: Pick<Clock, 'monotonicMs'>;
  logger: Logger;
}

/** After a failure, requests go on with the held state and nobody waits for another try for this long. */
const pauseMs = 1_000;

export class FleetStates {
  private statesVersion: string | null = null;
  private catalogueVersion: string | null = null;
  private readonly reading = new SharedRead(() => this.read());
  private failedAtMs = Number.NEGATIVE_INFINITY;
  /** The versions that could not be read. */
  private failedUnder: readonly (string | null)[] = [null, null];
  private changeCount = 0;
  private catalogueMissed = false;

  constructor(private readonly deps: FleetStatesDeps) {
    deps.versions.onLost(() => this.invalidate());
  }

  /** Runs the first load at start and stores the versions that it belongs to. */
  async loadFirst(load: () => Promise<void>): Promise<void> {
    const { changeCount } = this;
    const versions = await this.deps.versions.current(['states', 'catalogue']);
    await load();
    if (changeCount === this.changeCount) [this.statesVersion = null, this.catalogueVersion = null] = versions ?? [];
  }

  /** Returns without waiting where both versions are held. */
  upTo(statesVersion: string | null, catalogueVersion: string | null): Promise<void> | undefined {
    if (statesVersion !== null && catalogueVersion !== null) {
      if (statesVersion === this.statesVersion && catalogueVersion === this.catalogueVersion) return undefined;
      // A version that changed since the failure shows that its process reached the store.
      const [failedStates, failedCatalogue] = this.failedUnder;
      if (statesVersion !== failedStates || catalogueVersion !== failedCatalogue) return this.reading.ask();
    }
    return this.now();
  }

  /** Reads without knowing the versions: for paths other than chat, and while the shared state is out of reach. */
  now(): Promise<void> | undefined {
    return this.deps.clock.monotonicMs() < this.failedAtMs + pauseMs ? undefined : this.reading.ask();
  }

  /** Another process has changed something, or may have. */
  invalidate(): void {
    this.changeCount++;
    this.statesVersion = null;
  }

  /** The only notification while the shared state is out of reach, so the files are read at once. */
  reloadCatalogue(): Promise<void> | undefined {
    this.changeCount++;
    this.catalogueVersion = null;
    this.catalogueMissed = true;
    return this.now();
  }

  private async read(): Promise<void> {
    const { changeCount } = this;
    const [states = null, catalogue = null] = (await this.deps.versions.current(['states', 'catalogue'])) ?? [];
    try {
      if (states === null || states !== this.statesVersion) await this.deps.readStates();
      if (this.catalogueMissed || (catalogue !== null && catalogue !== this.catalogueVersion)) {
        this.catalogueMissed = false;
        // A catalogue that cannot be read now is read at the next try.
        await this.deps.readCatalogue().catch((error: unknown) => {
          this.catalogueMissed = true;
          throw error;
        });
      }
      if (changeCount === this.changeCount) this.statesVersion = states;
      if (catalogue !== null && changeCount === this.changeCount) this.catalogueVersion = catalogue;
    } catch (error) {
      this.failedAtMs = this.deps.clock.monotonicMs();
      this.failedUnder = [states, catalogue];
      this.deps.logger.warn(
        { error: String(error) },
        'model states or the catalogue cannot be read; those in memory stay in force',
      );
    }
  }
}
