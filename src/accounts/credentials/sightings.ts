/** Notes what traffic shows of credentials, and writes it down once a second, so that no request waits for the store. */
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { OwnCredential } from '../../domain/credential.js';
import type { CredentialSighting, CredentialStore } from '../../storage/credential-types.js';

const writeMs = 1_000;
/** A use is written down once in this time while nothing else changes. */
const usedMs = 30_000;
/** More are not kept while the store is away. */
const seenMax = 10_000;
/** In one statement, so that requests do not wait while thousands are put together. */
const writtenAtOnce = 500;
const reasonMax = 500;

interface Seen {
  readonly id: string;
  readonly revision: number;
  status: 'ok' | 'failing';
  reason: string | null;
  atMs: number;
  usedAtMs: number;
  /** What the store has, as far as this process has written it. */
  writtenStatus: 'ok' | 'failing' | null;
  writtenAtMs: number;
}

export class Sightings {
  private readonly seen = new Map<string, Seen>();
  /** What is to be written. */
  private readonly dirty = new Set<Seen>();
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Pick<CredentialStore, 'note'>,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly logger: Logger,
  ) {}

  /** `refusal` is what the provider said; null where the credential has served. */
  note({ id, revision }: Pick<OwnCredential, 'id' | 'revision'>, refusal: string | null): void {
    const nowMs = this.clock.now();
    const status = refusal === null ? 'ok' : 'failing';
    let seen = this.seen.get(id);
    if (seen === undefined || seen.revision !== revision) {
      this.forget(id);
      if (this.seen.size >= seenMax) for (const oldest of this.seen.keys()) if (this.forget(oldest)) break;
      seen = {
        ...{ id, revision, status, reason: null, atMs: nowMs, usedAtMs: nowMs },
        ...{ writtenStatus: null, writtenAtMs: 0 },
      };
      this.seen.set(id, seen);
    }
    seen.status = status;
    seen.reason = refusal === null ? null : refusal.slice(0, reasonMax);
    seen.atMs = nowMs;
    seen.usedAtMs = nowMs;
    if (seen.writtenStatus !== status || nowMs - seen.writtenAtMs >= usedMs) {
      this.writeSoon(seen);
    }
  }

  private writeSoon(seen: Seen): void {
    this.dirty.add(seen);
    this.timer ??= setTimeout(() => void this.write(), writeMs).unref();
  }

  /** False where nothing was seen of it. */
  forget(id: string): boolean {
    const seen = this.seen.get(id);
    if (seen !== undefined) this.dirty.delete(seen);
    return this.seen.delete(id);
  }

  /** Writes what was noted. Never rejects: what could not be written is tried again with the next note. */
  write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow());
    return this.writing;
  }

  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.write();
  }

  private async writeNow(): Promise<void> {
    this.timer = null;
    // What is noted meanwhile waits for the next time.
    const dirty = [...this.dirty];
    this.dirty.clear();
    for (let from = 0; from < dirty.length; from += writtenAtOnce) {
      const part = dirty.slice(from, from + writtenAtOnce).filter((seen) => this.seen.get(seen.id) === seen);
      if (await this.writePart(part)) continue;
      for (const seen of dirty.slice(from)) if (this.seen.get(seen.id) === seen) this.dirty.add(seen);
      this.timer ??= setTimeout(() => void this.write(), writeMs).unref();
      return;
    }
  }

  private async writePart(part: readonly Seen[]): Promise<boolean> {
    const sightings = part.map(
      ({ id, revision, status, reason, atMs, usedAtMs }): CredentialSighting => ({
        ...{ id, revision, status, reason, atMs, lastUsedAt: usedAtMs },
      }),
    );
    if (sightings.length === 0) return true;
    try {
      await this.store.note(sightings);
    } catch (error) {
      this.logger.warn({ error: String(error) }, 'the state of credentials could not be stored; trying again');
      return false;
    }
    for (const [i, seen] of part.entries()) {
      seen.writtenStatus = sightings[i]!.status === 'failing' ? 'failing' : 'ok';
      seen.writtenAtMs = sightings[i]!.atMs;
      // Noted while the store was asked, when it was still as the store had it.
      if (seen.status !== seen.writtenStatus && this.seen.get(seen.id) === seen) this.writeSoon(seen);
    }
    return true;
  }
}
