/**
 * What every request of every account depends on: model states, quota holds, the catalogue. Brought up to the versions of
 * shared state before a request goes on, so that a change is in force on the next request in every process.
 */

import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { Versions } from '../ports.js';
import { SharedRead } from './shared-read.js';

export interface FleetStatesDeps {
  versions: Versions;
  /** Reads model states and quota holds from the store. */
  readStates: () => Promise<void>;
  /** Reads the catalogue's files again; with a fault the old one stays in use. */
  readCatalogue: () => Promise<unknown>;
  clock: Pick<Clock, 'monotonicMs'>;
  logger: Logger;
}

/** After a failure requests go on with what is held; this long nobody waits for another try. */
const pauseMs = 1_000;

export class FleetStates {
  private statesVersion: string | null = null;
  private catalogueVersion: string | null = null;
  private readonly reading = new SharedRead(() => this.read());
  private failedAtMs = Number.NEGATIVE_INFINITY;
  /** The versions that could not be brought up to. */
  private failedUnder: readonly (string | null)[] = [null, null];
  private heardCount = 0;
  private catalogueMissed = false;

  constructor(private readonly deps: FleetStatesDeps) {
    deps.versions.onLost(() => this.outdated());
  }

  /** At the start, around the first reading of both: under which versions it was. */
  async startedWith(load: () => Promise<void>): Promise<void> {
    const { heardCount } = this;
    const versions = await this.deps.versions.current(['states', 'catalogue']);
    await load();
    if (heardCount === this.heardCount) [this.statesVersion = null, this.catalogueVersion = null] = versions ?? [];
  }

  /** Waits for nothing where both are the ones held. */
  upTo(statesVersion: string | null, catalogueVersion: string | null): Promise<void> | undefined {
    if (statesVersion !== null && catalogueVersion !== null) {
      if (statesVersion === this.statesVersion && catalogueVersion === this.catalogueVersion) return undefined;
      // Whoever has changed something since the failure has reached the store.
      const [failedStates, failedCatalogue] = this.failedUnder;
      if (statesVersion !== failedStates || catalogueVersion !== failedCatalogue) return this.reading.ask();
    }
    return this.now();
  }

  /** Without knowing the versions: for paths outside chat, and while shared state is out of reach. */
  now(): Promise<void> | undefined {
    return this.deps.clock.monotonicMs() < this.failedAtMs + pauseMs ? undefined : this.reading.ask();
  }

  /** Somebody has changed something, or nobody knows. */
  outdated(): void {
    this.heardCount++;
    this.statesVersion = null;
  }

  /** The only word of it while shared state is out of reach, so the files are read at once. */
  catalogueHeard(): Promise<void> | undefined {
    this.heardCount++;
    this.catalogueVersion = null;
    this.catalogueMissed = true;
    return this.now();
  }

  private async read(): Promise<void> {
    const { heardCount } = this;
    const [states = null, catalogue = null] = (await this.deps.versions.current(['states', 'catalogue'])) ?? [];
    try {
      if (states === null || states !== this.statesVersion) await this.deps.readStates();
      if (this.catalogueMissed || (catalogue !== null && catalogue !== this.catalogueVersion)) {
        this.catalogueMissed = false;
        await this.deps.readCatalogue();
      }
      if (heardCount === this.heardCount) this.statesVersion = states;
      if (catalogue !== null && heardCount === this.heardCount) this.catalogueVersion = catalogue;
    } catch (error) {
      this.failedAtMs = this.deps.clock.monotonicMs();
      this.failedUnder = [states, catalogue];
      this.deps.logger.warn({ error: String(error) }, 'model states cannot be read; those in memory stay in force');
    }
  }
}
