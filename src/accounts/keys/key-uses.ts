/**
 * Remembers when each key was last used, and writes it to the store once a minute: a write for each request would cost more than the
 * figure is worth. A process that dies loses the last minute of it.
 */
import type { KeyFigures, Store } from '../../storage/store.js';

const writeEveryMs = 60_000;

export class KeyUses {
  /** By key id: uses that the store does not have yet. */
  private unwritten = new Map<string, number>();
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly store: Pick<Store['keys'], 'figures' | 'noteUses'>) {}

  /** Called for each request, so it only notes the time. */
  note(keyId: string, nowMs: number): void {
    this.unwritten.set(keyId, nowMs);
    if (this.timer === null) this.writeLater();
  }

  /** The figures of the store, with the uses of this process that it does not have yet. */
  async figures(accountId: string, keyIds?: readonly string[]): Promise<Map<string, KeyFigures>> {
    const figures = await this.store.figures(accountId, keyIds);
    for (const [id, { usagePico, lastUsedAt }] of figures) {
      const latest = Math.max(lastUsedAt ?? 0, this.unwritten.get(id) ?? 0);
      figures.set(id, { usagePico, lastUsedAt: latest === 0 ? null : latest });
    }
    return figures;
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    // A store that is away keeps the earlier figures; that must not delay the end of the process.
    await this.write().catch(() => {});
  }

  private writeLater(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.write().catch(() => {
        if (this.timer === null) this.writeLater();
      });
    }, writeEveryMs).unref();
  }

  private async write(): Promise<void> {
    const written = new Map(this.unwritten);
    if (written.size === 0) return;
    await this.store.noteUses(written);
    for (const [id, at] of written) if (this.unwritten.get(id) === at) this.unwritten.delete(id);
  }
}
