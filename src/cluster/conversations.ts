/** Remembers in this process which route served a conversation, so that its next turn finds the provider's prompt cache. */
import type { Clock } from '../base/time.js';
import type { Conversations } from './ports.js';

/**
 * Entries form a ring, the oldest behind the anchor and the newest before it. A Map has an order too, but finding its first key again
 * and again takes longer with every key that was deleted before it.
 */
interface Entry {
  readonly name: string;
  readonly accountId: string;
  routeId: string;
  expiresAtMs: number;
  older: Entry;
  newer: Entry;
}

/** Callers choose the names of conversations, so only this many are remembered; the oldest go first. */
const conversationsMax = 100_000;

/** Expired entries are removed in groups, at most this much later; they are not found any more before that. */
const sweepMinMs = 1_000;
/** A timer takes no more than 24 days. */
const sweepMaxMs = 3_600_000;

export class MemoryConversations implements Conversations {
  private readonly entries = new Map<string, Entry>();
  /** How many entries an account has. */
  private readonly counts = new Map<string, number>();
  private readonly anchor: Entry = newEntry('', '');
  private sweeping = false;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly ttlMs: number,
    private readonly max = conversationsMax,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  mayKnow(accountId: string): boolean {
    return this.counts.has(accountId);
  }

  recall(name: string): string | null {
    const entry = this.entries.get(name);
    return entry !== undefined && entry.expiresAtMs > this.clock.monotonicMs() ? entry.routeId : null;
  }

  remember(name: string, routeId: string, accountId: string): void {
    const known = this.entries.get(name);
    if (known) unlink(known);
    const entry = known ?? newEntry(name, accountId);
    entry.routeId = routeId;
    entry.expiresAtMs = this.clock.monotonicMs() + this.ttlMs;
    linkBefore(this.anchor, entry);
    if (!known) {
      this.entries.set(name, entry);
      this.counts.set(accountId, (this.counts.get(accountId) ?? 0) + 1);
    }
    if (this.entries.size > this.max) this.forget(this.anchor.newer.name);
    this.sweepLater();
  }

  forget(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    unlink(entry);
    this.entries.delete(name);
    const left = (this.counts.get(entry.accountId) ?? 0) - 1;
    if (left > 0) this.counts.set(entry.accountId, left);
    else this.counts.delete(entry.accountId);
  }

  /** One timer for all entries: all live equally long, so the oldest expire first. None is kept longer than its time. */
  private sweepLater(): void {
    if (this.sweeping || this.entries.size === 0) return;
    this.sweeping = true;
    const leftMs = this.anchor.newer.expiresAtMs - this.clock.monotonicMs();
    setTimeout(() => this.sweep(), Math.min(Math.max(leftMs, sweepMinMs), sweepMaxMs)).unref();
  }

  private sweep(): void {
    this.sweeping = false;
    const nowMs = this.clock.monotonicMs();
    while (this.entries.size > 0 && this.anchor.newer.expiresAtMs <= nowMs) this.forget(this.anchor.newer.name);
    this.sweepLater();
  }
}

function newEntry(name: string, accountId: string): Entry {
  const entry = { name, accountId, routeId: '', expiresAtMs: 0 } as Entry;
  entry.older = entry.newer = entry;
  return entry;
}

function unlink(entry: Entry): void {
  entry.older.newer = entry.newer;
  entry.newer.older = entry.older;
}

function linkBefore(anchor: Entry, entry: Entry): void {
  entry.older = anchor.older;
  entry.newer = anchor;
  anchor.older.newer = entry;
  anchor.older = entry;
}
