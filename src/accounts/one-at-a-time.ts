/** Runs the changes of one subject one after the other, so that memory sees them in the order in which the store did. */
export class OneAtATime {
  private readonly tails = new Map<string, Promise<unknown>>();

  run<T>(subject: string, change: () => Promise<T>): Promise<T> {
    const before = this.tails.get(subject) ?? Promise.resolve();
    const result = before.then(change, change);
    const tail = result.then(
      () => {},
      () => {},
    );
    this.tails.set(subject, tail);
    void tail.then(() => {
      if (this.tails.get(subject) === tail) this.tails.delete(subject);
    });
    return result;
  }
}
