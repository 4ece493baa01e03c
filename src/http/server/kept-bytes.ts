/** Bytes that wait for more: they are copied once, and again only when the space doubles. */
export class KeptBytes {
  length = 0;
  private space: Buffer;

  constructor(bytes: Buffer, from: number, to: number) {
    this.space = Buffer.allocUnsafe((to - from) * 2);
    this.add(bytes, from, to);
  }

  /** The bytes are the first `length` ones of it. */
  get buffer(): Buffer {
    return this.space;
  }

  add(bytes: Buffer, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.space.length) {
      const larger = Buffer.allocUnsafe(length * 2);
      this.space.copy(larger, 0, 0, this.length);
      this.space = larger;
    }
    bytes.copy(this.space, this.length, from, to);
    this.length = length;
  }
}
