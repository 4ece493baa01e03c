/** `MemberList`, a set that makes no garbage, and `RecentMap`, a cache that cannot grow without bound. */

export interface Member {
  /** Its index in the list; -1 while it is in none. Set by the list alone. */
  index: number;
}

/**
 * A set of objects that each know their index in it. Adding and removing allocates nothing.
 *
 * A JavaScript Set that members join and leave all the time gets a new table every few operations, and each old table points to
 * the next. One table that the collector has moved to the old generation then keeps all later ones alive, with their members
 * and all that those refer to, until the next full collection (docs/decisions/0039).
 */
export class MemberList<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.index !== -1) return;
    member.index = this.#members.length;
    this.#members.push(member);
  }

  /** The last member takes the place of the removed one, so the order changes. */
  delete(member: T): void {
    const { index } = member;
    if (index === -1) return;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[index] = last;
      last.index = index;
    }
    member.index = -1;
  }

  /** A copy, because whoever goes through the members may remove some. */
  all(): readonly T[] {
    return [...this.#members];
  }
}

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

  delete(key: string): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  get size(): number {
    return this.young.size + this.old.size;
  }
}
