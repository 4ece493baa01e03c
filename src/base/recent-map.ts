/**
 * A bounded cache with two generations: when the young one is full, the old one is dropped. Entries that are used stay;
 * hostile keys displace only each other and never make it grow.
 */
export class RecentMap<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();

  /** Holds at most twice `generationMax` entries. */
  constructor(private readonly generationMax: number) {}

  get(key: string): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const kept = this.old.get(key);
    if (kept !== undefined) this.set(key, kept);
    return kept;
  }

  set(key: string, value: Value): void {
    if (this.young.size >= this.generationMax) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  get size(): number {
    return this.young.size + this.old.size;
  }
}
