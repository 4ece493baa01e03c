/** The names of an object's members while its text is scanned: finds a name that comes twice. */

/** More names than these are not compared. */
const othersMax = 32;

export class SeenNames {
  private readonly bits: ReadonlyMap<string, number>;
  private seen = 0;
  private readonly others: string[] = [];

  /** At most 31 names that are expected; they are found without a comparison with all others. */
  constructor(expected: readonly string[]) {
    this.bits = new Map(expected.map((name, index) => [name, 1 << index]));
  }

  clear(): void {
    this.seen = 0;
    this.others.length = 0;
  }

  /** Notes a name. False where it was there before, or where there are too many. */
  add(name: string): boolean {
    const bit = this.bits.get(name);
    if (bit === undefined) return !this.others.includes(name) && this.others.push(name) <= othersMax;
    const isNew = (this.seen & bit) === 0;
    this.seen |= bit;
    return isNew;
  }

  /** Whether an expected name has been noted. */
  has(name: string): boolean {
    return (this.seen & (this.bits.get(name) ?? 0)) !== 0;
  }
}
