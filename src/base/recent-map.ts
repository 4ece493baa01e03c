/**
 * A bounded memory of answers that can be found again: two generations, the older one dropped whole when the younger is full.
 * What is asked for stays; hostile keys push out one another and never grow it.
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
