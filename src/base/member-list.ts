/**
 * A set of objects that each know their place in it. Adding and removing allocates nothing.
 *
 * A JavaScript Set that members join and leave all the time gets a new table every few operations, and each old table points to
 * the next. One table that the collector has moved to the old generation then keeps all later ones alive, with their members
 * and all that those refer to, until the next full collection (docs/decisions/0039).
 */
export interface Member {
  /** Its place in the list; -1 while it is in none. Set by the list alone. */
  place: number;
}

export class MemberList<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.place !== -1) return;
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** The last member takes the place of the removed one, so the order changes. */
  delete(member: T): void {
    const { place } = member;
    if (place === -1) return;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[place] = last;
      last.place = place;
    }
    member.place = -1;
  }

  /** A copy, because whoever goes through the members may remove some. */
  all(): readonly T[] {
    return [...this.#members];
  }
}
