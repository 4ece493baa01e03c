/**
 * Keeps holds that the store does not have yet as files in the data directory, so that a killed process does not lose them.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/logger.js';
import type { HoldRecord } from '../storage/store.js';

const fileName = /^(\d+)-[0-9a-f]{32}\.json$/;

export class HoldFiles {
  constructor(
    private readonly dir: string,
    private readonly logger: Logger,
  ) {}

  /**
   * Synchronous, so that no response that mentions the hold leaves before it is written. A disk failure does not fail the
   * request.
   */
  keep(record: HoldRecord): void {
    const file = this.fileOf(record);
    try {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch (error) {
      this.logger.warn({ route: record.routeId, error: String(error) }, 'a quota hold cannot be kept in a file');
    }
  }

  /** Removes the file of a hold that the store now has. */
  drop(record: HoldRecord): void {
    this.remove(this.fileOf(record));
  }

  /** Reads the holds of earlier processes for this day and later ones. Deletes files of earlier days and unreadable ones. */
  take(utcDay: number): HoldRecord[] {
    const records: HoldRecord[] = [];
    for (const name of this.names()) {
      const day = Number(fileName.exec(name)?.[1] ?? -1);
      const record = day < utcDay ? null : this.read(join(this.dir, name));
      if (record?.utcDay === day) records.push(record);
      else this.remove(join(this.dir, name));
    }
    return records;
  }

  private names(): string[] {
    try {
      return readdirSync(this.dir);
    } catch {
      return [];
    }
  }

  private read(file: string): HoldRecord | null {
    try {
      const { utcDay, routeId, reason, quotaLifted } = JSON.parse(readFileSync(file, 'utf8')) as HoldRecord;
      return typeof routeId === 'string' ? { utcDay, routeId, reason, quotaLifted } : null;
    } catch (error) {
      this.logger.warn({ file, error: String(error) }, 'a kept quota hold cannot be read; it is dropped');
      return null;
    }
  }

  private remove(file: string): void {
    try {
      rmSync(file, { force: true });
    } catch (error) {
      this.logger.warn({ file, error: String(error) }, 'the file of a quota hold cannot be removed');
    }
  }

  private fileOf({ utcDay, routeId }: HoldRecord): string {
    return join(this.dir, `${utcDay}-${createHash('sha256').update(routeId).digest('hex').slice(0, 32)}.json`);
  }
}
