/** Records what each load of the catalogue has changed. A store that is away delays the record, and not the load. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { Clock } from '../base/time.js';
import { changesBetween } from '../catalogue/changes.js';
import { canonicalCatalogue } from '../catalogue/digest.js';
import { factsOf } from '../catalogue/facts.js';
import type { Snapshot } from '../catalogue/route.js';
import type { CatalogueLog } from '../storage/store.js';

/** How long a load waits, so that whoever reloads finds the changes afterwards. */
const waitMs = 2_000;
const retryMs = 1_000;
/** The digest takes a moment to compute, which a start leaves to its first requests. */
const afterStartMs = 250;

interface RecorderDeps {
  log: Pick<CatalogueLog, 'record'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

export class CatalogueRecorder {
  private readonly pause = new Pause();
  private closing = false;
  /** Records are written in the order of the loads. */
  private running: Promise<void> = Promise.resolve();
  private newest: Snapshot | null = null;

  constructor(private readonly deps: RecorderDeps) {}

  /** Resolves when the changes are recorded, or after a moment; for the load of a start at once. */
  async record(snapshot: Snapshot): Promise<void> {
    const isFirst = this.newest === null;
    this.newest = snapshot;
    const atMs = this.deps.clock.now();
    this.running = this.running
      .then(() => (isFirst ? this.pause.wait(afterStartMs) : undefined))
      .then(() => this.untilRecorded(snapshot, atMs));
    if (!isFirst) await Promise.race([this.running, pause(waitMs, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.closing = true;
    this.pause.end();
    await this.running;
  }

  /** A snapshot that was replaced before the store had it is left out: it is not in force any more. */
  private async untilRecorded(snapshot: Snapshot, atMs: number): Promise<void> {
    const { log, logger } = this.deps;
    let isNoted = false;
    while (this.newest === snapshot) {
      try {
        const { digest, text } = canonicalCatalogue(snapshot);
        const changesSince = (before: Parameters<typeof changesBetween>[0]) =>
          changesBetween(before, factsOf(snapshot), snapshot);
        const changes = await log.record({ digest, text, atMs, changesSince });
        if (changes > 0) logger.info({ changes, digest }, 'the catalogue has changed');
        return;
      } catch (error) {
        if (!isNoted)
          logger.warn({ error: String(error) }, 'changes of the catalogue cannot be recorded; trying again');
        isNoted = true;
        if (this.closing) return;
        await this.pause.wait(retryMs);
      }
    }
  }
}
