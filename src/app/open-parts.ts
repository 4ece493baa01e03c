/** The open parts of the product. They are closed in the opposite order, also when a later part fails to open. */
export class OpenParts {
  private readonly closers: (() => Promise<void> | void)[] = [];

  add<T>(part: T, close: (part: T) => Promise<void> | void): T {
    this.closers.push(() => close(part));
    return part;
  }

  /** A part that fails to close does not keep the others open: the journal and the store come last. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `Not everything could be closed: ${failures.join('; ')}`);
  }
}

/** Waits for both also where one fails: what the other has opened is closed with the parts. */
export async function bothOpen<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
