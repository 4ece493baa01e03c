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
const reasonMax = 500;

interface Seen {
  readonly revision: number;
  status: 'ok' | 'failing';
  reason: string | null;
  atMs: number;
  usedAtMs: number;
  /** What the store has, as far as this process has written it. */
  writtenStatus: 'ok' | 'failing' | null;
  writtenAtMs: number;
  isDirty: boolean;
}

export class Sightings {
  private readonly seen = new Map<string, Seen>();
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
      seen = {
        ...{ revision, status, reason: null, atMs: nowMs, usedAtMs: nowMs },
        ...{ writtenStatus: null, writtenAtMs: 0, isDirty: true },
      };
      if (this.seen.size >= seenMax) for (const oldest of this.seen.keys()) if (this.seen.delete(oldest)) break;
      this.seen.set(id, seen);
    }
    seen.status = status;
    seen.reason = refusal === null ? null : refusal.slice(0, reasonMax);
    seen.atMs = nowMs;
    seen.usedAtMs = nowMs;
    if (seen.writtenStatus !== status || nowMs - seen.writtenAtMs >= usedMs) {
      seen.isDirty = true;
      this.timer ??= setTimeout(() => void this.write(), writeMs).unref();
    }
  }

  forget(id: string): void {
    this.seen.delete(id);
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
    const dirty = [...this.seen].filter(([, { isDirty }]) => isDirty);
    if (dirty.length === 0) return;
    const sightings = dirty.map(
      ([id, { revision, status, reason, atMs, usedAtMs }]): CredentialSighting => ({
        ...{ id, revision, status, reason, atMs, lastUsedAt: usedAtMs },
      }),
    );
    for (const [, seen] of dirty) seen.isDirty = false;
    try {
      await this.store.note(sightings);
      for (const [i, [, seen]] of dirty.entries()) {
        seen.writtenStatus = sightings[i]!.status === 'failing' ? 'failing' : 'ok';
        seen.writtenAtMs = sightings[i]!.atMs;
      }
    } catch (error) {
      for (const [, seen] of dirty) seen.isDirty = true;
      this.logger.warn({ error: String(error) }, 'the state of credentials could not be stored; trying again');
      this.timer ??= setTimeout(() => void this.write(), writeMs).unref();
    }
  }
}
