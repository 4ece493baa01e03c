/** Looks for an update of the catalogue once a day, in one process of a fleet, and applies as much of it as the configuration allows. */
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { Clock } from '../base/time.js';
import { effectOf, effects, type UpdateChange } from '../catalogue/effects.js';
import { CatalogueFault } from '../catalogue/load-catalogue.js';
import { UpdateRefused } from '../catalogue/update.js';
import type { AppliedUpdate } from '../http/deps.js';
import type { CatalogueUpdateStore } from '../storage/store.js';
import type { CatalogueUpdates } from './catalogue-updates.js';

const hourMs = 3_600_000;
const firstMs = 60_000;
const dayMs = 24 * hourMs;
/** The report lists so many changes that were not applied. The log has their number. */
const listedMax = 20;

interface CatalogueLookDeps {
  updates: Pick<CatalogueUpdates, 'newest' | 'readFile' | 'applySigned'>;
  store: Pick<CatalogueUpdateStore, 'takeLook' | 'reportLook'>;
  apply: 'never' | 'additions' | 'all';
  /** Throws DownloadFailed where there is no file. */
  download: (ended: AbortSignal) => Promise<Buffer>;
  note: (applied: AppliedUpdate) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

export class DailyCatalogueLook {
  private readonly pause = new Pause();
  private readonly ended = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly deps: CatalogueLookDeps) {}

  start(): void {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.ended.abort();
    this.pause.end();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.pause.wait(firstMs);
    while (!this.ended.signal.aborted) {
      await this.look();
      if (!this.ended.signal.aborted) await this.pause.wait(hourMs);
    }
  }

  /** Never rejects. A look that failed is repeated after an hour. */
  async look(): Promise<void> {
    const { store, clock, logger } = this.deps;
    try {
      if (!(await store.takeLook(clock.now(), dayMs))) return;
      const { text, failed } = await this.lookNow().catch((error: Error) => {
        if (!isExpected(error)) throw error;
        return { text: error.message, failed: true };
      });
      if (failed)
        logger.warn({ reason: text }, 'the update of the catalogue was not applied; the old one stays in use');
      await store.reportLook({ atMs: clock.now(), text }, failed ? clock.now() + hourMs : undefined);
    } catch (error) {
      logger.warn({ error: String(error) }, 'an update of the catalogue could not be looked for; trying again');
    }
  }

  private async lookNow(): Promise<{ text: string; failed: boolean }> {
    const { updates, apply, download, note, logger } = this.deps;
    const signed = await updates.readFile(await download(this.ended.signal));
    const { version } = signed;
    // One that was rolled back does not come back by itself.
    if (version <= (await updates.newest()))
      return { text: `The catalogue ${version} is published, and is not newer than those known here.`, failed: false };
    const all = await updates.applySigned(signed, { dryRun: true });
    const applied =
      apply === 'never'
        ? null
        : await updates.applySigned(signed, { part: apply, ...(apply === 'all' && { confirm: true }) });
    const done = applied?.applied ? applied.changes : [];
    if (applied?.applied) await note(applied);
    const names = new Set(done.map(nameOf));
    const rest = all.changes.filter((change) => !names.has(nameOf(change)));
    if (rest.length > 0)
      logger.warn(
        { version, applied: done.length, left: rest.length },
        'an update of the catalogue has changes that were not applied; `lodestone catalogue update` applies them',
      );
    return { text: reportText(version, done, rest), failed: false };
  }
}

/** What the world may do to an update, other than a fault of the gateway. */
function isExpected(error: Error): boolean {
  return error instanceof UpdateRefused || error instanceof CatalogueFault || error.name === 'DownloadFailed';
}

const nameOf = ({ kind, id, field }: UpdateChange): string => JSON.stringify([kind, id, field]);

function reportText(version: string, done: readonly UpdateChange[], rest: readonly UpdateChange[]): string {
  const lines = rest
    .slice(0, listedMax)
    .map((change) => `${effectOf(change)}: ${change.id} ${change.field}: ${change.from} → ${change.to}`);
  const more = rest.length > listedMax ? [`and ${rest.length - listedMax} more`] : [];
  const left = rest.length === 0 ? 'nothing left' : `not applied: ${countsText(rest)}`;
  return [`The catalogue ${version}: applied: ${countsText(done)}; ${left}.`, ...lines, ...more].join('\n');
}

function countsText(changes: readonly UpdateChange[]): string {
  const found = effects.flatMap((effect) => {
    const count = changes.filter((change) => effectOf(change) === effect).length;
    return count > 0 ? [`${count} ${effect}`] : [];
  });
  return found.join(', ') || 'nothing';
}
